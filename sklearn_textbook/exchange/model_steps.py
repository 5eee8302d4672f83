"""Models that consist of models, as steps whose results are columns of later ones.

A vote, a mean or a stacked model reads what its members predict, and the last step of a
pipeline reads what the steps before it made. Each step is a program of trees or of
linear terms; the last one makes the predictions.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.costs import refuse_costs
from sklearn_textbook.ensemble import (
    AveragingRegressor,
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    OutputCodeClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn_textbook.ensemble.bagging.bagging import BaseBagging
from sklearn_textbook.ensemble.boosting.adaboost import BaseAdaBoost
from sklearn_textbook.ensemble.combination.rules import TOLERANCE
from sklearn_textbook.exchange.linear_program import (
    make_linear,
    read_linear,
)
from sklearn_textbook.exchange.onnx_trees import divides_rows as find_divided
from sklearn_textbook.exchange.pipeline_steps import transform
from sklearn_textbook.exchange.rule_program import make_choice, make_rule_program
from sklearn_textbook.exchange.score_program import (
    LinearTerm,
    Part,
    ScoreProgram,
    make_program,
)
from sklearn_textbook.exchange.tree_sum import is_tree_sum, make_total
from sklearn_textbook.tree import C45RulesClassifier
from sklearn_textbook.tree.encode import NOMINAL, NUMERIC, ColumnSchema, TableSchema
from sklearn_textbook.tree.encode.columns import NULL, NUMBER
from sklearn_textbook.tree.encode.read import default_names, numeric_schema
from sklearn_textbook.tree.grow.grown_tree import refuse_slopes


@dataclass(frozen=True, eq=False)
class Step:
    """A program, and what it reads and gives."""

    #: Trees or linear terms.
    program: ScoreProgram
    #: The places of its columns among the columns of the table, which come first, and
    #: the results of earlier steps.
    places: tuple
    #: Its results, see ``RESULTS``; empty for the last step, which predicts.
    gives: tuple = ()

    def count_results(self):
        """Count the results of each kind."""
        total = self.program.total
        n_classes = sum(map(len, total.classes))
        counts = {"values": total.n_outputs, "scores": total.n_scores}
        return [counts.get(kind, n_classes) for kind in self.gives]


@dataclass(frozen=True, eq=False)
class ModelSteps:
    """A model as steps."""

    #: The model.
    model: object
    #: The columns of the table.
    schema: TableSchema
    #: The last one makes the predictions.
    steps: list
    #: Columns of the table that no step reads.
    unused: frozenset = frozenset()

    @property
    def program(self):
        """The last program."""
        return self.steps[-1].program

    @property
    def is_single(self):
        """Whether there is only one program, which reads the table as it is."""
        places = tuple(range(len(self.schema.columns)))
        return len(self.steps) == 1 and self.steps[0].places == places

    def refuse_equations(self, what: str) -> None:
        """Raise ValueError for trees with linear equations in their leaves."""
        parts = [part for step in self.steps for part in step.program.parts]
        refuse_slopes([part.tree for part in parts], what)

    @property
    def is_trees(self):
        """Whether it is a tree, or a sum of trees."""
        return self.is_single and not self.program.linear


def read_steps(model: object, splits_votes: bool = False) -> ModelSteps:
    """Read a fitted model as steps.

    With ``splits_votes``, trees that vote become steps of their own if they divide
    rows.
    """
    if hasattr(model, "fit") and not isinstance(model, type):
        check_is_fitted(model)
    reader = StepReader(model, splits_votes)
    reader.finish(*resolve(model, reader, reader.list_places()))
    unused = frozenset(i for i, column in enumerate(reader.columns) if column is None)
    return ModelSteps(model, reader.make_schema(), reader.steps, unused)


class StepReader:
    """Collects steps."""

    def __init__(self, model: object, splits_votes: bool) -> None:
        self.splits_votes = splits_votes
        self.names, self.has_names = (), False
        self.columns = []
        with suppress(AttributeError):  # members may not know their columns
            names = getattr(model, "feature_names_in_", None)
            self.has_names = names is not None
            n_columns = model.n_features_in_
            self.names = tuple(names) if self.has_names else default_names(n_columns)
            self.columns = [None] * n_columns
        self.steps = []
        self.n_values = len(self.columns)

    def list_places(self):
        """List the places of the columns of the table; None: not known."""
        return tuple(range(len(self.columns))) if self.columns else None

    def add(self, program, places, gives):
        """Add a step; return the places of its results, a list for each kind."""
        self.finish(program, places, gives)
        found, start = [], self.n_values
        for count in self.steps[-1].count_results():
            found.append(list(range(start, start + count)))
            start += count
        self.n_values = start
        return found

    def finish(self, program, places, gives=()) -> None:
        """Add a step, and note how it reads the columns of the table."""
        columns = program.total.schema.columns
        if places is None:
            places = tuple(range(len(columns)))
            if not self.columns:
                self.names = program.total.schema.names
                self.has_names = program.total.schema.has_names
                self.columns = [None] * len(columns)
                self.n_values = len(columns)
        places = require_plain(places, program.total.model)
        for place, column in zip(places, columns, strict=True):
            if place < len(self.columns):
                self.note_column(place, column)
        self.steps.append(Step(program, places, tuple(gives)))

    def note_column(self, place, column):
        """Note how a column of the table is read."""
        known = self.columns[place]
        name = str(self.names[place])
        if known is None or known.source == NULL:
            self.columns[place] = replace(column, name=name)
            return
        if column.source == NULL or (known.levels is None and column.levels is None):
            return
        if (known.levels is None) != (column.levels is None):
            raise ValueError(
                f"Column {name!r} is read as numbers by one part of the model and as "
                "levels by another, which cannot be exported."
            )
        more = tuple(level for level in column.levels if level not in known.codes)
        if more:
            levels = (*known.levels, *more)
            self.columns[place] = ColumnSchema(name, NOMINAL, levels, known.source)

    def make_schema(self):
        """Describe the columns of the table; one that nothing reads has no values."""
        columns = [
            ColumnSchema(str(name), NUMERIC, None, NULL) if column is None else column
            for name, column in zip(self.names, self.columns, strict=True)
        ]
        return TableSchema(tuple(columns), self.has_names)


def require_plain(places, model):
    """Raise ValueError for text in which an imputer fills missing values."""
    for place in places:
        if not isinstance(place, int):
            raise ValueError(
                f"SimpleImputer fills text that {type(model).__name__} reads, which "
                "cannot be exported. Leave it out, as models of this package take "
                "missing values, or encode the text before."
            )
    return tuple(places)


@contextmanager
def naming(model, part):
    """Name the part of a model in errors."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = f"{part} of {type(model).__name__}: {error}"
        raise type(error)(message) from None


