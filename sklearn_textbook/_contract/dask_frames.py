"""Data frames of Dask: one partition after the other, or all where they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from sklearn_textbook._contract.blocks import BlockSource


def is_dask_frame(X: object) -> bool:
    """Return whether X is a data frame of Dask, without importing that."""
    package = type(X).__module__.partition(".")[0]
    return package == "dask" and hasattr(X, "columns") and X.ndim == 2


def refuse_on_workers(required: str, value: object) -> NoReturn:
    """Raise ValueError for what the workers of a client cannot do."""
    raise ValueError(
        f"The workers of a Dask client require {required}; got {value!r}. Under "
        'dask.config.set(scheduler="threads"), partitions are read one after the '
        "other by this process, which has no such requirement."
    )


class DaskFrame(BlockSource):
    """A data frame of Dask, whose rows are those of one partition after the other.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The data frame.
    """

    def __init__(self, frame) -> None:
        self.frame = frame
        self.names = tuple(frame.columns)
        for name in self.names:
            if not isinstance(name, str):
                raise TypeError(
                    f"The columns of {self._describe()} must have strings as names, "
                    f"got {name!r}."
                )

    def _describe(self) -> str:
        """Name the table in messages."""
        return "the Dask data frame"

    def _read(self, names: tuple[str, ...]) -> Iterator[Any]:
        """Read one partition after the other."""
        for number, partition in enumerate(self._list_partitions(names)):
            block = partition.compute()
            require_names(block, names, number)
            if len(block):
                yield block

    def _list_partitions(self, names: Sequence[str]) -> list:
        """List the partitions of some columns, as ``dask.delayed`` has them."""
        frame = self.frame
        if tuple(names) != self.names:
            frame = frame[list(names)]
        return frame.to_delayed()

    @property
    def _dask_frame(self):
        return self


def require_names(block, names: Sequence[str], number: int) -> None:
    """Require the columns that the data frame of Dask says it has."""
    if tuple(block.columns) != tuple(names):
        raise ValueError(
            f"Partition {number} of the Dask data frame has the columns "
            f"{list(block.columns)}, not {list(names)}."
        )


def find_client():
    """Return the current client of Dask; None if there is none, or it is not used."""
    if "distributed" not in sys.modules:
        return None
    import dask
    import distributed

    if dask.config.get("scheduler", None) not in ("dask.distributed", "distributed"):
        return None
    try:
        return distributed.Client.current()
    except ValueError:
        return None


def cancel(client, futures: list) -> None:
    """End tasks and release their results, also those that a traceback refers to."""
    if client.status == "running":
        client.cancel(futures)


def require_workers(client, package: str = "sklearn_textbook") -> None:
    """Require workers that have the same version of the package."""
    if client.asynchronous:
        raise RuntimeError(
            f"The Dask client is asynchronous ({client}); a fit needs one that waits "
            "for results, Client(asynchronous=False)."
        )
    if not client.nthreads():
        raise RuntimeError(
            f"The Dask client has no workers ({client}); start some, and wait for them "
            "with client.wait_for_workers."
        )
    versions = client.get_versions(packages=[package])
    ours = versions["client"]["packages"][package]
    workers = {f"worker {name}": of for name, of in versions["workers"].items()}
    for place, found in {"scheduler": versions["scheduler"], **workers}.items():
        theirs = found["packages"][package]
        if theirs is None or theirs != ours:
            what = "lacks" if theirs is None else f"has version {theirs} of"
            raise RuntimeError(
                f"Dask's {place} {what} {package}; it needs version {ours}, as here."
            )
