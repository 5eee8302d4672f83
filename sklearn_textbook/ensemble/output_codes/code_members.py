"""Fitting the members of an output code, and their outputs."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from sklearn_textbook._contract.parameters import is_integer
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.ensemble.members.estimator_members import (
    fit_batch,
    fit_in_parallel,
    read_table,
    take_metadata,
    take_rows,
)
from sklearn_textbook.ensemble.members.growth import (
    grow_members,
    open_parallel,
    report_members,
    run_aside,
    yield_results,
)
from sklearn_textbook.ensemble.members.tree_members import grows_from_weights
from sklearn_textbook.ensemble.resample import list_random_states
from sklearn_textbook.tree.members import (
    MemberGrower,
    add_predictions,
    choose_member_classes,
    get_shown_tree,
    make_class_target,
    read_blocks,
)


@dataclass(frozen=True, eq=False)
class BinaryProblems:
    """The binary problems of a code: which rows each has, and on which side they are.

    Parameters
    ----------
    matrix : ndarray of int8, shape (n_classes, n_columns)
        The code.
    codes : ndarray of int, shape (n_rows,)
        Class numbers of the rows.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows; None: 1.
    seeds : list of int
        One for each member.
    """

    matrix: np.ndarray
    codes: np.ndarray
    weight: np.ndarray | None
    seeds: list

    def __sizeof__(self):
        """Bytes of the arrays, by which clusters decide what to send only once."""
        weight = 0 if self.weight is None else self.weight.nbytes
        return object.__sizeof__(self) + self.codes.nbytes + weight

    def list_sides(self, number):
        """List the side of each row in a problem: -1, 0 or +1."""
        return self.matrix[:, number][self.codes]

    def weigh(self, number):
        """Weigh the rows of a problem, those on neither side with 0; None: all 1."""
        sides = self.list_sides(number)
        if sides.all():
            return self.weight
        weight = np.ones(len(sides)) if self.weight is None else self.weight
        return np.where(sides != 0, weight, 0.0)

    def require_both_sides(self, classes) -> None:
        """Raise a ValueError if all rows of a side have weight 0."""
        totals = np.bincount(self.codes, self.weight, len(self.matrix))
        is_present = (totals > 0)[:, np.newaxis]
        lacks = ~((self.matrix > 0) & is_present).any(axis=0)
        lacks |= ~((self.matrix < 0) & is_present).any(axis=0)
        if lacks.any():
            known = classes[totals > 0].tolist()
            raise ValueError(
                f"Column {int(np.argmax(lacks))} of the code has only one side, since "
                f"only the classes {known} have rows with sample_weight above 0. Leave "
                "out the rows of the other classes."
            )


@contextmanager
def naming_column(number):
    """Add the column of the code to the errors of its member."""
    try:
        yield
    except Exception as error:
        text = f"The member of column {number} of the code cannot be fitted"
        if type(error) in (RuntimeError, TypeError, ValueError):
            raise type(error)(f"{text}: {error}") from error
        error.add_note(text)
        raise


def draw_random_states(template, seed):
    """Draw a value for each ``random_state`` of a member that is None."""
    given = template.get_params(deep=True)
    drawn = list_random_states(template, seed)
    return {name: value for name, value in drawn.items() if given[name] is None}


# ------------------------------------------------------------------------- our trees
def grow_code_batch(grower, problems, numbers):
    """Grow the members of some columns, one after the other."""
    return [grow_code_member(grower, problems, number) for number in numbers]


def grow_code_member(grower: MemberGrower, problems: BinaryProblems, number: int):
    """Grow the member of a column of the code."""
    reader = grower.reader
    states = draw_random_states(reader, problems.seeds[number])
    pruner, name = None, "pruning__random_state"
    if name in states:
        pruner = clone(grower.pruner).set_params(random_state=states[name])
    elif name in reader.get_params():
        pruner = grower.pruner
    with naming_column(number):
        return grower.grow(
            problems.weigh(number),
            states.get("random_state", reader.random_state),
            target=make_class_target(problems.list_sides(number) > 0, 2),
            pruner=pruner,
        )


def can_share_table(template) -> bool:
    """Return whether members like a template grow over one encoded table.

    Class weights are for the sides of each member, and a ``RandomState`` is to be
    copied for each.
    """
    if not grows_from_weights(template) or template.class_weight is not None:
        return False
    states = [
        value
        for name, value in template.get_params(deep=True).items()
        if name == "random_state" or name.endswith("__random_state")
    ]
    return all(value is None or is_integer(value) for value in states)


class CodedTrees:
    """A training table, encoded once, and the trees that grow from it."""

    def __init__(self, owner, template, X, problems) -> None:
        self.n_jobs, self.verbose = owner.n_jobs, owner.verbose
        self.problems = problems
        # Members have two classes; which rows are in them is given for each.
        sides = (problems.list_sides(0) > 0).astype(np.intp)
        self.grower = MemberGrower(template, X, sides, owner=owner, n_jobs=owner.n_jobs)
        self.reader = self.grower.reader

    def fit(self):
        """Yield the members in the order of the columns."""
        return grow_members(
            self.grower,
            self.problems,
            list(range(len(self.problems.seeds))),
            self.n_jobs,
            self.verbose,
            grow_batch=grow_code_batch,
        )


def predict_trees(owner, X, output):
    """Compute the outputs of trees of one table; see ``predict_estimators``."""
    members = owner.estimators_
    parts = []
    for matrix in read_blocks(owner, X, owner._reader):
        n_rows, names = matrix.shape[0], owner._reader.schema_.names
        outputs = np.empty((n_rows, len(members)))
        n_threads = count_threads(owner.n_jobs, matrix.size * len(members))
        for number, member in enumerate(members):
            given = np.zeros((n_rows, 1, 2))
            tree = member.tree_ if output == "vote" else get_shown_tree(member)
            add_predictions([tree], matrix, given, n_threads, names)
            if output == "vote":
                given = 2.0 * choose_member_classes(member, given) - 1.0
                outputs[:, number] = given[:, 0]
            else:
                outputs[:, number] = given[:, 0, 1]
        parts.append(2.0 * outputs - 1.0 if output == "margin" else outputs)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


# --------------------------------------------------------------------- any estimator
@dataclass(frozen=True, eq=False)
class ProblemTask:
    """All that members of any kind are fitted from."""

    template: object
    X: object
    problems: BinaryProblems
    metadata: dict

    def fit_member(self, number):
        """Fit the member of a column."""
        member = clone(self.template)
        member.set_params(
            **draw_random_states(self.template, self.problems.seeds[number])
        )
        sides, weight = self.problems.list_sides(number), self.problems.weight
        X, y, metadata = self.X, (sides > 0).astype(np.intp), dict(self.metadata)
        if weight is not None:
            metadata["sample_weight"] = weight
        if not sides.all():
            rows = np.flatnonzero(sides)
            metadata = take_metadata(metadata, rows, len(y))
            X, y = take_rows(X, rows), y[rows]
        with naming_column(number):
            return member.fit(X, y, **metadata)


class CodedEstimators:
    """A training table and the estimators of any kind that are fitted to it."""

    reader = None

    def __init__(self, owner, template, X, problems, metadata) -> None:
        self.n_jobs, self.verbose = owner.n_jobs, owner.verbose
        self.task = ProblemTask(template, X, problems, metadata)

    def fit(self):
        """Yield the members in the order of the columns."""
        numbers = list(range(len(self.task.problems.seeds)))
        n_workers = min(effective_n_jobs(self.n_jobs), len(numbers))
        if n_workers == 1:
            fit_one = partial(fit_batch, self.task)
            fitted = run_aside(fit_one, [[number] for number in numbers])
        else:
            fitted = fit_in_parallel(self.task, numbers, n_workers)
        return report_members(fitted, len(numbers), self.verbose)


def predict_estimator(member, X, output, routed):
    """Compute the output of a member of any kind; shape (n_rows,)."""
    name = choose_method(member, output)
    outputs = getattr(member, name)(X, **routed.get(name, {}))
    if name == "decision_function":
        return np.asarray(outputs, dtype=np.float64).reshape(len(outputs))
    outputs = np.asarray(outputs, dtype=np.float64)
    fraction = outputs[:, 1] if name == "predict_proba" else outputs
    return fraction if output == "probability" else 2.0 * fraction - 1.0


def choose_method(estimator, output):
    """Choose the method of a member that gives an output."""
    wanted = {
        "vote": (),
        "margin": ("decision_function", "predict_proba"),
        "probability": ("predict_proba",),
    }[output]
    return next((name for name in wanted if hasattr(estimator, name)), "predict")


def predict_estimators(owner, X, output: str, routed: dict) -> np.ndarray:
    """Compute the outputs of members of any kind."""
    table = read_table(owner, X, reset=False)
    tasks = (
        (predict_estimator, member, table, output, routed)
        for member in owner.estimators_
    )
    parallel = open_parallel(n_jobs=owner.n_jobs)
    return np.column_stack(list(yield_results(parallel, tasks)))