# ---------------------------------------------------------------------- combinations
class Combination:
    """Sums of the results of members, from which a model predicts."""

    def __init__(self, model: object, n_sums: int) -> None:
        self.model, self.start = model, np.zeros(n_sums)
        self.places, self.terms, self.names = [], [], []

    def add(self, place, name, weights, centre: float = 0.0) -> None:
        """Add a result to the sums with these weights."""
        number, missing = len(self.terms), np.full(len(weights), np.nan)
        weights = np.asarray(weights, dtype=np.float64)
        self.terms.append(LinearTerm(number, (weights,), missing, None, centre=centre))
        self.places.append(place)
        self.names.append(f"{number} {name}")

    def add_classes(self, places, name, numbers, weight, first: int = 0) -> None:
        """Add results for classes to the sums of these classes."""
        for place, number in zip(places, numbers, strict=True):
            weights = np.zeros(len(self.start))
            weights[first + number] = weight
            self.add(place, f"{name} {number}", weights)

    def make(self, **header):
        """Make the program that adds them up, and list the places that it reads."""
        schema = numeric_schema(tuple(self.names), False, NUMBER)
        options = {
            name: header.pop(name)
            for name in ("breaks_ties", "tolerance", "divisor")
            if name in header
        }
        n_scores = len(self.start) // (2 if options.get("breaks_ties") else 1)
        program = make_linear(
            self.model,
            schema,
            tuple(self.terms),
            self.start[:n_scores],
            refuses_missing=False,
            **header,
        )
        return replace(program, **options), tuple(self.places)


def list_class_numbers(program, classes):
    """List the places of the classes of a member among those of a model."""
    (own,) = program.total.classes
    return [int(np.flatnonzero(classes == label)[0]) for label in own.tolist()]


