"""Members of a bagging that may be any scikit-learn estimator."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import partial

import narwhals as nw
import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter, validate_data

from sklearn_textbook._contract.finite import check_sparse_format
from sklearn_textbook._contract.labels import (
    check_target,
    decode_dictionary,
    encode_labels,
)
from sklearn_textbook._contract.numeric_table import check_columns
from sklearn_textbook.ensemble.members.growth import run_aside
from sklearn_textbook.ensemble.members.parallel_results import (
    open_parallel,
    report_members,
    yield_results,
)
from sklearn_textbook.ensemble.resample import list_random_states


def as_frame(X):
    """Return a data frame as narwhals', and None for what is none."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def take_rows(values, rows):
    """Take some rows of an array, a frame, a series or a list."""
    values = nw.from_native(
        values, eager_only=True, allow_series=True, pass_through=True
    )
    if isinstance(values, (nw.DataFrame, nw.Series)):
        return values[np.asarray(rows)].to_native()
    if isinstance(values, (list, tuple)):
        return [values[row] for row in rows]
    return values[rows] if hasattr(values, "__getitem__") else np.asarray(values)[rows]


def take_columns(X, columns):
    """Take some columns of an array, a frame or a sparse matrix."""
    frame = as_frame(X)
    if frame is not None:
        return frame[:, [int(column) for column in columns]].to_native()
    return X[:, columns]


def take_metadata(metadata, rows, n_rows):
    """Take some rows of those fit parameters that have one entry per row."""
    taken = {}
    for name, value in metadata.items():
        is_sequence = isinstance(value, (list, tuple)) or hasattr(value, "__array__")
        is_per_row = is_sequence and np.asarray(value).shape[:1] == (n_rows,)
        taken[name] = take_rows(value, rows) if is_per_row else value
    return taken


def consumes_weight(estimator):
    """Return whether ``sample_weight`` is passed to ``fit`` of an estimator.

    Parameters
    ----------
    estimator : estimator
        What members are like.

    Returns
    -------
    consumes : bool
        With metadata routing: whether it requests weights.
    """
    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(estimator)
        return bool(routing.consumes("fit", ("sample_weight",)))
    return has_fit_parameter(estimator, "sample_weight")


def route_parameters(owner, method, params):
    """Route parameters of an ensemble to the methods of its members.

    Parameters
    ----------
    owner : estimator
        The ensemble, which routes to ``estimator``.
    method : str
        Its method that was called.
    params : dict
        Parameters of the call.

    Returns
    -------
    routed : dict of str to dict
        Parameters of each method of the members.

    Raises
    ------
    ValueError
        If there are parameters, but metadata routing is not enabled.
    """
    if not params:
        return {}
    if not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"{type(owner).__name__}.{method} got {sorted(params)}; parameters for "
            "the members require sklearn.set_config(enable_metadata_routing=True)."
        )
    routed = process_routing(owner, method, **params)["estimator"]
    return {name: dict(routed[name]) for name in routed}


@dataclass(frozen=True, eq=False)
class FitTask:
    """All that the members of an ensemble are fitted from."""

    template: object
    X: object
    y: np.ndarray
    draw: object
    metadata: dict
    gives_weight: bool

    def fit_member(self, seed):
        """Fit the member with a seed."""
        member = clone(self.template)
        member.set_params(**list_random_states(member, seed))
        X, y, metadata = self.X, self.y, dict(self.metadata)
        if self.gives_weight:
            weight = self.draw.weigh(seed)
            if weight is not None:
                metadata["sample_weight"] = weight
        elif self.draw.n_drawn_rows is not None:
            rows = self.draw.list_rows(seed)
            metadata = take_metadata(metadata, rows, len(y))
            X, y = take_rows(X, rows), y[rows]
        if not self.draw.takes_all_columns:
            X = take_columns(X, self.draw.list_columns(seed))
        member.fit(X, y, **metadata)
        return member


def fit_batch(task, seeds):
    """Fit the members with these seeds, one after the other."""
    return [task.fit_member(seed) for seed in seeds]


def fit_in_parallel(task, seeds, n_workers):
    """Fit the members by joblib's workers, in the order of the seeds."""
    batches = np.array_split(np.arange(len(seeds)), n_workers)
    tasks = (
        (fit_batch, task, [seeds[number] for number in batch]) for batch in batches
    )
    parallel = open_parallel(n_jobs=n_workers)
    with closing(yield_results(parallel, tasks)) as fitted:
        for members in fitted:
            yield from members


class EstimatorTraining:
    """A training table and the estimators that are fitted from it.

    Parameters
    ----------
    owner : estimator
        The ensemble, whose columns are set.
    template : estimator
        What members are like.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The table. Frames are given to members as frames, so that these may choose
        columns by name, but for ``bootstrap_features=True``.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The target. Members learn class numbers.
    """

    reader = None

    def __init__(self, owner, template, X, y, *, is_classifier):
        if y is None:
            # Raises the usual error of scikit-learn.
            validate_data(owner, X, y, skip_check_array=True)
        self.template = template
        self.n_jobs, self.verbose = owner.n_jobs, owner.verbose
        self.table = read_table(owner, X)
        is_column = len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1
        if is_classifier or is_column:
            y = column_or_1d(decode_dictionary(y), warn=True)
        y = check_target(y, is_numeric=False)
        check_consistent_length(self.table, y)
        self.classes = None
        if is_classifier:
            (self.classes,), y = encode_labels(y)
        self.target = y

    def grow(self, draw, seeds, metadata):
        """Fit one member per seed.

        Parameters
        ----------
        draw : BagDraw
            What each of them is fitted to.
        seeds : list of int
            The seeds.
        metadata : dict
            Parameters for ``fit`` of the members.

        Yields
        ------
        member : estimator
            In the order of the seeds.
        """
        gives_weight = consumes_weight(self.template)
        if not gives_weight and draw.n_drawn_rows is None and draw.weight is not None:
            raise ValueError(
                f"sample_weight was given, but {type(self.template).__name__}.fit does "
                "not accept it, and rows are not drawn by their weights."
            )
        y = self.target if self.target.shape[1] > 1 else self.target[:, 0]
        if self.classes is not None:
            y = y.astype(np.intp)
        task = FitTask(self.template, self.table, y, draw, metadata, gives_weight)
        n_workers = min(effective_n_jobs(self.n_jobs), len(seeds))
        if n_workers == 1:
            fit_one = partial(fit_batch, task)
            fitted = run_aside(fit_one, [[seed] for seed in seeds])
        else:
            fitted = fit_in_parallel(task, seeds, n_workers)
        yield from report_members(fitted, len(seeds), self.verbose)


def read_table(owner, X, *, reset=True):
    """Read a table as members get it, and check its columns.

    Parameters
    ----------
    owner : estimator
        The ensemble.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The table.
    reset : bool, default=True
        Whether this is the training table.

    Returns
    -------
    table : ndarray, data frame, csr or csc matrix
        Frames as they are, but as arrays if a column may be drawn twice.
    """
    frame = as_frame(X)
    if frame is not None and frame.shape[0] and not owner._repeats_columns():
        check_columns(owner, X, reset=reset)
        return X
    check_sparse_format(X)
    return validate_data(
        owner,
        X,
        reset=reset,
        accept_sparse=["csr", "csc"],
        dtype=None,
        ensure_all_finite=False,
    )
