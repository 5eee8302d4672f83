"""Tables that the commands read in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook.cli.algorithms import find_wish
from sklearn_textbook.cli.block_scores import BlockScores
from sklearn_textbook.cli.columns import count_missing, drop_missing
from sklearn_textbook.cli.errors import make_fit_error, refuse_use
from sklearn_textbook.cli.progress import Steps
from sklearn_textbook.cli.report import describe_classes, describe_target
from sklearn_textbook.cli.scoring import Scorer
from sklearn_textbook.cli.target import TargetColumn, as_labels, read_target
from sklearn_textbook.io import TableFileError, scan
from sklearn_textbook.io.naming import count_things, explain_unknown_name

#: Options for tables that are read as a whole, by their names in the commands.
_FOR_WHOLE_TABLES = {
    "members": "--member",
    "report_path": "--report",
    "cost": "--cost",
    "keep": "--keep",
    "ordinal": "--ordinal",
    "numeric": "--numeric",
    "categorical": "--categorical",
    "missing_marks": "--missing-marks",
    "dates": "--date",
    "decimal": "--decimal",
    "encoding": "--encoding",
    "delimiter": "--delimiter",
    "comment": "--comment",
    "skip_lines": "--skip-lines",
    "sheet": "--sheet",
    "explain": "--explain",
}
#: Distinct values of a target that are counted.
_MOST_COUNTED = 10_000


def refuse_options(options: dict) -> None:
    """Refuse options that only tables have which are read as a whole."""
    given = [name for key, name in _FOR_WHOLE_TABLES.items() if options.get(key)]
    if options["header"] is not None:
        given.append("--header" if options["header"] else "--no-header")
    if given:
        refuse_use(f"{given[0]} is not possible for a table that is read in blocks")


def open_blocks(
    path: str, memory: int | None = None, left_out=(), written=()
) -> BlockSource:
    """Open a table in blocks; columns that are left out must exist.

    Of ``written``, a csv file gives the texts as they are written.
    """
    table = scan(path, memory_limit=memory)
    table.source.keep_texts(written)
    for name in left_out:
        require_column(table, path, name, "to leave out")
    return scan(table, exclude=left_out)


def require_column(table: BlockSource, path: str, name: str, what: str) -> None:
    """Raise an error if there is no column of a name."""
    if name not in table.names:
        remedy = explain_unknown_name(name, table.names)
        raise TableFileError(f"no column {name!r} {what}", path=path, remedy=remedy)


class BlockTarget:
    """The column to predict of a table that is read in blocks.

    Parameters
    ----------
    table : BlockSource
        The table, of which the column is read once.
    name : str
        The column.
    algorithm : str
        Name of the algorithm, which may say whether there are classes.
    path : str
        Name of the table in messages.
    steps : Steps
        Are told how many rows have been read.

    Attributes
    ----------
    goal : TargetColumn
        Its values are the classes, or the smallest and the largest number.
    n_rows, n_missing : int
        Number of rows, and of those without a value.
    counts : dict
        Number of rows of each class.
    """

    def __init__(
        self, table: BlockSource, name: str, algorithm: str, path: str, steps: Steps
    ) -> None:
        self.n_rows = self.n_missing = 0
        self.counts: dict = {}
        self._range = [np.inf, -np.inf]
        self._fraction: float | None = None
        self._is_number = False
        kind = None
        for block in table.read_blocks([name]):
            column = block[name]
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            kind = column.type
            self._add(column)
            steps.describe(f"reading the target: {self.n_rows:,} rows")
        if not self.n_rows:
            raise TableFileError("has no rows", path=path)
        if not self.counts:
            raise make_fit_error("the target has no values", path, name)
        if len(self.counts) == 1 and self._range[0] == self._range[1]:
            (value,) = self.counts
            rows = count_things(self.n_rows - self.n_missing, "row")
            problem = f"the target is {value!r} in all {rows}, so there is nothing to"
            remedy = "choose another target"
            raise make_fit_error(f"{problem} predict", path, name, remedy)
        self.goal = self._make_goal(kind, name, algorithm, path)

    def _add(self, column):
        self.n_rows += len(column)
        self.n_missing += count_missing(column)
        column = drop_missing(column)
        kind = column.type
        self._is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if self._is_number and len(column):
            numbers = column.to_numpy().astype(np.float64)
            low, high = self._range
            self._range = [min(low, numbers.min()), max(high, numbers.max())]
            fractions = numbers[numbers != np.floor(numbers)]
            if self._fraction is None and len(fractions):
                self._fraction = float(fractions[0])
        if len(self.counts) <= _MOST_COUNTED:
            found = compute.value_counts(column)
            for value, count in zip(*found.flatten(), strict=True):
                key = value.as_py()
                self.counts[key] = self.counts.get(key, 0) + count.as_py()

    def _make_goal(self, kind, name, algorithm, path) -> TargetColumn:
        """Decide whether there are classes, from the distinct values."""
        if len(self.counts) > _MOST_COUNTED and (
            not self._is_number or find_wish(algorithm) == "classifier"
        ):
            problem = f"the target has more than {_MOST_COUNTED:,} distinct values, too"
            remedy = "choose another target"
            raise make_fit_error(f"{problem} many for classes", path, name, remedy)
        values = [*self.counts]
        if self._is_number:
            values += self._range
            if self._fraction is not None:
                values.append(self._fraction)
        distinct = pa.chunked_array([pa.array(dict.fromkeys(values), type=kind)])
        goal = read_target(distinct, name, algorithm, path)
        if not goal.is_classes:
            return replace(goal, values=np.array(self._range))
        return replace(goal, values=as_labels(distinct).astype(goal.values.dtype))

    def describe(self) -> str:
        """Describe the target in one line."""
        if not self.goal.is_classes:
            return describe_target(self.goal)
        counts = np.array([*self.counts.values()])
        order = np.argsort(self.goal.values, kind="stable")
        return describe_classes(self.goal.name, self.goal.values[order], counts[order])


class LabelledRows(BlockSource):
    """The rows of a table that have a target, whole numbers if these are classes.

    Parameters
    ----------
    table : BlockSource
        The table.
    target : BlockTarget
        Its target.
    tell : callable
        Is told how many rows have been read after each block, and None at the end.
    """

    def __init__(
        self, table: BlockSource, target: BlockTarget, tell: Callable = lambda n: None
    ) -> None:
        self.table, self.target, self.tell = table, target, tell
        self.names, self.memory_limit = table.names, table.memory_limit

    def _read(self, names):
        goal, n_rows = self.target.goal, 0
        for block in self.table.read_blocks(dict.fromkeys([*names, goal.name])):
            n_rows += len(block)
            column = block[goal.name]
            is_present = compute.invert(compute.is_null(column, nan_is_null=True))
            block = block.filter(is_present)
            if goal.is_classes and pa.types.is_floating(column.type):
                place = block.column_names.index(goal.name)
                whole = block[goal.name].cast(pa.int64())
                block = block.set_column(place, goal.name, whole)
            self.tell(n_rows)
            if len(block):
                yield block.select(names)
        self.tell(None)

    def _describe(self) -> str:
        """Name the table in messages."""
        return self.table._describe()


def score_blocks(
    estimator,
    scorer: Scorer,
    source: BlockSource,
    target: str,
    weight: str | None,
    sums: Sequence[BlockScores],
    steps: Steps | None = None,
) -> None:
    """Predict a table in blocks, and add its rows to some sums of scores."""
    features = estimator.feature_names_in_.tolist()
    wanted = [*features, target, *([] if weight is None else [weight])]
    for block in source.read_blocks(dict.fromkeys(wanted)):
        predicted = scorer.predict(estimator, block.select(features)).values
        true = as_labels(block[target])
        weights = None if weight is None else block[weight].to_numpy()
        for scores in sums:
            scores.add(true, predicted, weights)
        if steps is not None:
            steps.describe(f"predicting: {sums[0].n_rows:,} rows")