def require_one_output(program) -> None:
    """Raise ValueError for a member with several outputs."""
    if program.total.n_outputs > 1:
        raise ValueError(
            f"A member with {program.total.n_outputs} outputs cannot be exported."
        )


def add_probabilities(
    model,
    reader,
    places,
    members,
    weights,
    classes,
    combination,
    kinds=("probabilities",),
) -> None:
    """Add members' probabilities, or votes, to the sums of a combination."""
    n_classes = len(classes)
    for (name, member, columns), weight in zip(members, weights, strict=True):
        with naming(model, f"member {name!r}"):
            own = places if columns is None else [places[i] for i in columns]
            program, own = resolve(member, reader, own)
            require_one_output(program)
            numbers = list_class_numbers(program, classes)
            found = reader.add(program, own, kinds)
            for kind, of_kind in enumerate(found):
                first = kind * n_classes
                combination.add_classes(of_kind, name, numbers, weight, first)


def add_values(model, reader, places, members, weights, combination) -> None:
    """Add members' values to the sums of a combination."""
    for (name, member, columns), weight in zip(members, weights, strict=True):
        with naming(model, f"member {name!r}"):
            own = places if columns is None else [places[i] for i in columns]
            program, own = resolve(member, reader, own)
            (found,) = reader.add(program, own, ("values",))
            for output, place in enumerate(found):
                weights_of_outputs = np.zeros(len(combination.start))
                weights_of_outputs[output] = weight
                combination.add(place, name, weights_of_outputs)


# --------------------------------------------------------------------------- models
@singledispatch
def resolve(model: object, reader: StepReader, places):
    """Add the steps that a model needs, but for its last one.

    The last one is returned with the places of its columns; ``places`` are those of the
    columns of the model, None of the whole table.
    """
    program = read_linear(model)
    if program is None:
        if not is_tree_sum(model):
            name = model.__name__ if isinstance(model, type) else type(model).__name__
            raise TypeError(
                "model must be a fitted model of sklearn_textbook, a linear model of "
                f"scikit-learn, or a Pipeline that ends in one; got {name}, which "
                "cannot be exported."
            )
        program = make_program(model)
    else:
        refuse_costs(model)
    if reader.splits_votes and program.votes:
        return split_votes(program, reader, places)
    return program, places


def divides_rows(program) -> bool:
    """Whether a tree of a program divides rows."""
    allows_missing = not program.refuses_missing
    trees = [part.tree for part in program.parts]
    return any(find_divided(tree, allows_missing) is not None for tree in trees)


def split_votes(program, reader, places):
    """Make a step of each tree that votes, if rows are divided."""
    total = program.total
    if total.n_outputs > 1 or not divides_rows(program):
        return program, places
    n_classes = total.n_scores
    ties = program.breaks_ties
    combination = Combination(total.model, n_classes * (2 if ties else 1))
    classes = np.arange(n_classes)
    header = {"classes": [classes], "link": "identity"}
    for number, part in enumerate(program.parts):
        own, second = part.values[:, :n_classes], part.values[:, program.second :]
        values, deciding = own, 0
        if program.second:  # other values than the probabilities decide
            values, deciding = np.concatenate([second, own], axis=1), n_classes
        of_tree = make_total(total.model, total.schema, np.zeros(n_classes), **header)
        member = ScoreProgram(
            of_tree,
            [Part(part.tree, values)],
            refuses_missing=program.refuses_missing,
            deciding=deciding,
            tolerance=program.tolerance,
        )
        kinds = ("votes", "probabilities") if ties else ("votes",)
        votes, *fractions = reader.add(member, places, kinds)
        weight = part.weight / program.divisor
        combination.add_classes(votes, f"tree {number}", classes, weight)
        for of_kind in fractions:
            combination.add_classes(
                of_kind, f"tree {number}", classes, 1.0, first=n_classes
            )
    return combination.make(
        classes=total.classes,
        link=total.link,
        scale=total.scale,
        breaks_ties=ties,
    )


@resolve.register
def _resolve_pipeline(model: Pipeline, reader, places):
    *before, (last_name, last) = model.steps
    for name, step in before:
        with naming(model, f"step {name!r}"):
            places = transform(step, reader, places)
    with naming(model, f"step {last_name!r}"):
        if last is None or not hasattr(last, "predict"):
            raise TypeError(
                "the last step must predict; got "
                f"{last if last is None else type(last).__name__}."
            )
        return resolve(last, reader, places)


