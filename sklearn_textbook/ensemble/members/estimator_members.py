"""Members that may be any scikit-learn estimator: fits, and predictions."""

from __future__ import annotations

from collections.abc import Callable
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

from sklearn_textbook._contract.blocks import StoredTable
from sklearn_textbook._contract.labels import (
    check_target,
    decode_dictionary,
    encode_labels,
)
from sklearn_textbook._contract.numeric_table import check_columns
from sklearn_textbook._contract.tables import check_sparse_format
from sklearn_textbook.ensemble.members.growth import (
    open_parallel,
    report_members,
    run_aside,
    yield_results,
)
from sklearn_textbook.ensemble.resample import list_random_states


def as_frame(X):
    """Return a data frame as narwhals', and None for what is none."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def take_rows(values, rows):
    """Take some rows, given by numbers or a mask, of an array, a frame or a list."""
    if isinstance(values, np.ndarray):
        # take is several times faster, but copies an array that is not contiguous.
        is_fast = values.flags.c_contiguous and np.asarray(rows).dtype != bool
        return values.take(rows, axis=0) if is_fast else values[rows]
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


def consumes_weight(estimator) -> bool:
    """Return whether ``sample_weight`` is passed to ``fit`` of an estimator."""
    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(estimator)
        return bool(routing.consumes("fit", ("sample_weight",)))
    return has_fit_parameter(estimator, "sample_weight")


def route_parameters(owner, method: str, params: dict) -> dict[str, dict]:
    """Route parameters of an ensemble to the methods of its members."""
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

    def __init__(self, owner, template, X, y, *, is_classifier) -> None:
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

    def grow(self, draw, seeds: list[int], metadata: dict):
        """Fit one member per seed."""
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
    if isinstance(X, StoredTable):
        raise TypeError(
            f"{type(owner).__name__} fits members that are not trees of this package "
            "only to tables in memory; read the table with io.read_table."
        )
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


# ------------------------------------------------------------------------------------
# Predictions of members that may be any scikit-learn estimator.
# ------------------------------------------------------------------------------------


#: Members predict in at most this many batches, whatever ``n_jobs`` is: the sums are
#: the same then.
MOST_BATCHES = 64


def count_member_votes(member, X, n_classes, routed):
    """Mark the class that a member votes for in each row."""
    predicted = np.asarray(member.predict(X, **routed.get("predict", {})))
    numbers = predicted.astype(np.intp)[:, np.newaxis]
    return (np.arange(n_classes) == numbers).astype(np.float64)


def compute_member_probabilities(member, X, n_classes, routed):
    """Compute class probabilities of a member, or its votes if it has none."""
    if not hasattr(member, "predict_proba"):
        return count_member_votes(member, X, n_classes, routed)
    given = member.predict_proba(X, **routed.get("predict_proba", {}))
    return spread(given, member.classes_, n_classes, 0.0)


def compute_member_logarithms(member, X, n_classes, routed):
    """Compute logarithms of class probabilities of a member."""
    with np.errstate(divide="ignore"):
        given = member.predict_log_proba(X, **routed.get("predict_log_proba", {}))
    return spread(given, member.classes_, n_classes, -np.inf)


def compute_member_decisions(member, X, n_classes, routed):
    """Compute the decision function of a member, which must have all classes."""
    if 0 < len(member.classes_) < n_classes:
        raise ValueError(
            f"A {type(member).__name__} was trained on rows of only "
            f"{len(member.classes_)} of the {n_classes} classes, so its "
            "decision_function cannot be averaged with the others. Draw more rows "
            "(max_samples)."
        )
    return member.decision_function(X, **routed.get("decision_function", {}))


def compute_member_values(member, X, n_classes, routed):
    """Compute values of a member."""
    return np.asarray(member.predict(X, **routed.get("predict", {})))


def spread(given, member_classes, n_classes, default):
    """Widen predictions for the classes of a member to all classes."""
    if np.array_equal(member_classes, np.arange(n_classes)):
        return given
    wide = np.full((given.shape[0], n_classes), default)
    wide[:, np.asarray(member_classes, dtype=np.intp)] = given
    return wide


def predict_batch(compute, members, columns, X, n_classes, routed):
    """Predict with members one after the other."""
    return [
        compute(
            member,
            X if of_member is None else take_columns(X, of_member),
            n_classes,
            routed,
        )
        for member, of_member in zip(members, columns, strict=True)
    ]


def sum_batch(add, *arguments):
    """Predict with members one after the other, and add up the predictions."""
    return add_in_turn(add, predict_batch(*arguments))


def add_in_turn(add, parts):
    """Add up arrays from the first to the last."""
    total = None
    for part in parts:
        total = part if total is None else add(total, part)
    return total


class EstimatorCombiner:
    """Fitted estimators and the sums of their predictions.

    Parameters
    ----------
    owner : estimator
        The fitted ensemble.
    routed : dict, default=None
        Parameters of the members' methods: name of the method -> dict.
    """

    def __init__(self, owner, routed=None) -> None:
        self.owner = owner
        self.routed = {} if routed is None else routed
        self.n_classes = getattr(owner, "n_classes_", None)
        self.members = owner.estimators_
        self.columns = owner._list_columns()

    def read_blocks(self, X):
        """Read a new table."""
        yield read_table(self.owner, X, reset=False)

    def sum_predictions(self, table) -> np.ndarray:
        """Add up the class probabilities, or the values, of the members."""
        return self._shape(self.add_up(self._choose_method(), table))

    def sum_votes(self, table) -> np.ndarray:
        """Count the votes of the members."""
        return self._shape(self.add_up(count_member_votes, table))

    def predict_one(self, number: int, table, *, votes: bool = False) -> np.ndarray:
        """Predict with one member."""
        compute = count_member_votes if votes else self._choose_method()
        members, columns = [self.members[number]], [self.columns[number]]
        (given,) = predict_batch(
            compute, members, columns, table, self.n_classes, self.routed
        )
        return self._shape(given)

    def add_up(self, compute: Callable, table, add: Callable = np.add) -> np.ndarray:
        """Predict with all members, and add up the predictions."""
        n_members = len(self.members)
        n_batches = min(n_members, MOST_BATCHES)
        batches = np.array_split(np.arange(n_members), n_batches)
        tasks = (
            (
                sum_batch,
                add,
                compute,
                [self.members[number] for number in batch],
                [self.columns[number] for number in batch],
                table,
                self.n_classes,
                self.routed,
            )
            for batch in batches
        )
        parallel = open_parallel(n_jobs=self.owner.n_jobs, verbose=self.owner.verbose)
        return add_in_turn(add, yield_results(parallel, tasks))

    def _choose_method(self):
        is_classifier = self.n_classes is not None
        return compute_member_probabilities if is_classifier else compute_member_values

    def _shape(self, given):
        """Reshape predictions to (n_rows, n_outputs, n_statistics)."""
        if self.n_classes is not None:
            return given[:, np.newaxis].astype(np.float64, copy=False)
        return given.reshape(len(given), -1, 1)
