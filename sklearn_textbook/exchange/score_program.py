"""A fitted model as tables of nodes and values, from which source code is written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook._contract.costs import SAME_COST, get_costs, refuse_costs
from sklearn_textbook.exchange.tree_sum import (
    TreeSum,
    list_weights,
    read_sum,
    read_values,
)
from sklearn_textbook.tree.grow.layout import (
    FRACTIONAL,
    LEAF,
    NOMINAL,
    NUMERIC,
    OBLIQUE,
    ORDINAL,
    STAY,
)
from sklearn_textbook.tree.members import get_shown_tree
from sklearn_textbook.tree.route.route import pick_classes

#: Where a level not seen in a node leads, as named in the source code.
UNSEEN = {"parent": "STAY", "fractional": "FRACTIONAL", "error": "REFUSED"}
#: Fields of records.
TERM_FIELDS = ("feature", "level", "weight", "fill")
SLOPE_FIELDS = ("feature", "weight", "center")
LINEAR_FIELDS = ("feature", "n_levels", "place", "missing", "unseen", "centre")
TREE_FIELDS = ("root", "score", "weight")
REAL_FIELDS = {"threshold", "weight", "fill", "centre", "center", "low", "high"}


@dataclass(frozen=True, eq=False)
class Part:
    """One tree and what its nodes add to the sums."""

    #: The tree, over all columns.
    tree: object
    #: The values of its nodes.
    values: np.ndarray
    #: First sum to which it adds.
    score: int = 0
    #: Factor of the values, or what its vote counts.
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class LinearTerm:
    """What a column adds to the scores of a linear model."""

    #: The column.
    feature: int
    #: Of a column of numbers one row, which is multiplied by the number minus
    #: ``centre``. Of a column with levels a row for each level; None: the model refuses
    #: the level.
    rows: tuple
    #: What missing values and levels not seen in training add. None: they are refused.
    missing: np.ndarray | None
    unseen: np.ndarray | None
    #: Whether the column has numbers.
    is_number: bool = True
    #: What is subtracted from a number.
    centre: float = 0.0

    @property
    def refuses_levels(self):
        """Whether a level is refused."""
        return not self.is_number and any(
            row is None for row in (*self.rows, self.unseen)
        )


@dataclass(frozen=True, eq=False)
class ScoreProgram:
    """Tables of a model, and how its predictions follow from them.

    The sums of a row are added up as the model adds them, operation by operation;
    expected costs are those of the trees, added up.
    """

    #: Columns, classes and link; of a linear model without trees.
    total: TreeSum
    #: The trees in the order of addition.
    parts: list
    #: Instead of trees, what columns add to the scores.
    linear: tuple = ()
    #: Whether the model allows no missing values.
    refuses_missing: bool = False
    #: Whether a tree adds its weight to the class of its largest value.
    votes: bool = False
    #: Whether, of classes with equally many votes, the one with the largest sum of
    #: probabilities is predicted.
    breaks_ties: bool = False
    #: Where, among the values of a node, those of ``breaks_ties`` begin.
    second: int = 0
    #: Where, among the sums, those begin that choose the class.
    deciding: int = 0
    #: Of a vote, or of the choice by a single tree or by costs: a class is chosen
    #: instead of an earlier one if its value is larger by more.
    tolerance: float = 0.0
    #: What the scores are divided by.
    divisor: float = 1.0
    #: Whether they are before a class is chosen.
    divides_first: bool = False

    @property
    def width(self):
        """Number of values of a node."""
        return self.parts[0].values.shape[1] if self.parts else self.n_sums

    @property
    def n_sums(self):
        """Number of sums: the scores, and those that choose a class."""
        n_scores = self.total.n_scores
        return 2 * n_scores if self.breaks_ties or self.deciding else n_scores

    @property
    def unseen(self):
        """Where a level not seen in a node leads."""
        if not self.parts:
            refuses = any(term.refuses_levels for term in self.linear)
            return UNSEEN["error" if refuses else "parent"]
        return UNSEEN[self.parts[0].tree.handle_unknown]

    def count_votes(self, values):
        """Count the votes of nodes: 1 for the class of the largest value."""
        n_scores = self.total.n_scores
        n = n_scores // self.total.n_outputs
        best = pick_classes(values[:, :n_scores].reshape(-1, n), self.tolerance)
        return np.eye(n)[best].reshape(len(values), -1)

    def count_kinds(self):
        """Count the tests of every kind, surrogates included."""
        counts = np.zeros(OBLIQUE + 1, dtype=np.int64)
        for part in self.parts:
            for records in (part.tree.nodes, part.tree.surrogates):
                counts += np.bincount(records["kind"], minlength=len(counts))
        return counts

    def list_flags(self) -> dict[str, bool]:
        """Find the parts of the source code that the model needs."""
        trees = [part.tree for part in self.parts]
        counts = self.count_kinds()
        n_levels = self.total.schema.n_levels
        in_sums = any(n_levels[tree.terms["feature"]].any() for tree in trees)
        in_slopes = any(n_levels[tree.slopes["feature"]].any() for tree in trees)
        levels = bool(counts[[ORDINAL, NOMINAL]].any())
        has_unseen = levels or in_sums or any(not t.is_number for t in self.linear)
        unseen = self.unseen if has_unseen else "STAY"
        divides = any(
            (tree.nodes["missing_branch"][~tree.is_leaf] == FRACTIONAL).any()
            for tree in trees
        )
        total = self.total
        return {
            "kinds": bool(counts[[ORDINAL, NOMINAL, OBLIQUE]].any()),
            "levels": levels,
            "nominal": bool(counts[NOMINAL]),
            "level_terms": bool(in_sums),
            "level_slopes": bool(in_slopes),
            "fractional": divides or unseen == "FRACTIONAL",
            "refuses_unseen": unseen == "REFUSED",
            "chooses": self.votes or (total.is_classifier and total.link != "expit"),
        }


def make_program(model: object) -> ScoreProgram:
    """Read a fitted tree or ensemble of trees; see :func:`read_trees`."""
    total, described = read_sum(model, is_weighed=False), model._describe_sum()
    members, is_vote = described.members, described.is_vote
    values = [read_values(get_shown_tree(member)) for member in members]
    second = deciding = 0
    if is_vote or (total._is_one_tree and total.is_classifier):
        # The class may follow from other values than those shown.
        own = [read_values(member.tree_) for member in members]
        pairs = list(zip(values, own, strict=True))
        if not all(np.array_equal(a, b) for a, b in pairs):
            if not is_vote:
                deciding = values[0].shape[1]
                values = [np.concatenate(pair, axis=1) for pair in pairs]
            elif described.is_mean:
                second = own[0].shape[1]
                values = [np.concatenate(pair[::-1], axis=1) for pair in pairs]
            else:
                values = own
    weights, tolerance, costs = list_weights(described), described.tolerance, None
    if total.is_classifier:
        costs = get_costs(model)
    if costs is not None:
        # Of mean probabilities, the expected costs are the means of those of the trees.
        if total.link != "identity":
            refuse_costs(model)
        # Those of a tree follow from its own values, as its class does.
        deciding = deciding or values[0].shape[1]
        values = [
            np.concatenate([value[:, :deciding], -(value[:, -deciding:] @ costs)], 1)
            for value in values
        ]
        n = len(members) if described.is_mean else 1
        tolerance = n * max(tolerance, SAME_COST) * float(costs.max())
    parts = [
        Part(tree, value, int(score), float(weight))
        for tree, value, score, weight in zip(
            total.trees, values, total.first, weights, strict=True
        )
    ]
    # Shares of positive scores are divided by their sum.
    is_mean = described.is_mean and described.link == "identity"
    return ScoreProgram(
        total,
        parts,
        refuses_missing=total.reader.missing == "error",
        votes=is_vote,
        breaks_ties=is_vote and described.is_mean,
        second=second,
        deciding=deciding,
        tolerance=tolerance,
        divisor=float(len(members)) if is_mean else 1.0,
        divides_first=described.divides_first,
    )


@dataclass(frozen=True, eq=False)
class Tables:
    """The records of all trees of a program, one tuple each."""

    #: Names of the fields of each table.
    fields: dict
    #: The records of ``nodes``, ``surrogates``, ``terms``, ``slopes``, ``trees``,
    #: ``linear`` and ``values``.
    rows: dict
    #: The level maps of nominal tests; see :mod:`sklearn_textbook.tree.grow.level_map`.
    #: Of linear models the places in ``values`` of the rows of levels.
    maps: list
    #: Number of fields of a test, with which nodes and surrogates begin.
    n_test_fields: int


def find_stops(tree):
    """Find the nodes in which rows may end: leaves, and tests without a branch."""
    nodes = tree.nodes
    may_stop = tree.is_leaf | (nodes["missing_branch"] == STAY)
    if tree.handle_unknown == "parent":
        has_levels = np.isin(nodes["kind"], (ORDINAL, NOMINAL, OBLIQUE))
        may_stop |= has_levels & (len(tree.n_levels) > 0) & bool(tree.n_levels.any())
    # A row is divided among children with weight only; without any it ends.
    weight = np.bincount(
        np.maximum(nodes["parent"], 0)[1:], nodes["weight"][1:], len(nodes)
    )
    return may_stop | (weight <= 0)


def write_tables(program: ScoreProgram, flags: dict[str, bool]) -> Tables:
    """List the records of all trees."""
    test = ["kind"] * flags["kinds"] + ["feature", "threshold"]
    test += ["map"] * flags["nominal"]
    node = [*test, "first", "missing", "stop"]
    node += ["n_children", "weight"] * flags["fractional"]
    trees = [part.tree for part in program.parts]
    node += ["surrogate", "n_surrogates"] * any(len(t.surrogates) for t in trees)
    node += ["term", "n_terms"] * any(len(t.terms) for t in trees)
    if any(len(t.slopes) for t in trees):
        node += ["slope", "n_slopes", "low", "high"]
    fields = {
        "nodes": tuple(node),
        "surrogates": (*test, "low_branch"),
        "terms": TERM_FIELDS,
        "slopes": SLOPE_FIELDS,
        "trees": TREE_FIELDS,
        "linear": LINEAR_FIELDS,
        "values": tuple(range(program.width)),
    }
    rows = {name: [] for name in fields}
    maps = []
    _add_linear(program, rows, maps)
    for part in program.parts:
        rows["trees"].append((len(rows["nodes"]), part.score, part.weight))
        columns = _list_node_columns(part, rows, len(maps))
        rows["values"] += columns.pop("values")
        tree = part.tree
        rows["nodes"] += _zip(columns, fields["nodes"])
        surrogates = _list_test_columns(tree.surrogates, len(maps))
        surrogates["low_branch"] = np.maximum(tree.surrogates["low_branch"], 0)
        rows["surrogates"] += _zip(surrogates, fields["surrogates"])
        rows["terms"] += _zip({n: tree.terms[n] for n in TERM_FIELDS}, TERM_FIELDS)
        rows["slopes"] += _zip({n: tree.slopes[n] for n in SLOPE_FIELDS}, SLOPE_FIELDS)
        maps += tree.level_branch.tolist()
    return Tables(fields, rows, maps, len(test))


def _add_linear(program, rows, maps) -> None:
    """List the records of the columns of a linear model; equal rows are one."""
    known = {}

    def place(row):
        if row is None:
            return -1
        row = tuple(map(float, row))
        if row not in known:
            known[row] = len(rows["values"])
            rows["values"].append(row)
        return known[row]

    for term in program.linear:
        n_levels, first = len(term.rows), len(maps)
        places = [place(row) for row in term.rows]
        if term.is_number:
            n_levels, (first,) = 0, places
        else:
            maps += places
        ends = place(term.missing), place(term.unseen)
        rows["linear"].append((term.feature, n_levels, first, *ends, term.centre))


def _zip(columns, names) -> list:
    return list(zip(*(columns[name].tolist() for name in names), strict=True))


def _list_test_columns(records, map_start):
    """List the columns of tests; numbers without a meaning are 0."""
    kind = records["kind"]
    has_threshold = np.isin(kind, (NUMERIC, ORDINAL, OBLIQUE))
    return {
        "kind": kind,
        "feature": np.where(kind == LEAF, -1, records["feature"]),
        "threshold": np.where(has_threshold, records["threshold"], 0.0),
        "map": np.where(kind == NOMINAL, records["map_start"] + map_start, 0),
    }


def _list_node_columns(part, rows, map_start):
    """List the columns of the nodes of a tree, and the values where rows end."""
    tree = part.tree
    nodes, count = tree.nodes, tree.node_count
    stops = find_stops(tree)
    values = part.values[stops]
    place = np.cumsum(stops) - 1 + len(rows["values"])
    first = np.where(tree.is_leaf, 0, nodes["first_child"] + len(rows["nodes"]))
    columns = _list_test_columns(nodes, map_start)
    columns |= {
        "first": first,
        "missing": np.where(tree.is_leaf, STAY, nodes["missing_branch"]),
        "stop": np.where(stops, place, -1),
        "n_children": nodes["n_children"],
        "weight": nodes["weight"],
        "values": list(map(tuple, values.tolist())),
    }
    for name, records, key in (
        ("surrogate", tree.surrogates, "surrogates"),
        ("term", tree.terms, "terms"),
        ("slope", tree.slopes, "slopes"),
    ):
        number = np.bincount(records["node"], minlength=count)
        columns[f"n_{key}"] = number
        columns[name] = np.cumsum(number) - number + len(rows[key])
    for number, name in enumerate(("low", "high")):
        columns[name] = np.full(count, (-np.inf, np.inf)[number])
        if len(tree.slopes):
            is_sloped = columns["n_slopes"] > 0
            columns[name][is_sloped] = tree.bounds[is_sloped, number]
    return columns