@resolve.register
def _resolve_rules(model: C45RulesClassifier, reader, places):
    if model.n_rules_ == 0:
        return make_choice(model), places
    (found,) = reader.add(make_rule_program(model), places, ("values",))
    return make_choice(model), found


@resolve.register
def _resolve_voting(model: VotingClassifier, reader, places):
    if model.reject_label is not None:
        raise ValueError(
            f"reject_label={model.reject_label!r} of VotingClassifier cannot be "
            "exported. Set it to None; the class with the most votes is predicted then."
        )
    rule = model._get_rule()
    is_hard = model.voting == "hard"
    if not is_hard and rule != "mean":
        raise ValueError(
            f"rule={rule!r} of VotingClassifier cannot be exported; rule='mean' can."
        )
    if is_hard and model.tie_breaking == "random":
        raise ValueError(
            "tie_breaking='random' of VotingClassifier cannot be exported; 'first' can."
        )
    members = [(name, one, None) for name, one in model._list_fitted()]
    weights = model._list_weights()
    weights = np.ones(len(members)) if weights is None else np.asarray(weights, float)
    classes, ties = model.classes_, is_hard and model.tie_breaking == "confidence"
    if not ties:  # equal sums of whole numbers are equal
        weights = weights / weights.sum()
    if not model.prefit:
        classes = np.arange(len(classes))
    kinds = ["votes" if is_hard else "probabilities"]
    if ties:
        able = [hasattr(one, "predict_proba") for _, one, _ in members]
        if not all(able):
            raise ValueError(
                "tie_breaking='confidence' of VotingClassifier can be exported only if "
                "all members have predict_proba."
            )
        if (weights % 1.0).any():
            raise ValueError(
                "tie_breaking='confidence' of VotingClassifier can be exported only "
                "with whole numbers as weights; 'first' can with any."
            )
        kinds.append("probabilities")
    combination = Combination(model, len(classes) * len(kinds))
    add_probabilities(
        *(model, reader, places, members, weights, classes, combination), kinds
    )
    return combination.make(
        link="scores" if is_hard else "identity",
        breaks_ties=ties,
        tolerance=TOLERANCE if is_hard and not ties else 0.0,
    )


@resolve.register(BayesianModelAveragingClassifier)
@resolve.register(BayesianModelAveragingRegressor)
@resolve.register(AveragingRegressor)
def _resolve_average(model, reader, places):
    check_is_fitted(model)
    program = read_linear(model)
    if program is not None:
        return program, places
    if getattr(model, "_averages_subsets", False):
        raise ValueError(
            "BayesianModelAveragingClassifier averages the logistic regressions on "
            f"{len(model._subsets.weights)} subsets of the columns, which cannot be "
            "exported. Use io.save_model, or pass estimators."
        )
    members = [(name, one, None) for name, one in model._list_fitted()]
    weights = np.asarray(model.weights_, dtype=np.float64)
    if not is_classifier(model):
        combination = Combination(model, 1)
        add_values(model, reader, places, members, weights, combination)
        return combination.make()
    classes = model.classes_
    if not model.prefit:
        classes = np.arange(len(classes))
    combination = Combination(model, len(classes))
    weights = weights / weights.sum()
    add_probabilities(*(model, reader, places, members, weights, classes, combination))
    return combination.make(link="identity")


@resolve.register(StackingClassifier)
@resolve.register(StackingRegressor)
def _resolve_stacking(model, reader, places):
    check_is_fitted(model)
    found = []
    fits, n_classes = model._fits_members(), model._count_classes()
    for (name, member), method in zip(
        model._list_fitted(), model.stack_method_, strict=True
    ):
        with naming(model, f"member {name!r}"):
            program, own = resolve(member, reader, places)
            require_one_output(program)
            if method == "predict_proba":
                (answers,) = reader.add(program, own, ("probabilities",))
                if fits and len(answers) != n_classes:
                    raise ValueError(
                        f"it knows {len(answers)} of {n_classes} classes, which cannot "
                        "be exported."
                    )
                # The second of two probabilities determines the first.
                found += answers[1:] if len(answers) == 2 else answers
            elif program.total.is_classifier:
                found += add_decisions(program, own, reader, method)
            else:
                found += reader.add(program, own, ("values",))[0]
    if model.passthrough:
        if places is None:
            places = tuple(range(model.n_features_in_))
        found += places
    with naming(model, "final_estimator"):
        program, own = resolve(model.final_estimator_, reader, found)
    total = replace(program.total, model=model)
    if is_classifier(model):
        (numbers,) = total.classes
        total = replace(total, classes=[model.classes_.take(numbers.astype(int))])
    return replace(program, total=total), own


