"""Counterfactual explanations: the cheapest changes that change a prediction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    is_real,
    show_value,
)
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.exchange.tree_sum import read_trees
from sklearn_textbook.inspection.change_limits import read_limits
from sklearn_textbook.inspection.cheapest_changes import ChangeSearch
from sklearn_textbook.inspection.row_explanation import WIDTH, Explanations
from sklearn_textbook.inspection.row_values import RowValues, describe_value
from sklearn_textbook.tree.explain.describe import SHOWN_LEVELS, Words
from sklearn_textbook.tree.explain.digits import format_fraction
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.explain.lettering import break_lines
from sklearn_textbook.tree.grow.layout import OBLIQUE


@dataclass(frozen=True)
class Change:
    """The change of a column.

    Parameters
    ----------
    column : str
        The column.
    old, new : float, bool, int, str or None
        Its values; None if the old one is missing.
    condition : str
        What all new values that do the same satisfy.
    tolerances : pair of float, default=(inf, inf)
        How much the texts of numbers may differ from the old and the new value, so that
        they agree with the condition.
    """

    column: str
    old: object
    new: object
    condition: str
    tolerances: tuple = (math.inf, math.inf)

    def __str__(self) -> str:
        words = map(describe_value, (self.old, self.new), self.tolerances)
        return f"{self.column}: {' -> '.join(words)} ({self.condition})"


@dataclass(frozen=True)
class Counterfactual:
    """The cheapest change of a row that makes a tree predict something else.

    Parameters
    ----------
    row : int
        Position of the row in the table.
    prediction : object
        Prediction for the row.
    new_prediction : object
        Prediction after the changes; None if no change is possible.
    changes : tuple of Change
        The changes; empty if the row already has the target prediction, or no change
        is possible.
    cost : float
        Sum of the distances of all columns; infinite if no change is possible.
    leaf : int or None
        Number of the node in which the changed row ends.
    n_samples : int or None
        Training rows in this node.
    confidence : float or None
        Proportion of the predicted class among them; None in regression.
    """

    row: int
    prediction: object
    new_prediction: object
    changes: tuple = ()
    cost: float = math.inf
    leaf: int | None = None
    n_samples: int | None = None
    confidence: float | None = None

    @property
    def is_found(self) -> bool:
        """Whether a change was found, or the row already has the target prediction."""
        return self.new_prediction is not None

    @property
    def values(self):
        """The new value of every changed column, by its name."""
        return {change.column: change.new for change in self.changes}

    def __str__(self):
        old, new = (_show(p) for p in (self.prediction, self.new_prediction))
        head = f"Row {self.row}: {old}"
        if not self.is_found:
            return f"{head}; no allowed change reaches the target"
        if not self.changes:
            return f"{head}, already the target"
        fraction = f", {format_fraction(self.confidence)}" if self.confidence else ""
        rows = f"{self.n_samples:,} training row{'s' if self.n_samples != 1 else ''}"
        lines = [f"{head} -> {new} ({rows}{fraction}) by"]
        for change in self.changes:
            first, *others = break_lines(str(change), WIDTH - 4)
            lines += [f"  {first}", *(f"    {line}" for line in others)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def find_counterfactuals(
    model: Any,
    X: MatrixLike,
    *,
    target: Any = None,
    fixed: Sequence[str | int] = (),
    directions: dict[str, Any] | None = None,
    cost: str = "changes",
    column_costs: dict[str, Any] | None = None,
    max_changes: int | None = None,
    reference: MatrixLike | None = None,
) -> list[Counterfactual]:
    r"""Find the cheapest change of each row that changes the prediction of a tree.

    Such changes are known as counterfactual explanations. All leaves with the desired
    prediction are compared. The distance of a row from a leaf is a sum over the columns
    that have to change: for a numeric column, the distance of its value from the
    interval of the leaf divided by the range of the column; for an ordinal column, the
    fraction of the levels that are passed; and 1 for another level of a nominal column,
    and for a missing value that has to be known.

    Parameters
    ----------
    model : estimator
        A fitted tree of this package with one output and without oblique tests.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows, as for ``predict``.
    target : label, pair of float or None, default=None
            The desired class; None for any class other than the predicted one. In
            regression, the desired interval (lowest, highest), which is required; None
            is an open end.
    fixed : sequence of str or int, default=()
        Columns that must not change, by name or index.
    directions : dict or None, default=None
        Columns that may change in only one direction, as ``{"age": "increase"}`` or
        ``"decrease"``. Missing values of these columns may be replaced by any value.
    cost : {"changes", "distance"}, default="changes"
        What is minimised: the number of changed columns and, among such changes, the
        distance; or only the distance.
    column_costs : dict or None, default=None
        Positive factors applied to the distances of columns; 1 by default.
    max_changes : int or None, default=None
        Maximum number of changed columns. None: no limit.
    reference : table or None, default=None
        Rows with the columns of ``X``, such as the training table, from which the
        ranges of the numeric columns are computed, in addition to the values of ``X``
        and the thresholds of the tree.

    Returns
    -------
    counterfactuals : list of Counterfactual
        One per row, with the attributes ``changes``, ``values`` (new values by column),
        ``new_prediction`` and ``cost``. If there is no such change, ``is_found`` is
        False.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is not a single tree.
    ValueError
        If the tree has oblique tests or several outputs, a column is unknown, a
        parameter is out of range, or the table does not match the model.

    See Also
    --------
    explain : Explains the current prediction of each row.

    Notes
    -----
    A new number has few digits and lies in the interval, at most a thousandth of the
    range of the column from its bound (for dates, a hundredth); distances are measured
    to the bound. New values of columns with an integer or boolean dtype are integers or
    booleans.

    A missing value remains missing if it follows a single branch; no value becomes
    missing. Only leaves in which a row ends as a whole are considered, not those among
    which it is divided. If the tree has surrogates, a change of another column may
    alter the branch of a missing value; such leaves are left out, so there may be a
    cheaper change.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.inspection import find_counterfactuals
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> iris = load_iris(as_frame=True)
    >>> species = iris.target_names[iris.target]
    >>> tree = CARTClassifier(max_depth=3).fit(iris.data, species)
    >>> print(find_counterfactuals(tree, iris.data[50:51], target="virginica"))
    Row 0: 'versicolor' -> 'virginica' (6 training rows, 66.7%) by
      petal length (cm): 4.7 -> 4.951 (petal length (cm) > 4.95)
    """
    check_choice("cost", cost, ("changes", "distance"))
    check_integer("max_changes", max_changes, 1, accepts_none=True)
    trees, fitted = _read_tree(model)
    matrix = _densify(trees.read(X))
    rows = [matrix]
    if reference is not None:
        rows.insert(0, _densify(trees.read(reference)))
    limits = read_limits(trees, X, rows, fixed, directions, column_costs)
    search = ChangeSearch(
        model.tree_,
        trees.schema.columns,
        limits,
        counts_first=cost == "changes",
        max_changes=max_changes,
    )
    predictions = model.predict(X)
    is_target, is_done = _find_targets(fitted, search.places, predictions, target)
    place, costs, changed = search.find(matrix, is_target)
    words = Words(
        fitted,
        max_levels=SHOWN_LEVELS,
        show_missing=False,
        rows=np.concatenate([matrix, changed]),
    )
    writer = _Writer(fitted, search, RowValues(trees.schema, X, matrix), words)
    return Explanations(
        Counterfactual(row, prediction, prediction, cost=0.0)
        if done
        else writer.write(row, prediction, best, distance, new)
        for row, (prediction, done, best, distance, new) in enumerate(
            zip(
                predictions.tolist(),
                is_done.tolist(),
                place.tolist(),
                costs.tolist(),
                changed,
                strict=True,
            )
        )
    )


class _Writer:
    """Writes the changes of rows."""

    def __init__(self, fitted, search, values, words) -> None:
        self.fitted = fitted
        self.search = search
        self.values = values
        self.words = words

    def write(self, row, prediction, place, cost, new):
        """Make the counterfactual of a row; ``place`` is -1 if there is none."""
        if place < 0:
            return Counterfactual(row, prediction, None)
        node = int(self.search.places[place])
        changes = []
        for box in self.search.boxes:
            old = self.values.code(row, box.column)
            code = float(new[box.column])
            if code == old or (math.isnan(code) and math.isnan(old)):
                continue
            value = self.values.decode(box.column, code)
            if self.search.limits[box.column].is_integer and not isinstance(
                value, bool
            ):
                value = int(value)
            before = self.values.value(row, box.column)
            changes.append(
                Change(
                    self.words.name(box.column),
                    before,
                    value,
                    self.words.clause(box.conditions[place].strict),
                    tuple(
                        self.words.find_tolerance(box.column, each)
                        for each in (before, value)
                    ),
                )
            )
        fitted, confidence = self.fitted, None
        if fitted.tree.is_classifier:
            confidence = float(fitted.class_fractions(node)[0, fitted.best[node, 0]])
        return Counterfactual(
            row,
            prediction,
            fitted.predicted(node)[0],
            tuple(changes),
            cost,
            node,
            int(fitted.tree.nodes["n_samples"][node]),
            confidence,
        )


def _read_tree(model):
    """Read a tree; raise an error for any other model."""
    trees = read_trees(model)
    if not trees._is_one_tree:
        raise TypeError(
            "find_counterfactuals requires a single tree, whose leaves can be "
            f"compared; got the ensemble {type(model).__name__}."
        )
    if trees.n_outputs > 1:
        raise ValueError(
            f"find_counterfactuals requires a single output; got {trees.n_outputs}."
        )
    if (model.tree_.nodes["kind"] == OBLIQUE).any():
        raise ValueError(
            "find_counterfactuals requires tests of a single column; got a "
            f"{type(model).__name__} with oblique tests."
        )
    return trees, read_fitted(model)


def _densify(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def _find_targets(fitted, places, predictions, target):
    """Return where each row may end, and which rows are predicted as wanted."""
    if not fitted.tree.is_classifier:
        low, high = _read_interval(target)
        values = fitted.statistics[places, 0, 0]
        is_wanted = (values >= low) & (values <= high)
        is_done = (predictions >= low) & (predictions <= high)
        return np.repeat(is_wanted[np.newaxis], len(predictions), axis=0), is_done
    classes = np.asarray(fitted.classes[0])
    best = fitted.best[places, 0]
    if target is None:
        now = np.searchsorted(classes, predictions)
        return best != now[:, np.newaxis], np.zeros(len(predictions), dtype=bool)
    labels = classes.tolist()
    if np.ndim(target) != 0 or target not in labels:
        raise ValueError(
            f"target must be one of the classes {labels} or None, got "
            f"{show_value(target)}."
        )
    is_wanted = best == labels.index(target)
    return (
        np.repeat(is_wanted[np.newaxis], len(predictions), axis=0),
        predictions == classes[labels.index(target)],
    )


def _read_interval(target):
    """Check the interval of a regression target."""
    message = (
        "In regression, target must be a pair (lowest, highest) of numbers, of which "
        f"one may be None; got {show_value(target)}."
    )
    if isinstance(target, str) or not isinstance(target, Iterable):
        raise ValueError(message)
    ends = list(target)
    if len(ends) != 2 or not all(end is None or is_real(end) for end in ends):
        raise ValueError(message)
    low, high = (
        default if end is None else float(end)
        for end, default in zip(ends, (-np.inf, np.inf), strict=True)
    )
    if low > high:
        raise ValueError(message)
    return low, high


def _show(prediction):
    if isinstance(prediction, float):
        return describe_value(prediction)
    return repr(prediction) if isinstance(prediction, str) else str(prediction)