def add_decisions(program, places, reader, method: str = "decision_function"):
    """Add a member whose scores are its decision function."""
    total = program.total
    if method != "decision_function" or total.link != "expit" or total.scale != 1.0:
        raise ValueError(
            f"the results of {method} of {type(total.model).__name__} cannot be "
            "exported; those of predict_proba can."
        )
    return reader.add(program, places, ("scores",))[0]


@resolve.register
def _resolve_codes(model: OutputCodeClassifier, reader, places):
    if model.decoding == "probability":
        raise ValueError(
            "decoding='probability' of OutputCodeClassifier solves a least-squares "
            "problem for each row, which cannot be exported; decoding='loss' can."
        )
    matrix = model.code_book_.astype(np.float64)
    n_classes, n_columns = matrix.shape
    combination = Combination(model, n_classes)
    is_hamming = model.decoding == "hamming"
    if is_hamming:
        combination.start[:] = -n_columns / 2
    elif model.loss == "hinge":
        combination.start[:] = -n_columns
    elif model.loss != "linear":
        raise ValueError(
            f"loss={model.loss!r} of OutputCodeClassifier cannot be exported; "
            "loss='linear' and, with members that predict probabilities, 'hinge' can."
        )
    for number, member in enumerate(model.estimators_):
        side = matrix[:, number]
        with naming(model, f"member {number}"):
            program, own = resolve(member, reader, places)
            require_one_output(program)
            has_decisions = model._reader is None and not is_hamming
            if has_decisions and hasattr(member, "decision_function"):
                if model.loss == "hinge":
                    raise ValueError(
                        "loss='hinge' can be exported only with members that predict "
                        "probabilities."
                    )
                (place,) = add_decisions(program, own, reader)
                combination.add(place, f"member {number}", side)
                continue
            kind = "votes" if is_hamming else "probabilities"
            no, yes = reader.add(program, own, (kind,))[0]
            if is_hamming:
                combination.add(no, f"member {number} no", -side / 2)
                combination.add(yes, f"member {number} yes", side / 2)
            else:
                # 2 q - 1 for the probability q.
                combination.add(yes, f"member {number}", 2.0 * side, centre=0.5)
    return combination.make(link="scores")


@resolve.register
def _resolve_bagging(model: BaseBagging, reader, places):
    if model._reader is not None:
        return resolve.dispatch(object)(model, reader, places)
    refuse_costs(model)
    members = [
        (number, member, columns)
        for number, (member, columns) in enumerate(
            zip(model.estimators_, model._list_columns(), strict=True)
        )
    ]
    if places is None:
        places = tuple(range(model.n_features_in_))
    n_members = len(members)
    weights = np.full(n_members, 1.0 / n_members)
    if not is_classifier(model):
        combination = Combination(model, model._n_outputs)
        add_values(model, reader, places, members, weights, combination)
        return combination.make()
    if model.voting == "hard":
        raise ValueError(
            f"voting='hard' of {type(model).__name__} with members that are not trees "
            "of this package cannot be exported; voting='soft' can."
        )
    classes = np.arange(len(model.classes_))
    combination = Combination(model, len(classes))
    add_probabilities(*(model, reader, places, members, weights, classes, combination))
    return combination.make(link="identity")


@resolve.register
def _resolve_adaboost(model: BaseAdaBoost, reader, places):
    refuse_costs(model)
    if model._reader is not None:
        return resolve.dispatch(object)(model, reader, places)
    members = [(number, one, None) for number, one in enumerate(model.estimators_)]
    classes = np.arange(len(model.classes_))
    combination = Combination(model, len(classes))
    weights = np.asarray(model.estimator_weights_, dtype=np.float64)
    add_probabilities(
        *(model, reader, places, members, weights, classes, combination), ("votes",)
    )
    return combination.make(link="softmax", scale=2.0)
