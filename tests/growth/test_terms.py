"""The terms of oblique tests: what is refused of them, and how they are written."""

import copy
import json

import numpy as np
import pytest

from sklearn_textbook.io.saved_tree import load_member_tree, save_member_tree
from sklearn_textbook.tree import CARTClassifier, ObliqueTreeClassifier
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import OBLIQUE, TERM_DTYPE
from sklearn_textbook.tree.route import RoutedTree, predict_statistics
from tests.growth.test_tree_storage import assert_same_bits
from tests.loops import loop_over
from tests.tree_builders import make_nodes, make_tree

#: A number, a nominal column of three levels, of which one is unseen, and an ordinal
#: one; node 1 tests the last again.
TERMS = [
    (0, 1, 0, 0.5, 1.5, 0.25),
    (0, 1, 2, 0.5, -1.0, 0.25),
    (0, 0, -1, 0.25, 2.0, 3.0),
    (0, 2, -1, 0.25, 0.5, 1.0),
    (1, 2, -1, 1.0, 1.0, 0.0),
]


def make_oblique(terms=TERMS, n_children=(2, 2, 0, 0, 0)):
    nodes = make_nodes(n_children)
    nodes["kind"][:2] = OBLIQUE
    nodes["feature"][:2] = 1, 2
    terms = np.array(terms, dtype=TERM_DTYPE)
    return make_tree(nodes, n_features=3, n_levels=np.array([0, 3, 2]), terms=terms)


def make_fields():
    return json.loads(json.dumps(make_oblique().to_dict()))


def make_packed():
    packed = json.loads(json.dumps(save_member_tree(make_oblique())))
    tree = make_oblique()
    names = ("n_features", "n_levels", "n_classes", "is_classifier", "handle_unknown")
    return packed, {name: getattr(tree, name) for name in names}


def test_sums_of_terms():
    tree = make_oblique()
    check_tree(tree)
    nan = np.nan
    table = np.array(
        [
            [-1.0, 0.0, 1.0],  # 1.5 - 2.0 + 0.5
            [-1.0, 2.0, 0.0],  # -1.0 - 2.0
            [nan, 2.0, 0.0],  # -1.0 + 3.0
            [-1.0, nan, nan],  # 0.25 - 2.0 + 1.0
            [-9.0, 1.0, 0.0],  # a level without a term
            [-9.0, 0.0, -1.0],  # a level that the table did not have
        ]
    )
    expected = [4, 3, 2, 3, 0, 0]
    assert predict_statistics(tree, table).ravel().tolist() == expected


def add_terms(terms, row):
    """The sum of the terms for a row; None for a level without a term."""
    total = 0.0
    for column in dict.fromkeys(terms["feature"].tolist()):
        own, value = terms[terms["feature"] == column], row[column]
        if np.isnan(value):
            total += own["fill"][0]
        elif own["level"][0] < 0:
            total += own["weight"][0] * value
        else:
            found = own["weight"][own["level"] == value]
            if len(found) == 0:
                return None
            total += found[0]
    return total


@loop_over("seed", range(40))
def test_sums_over_many_levels(seed):
    """Columns of 1 to 100 levels, of which a node has seen some, in any order."""
    rng = np.random.default_rng(seed)
    n_levels = rng.choice([0, 1, 2, 3, 7, 8, 9, 100], 5)
    terms = []
    for column in rng.permutation(5)[: rng.integers(1, 6)]:
        levels, fill = np.array([-1]), rng.normal()
        if n_levels[column] > 0:
            size = rng.integers(1, n_levels[column] + 1)
            levels = np.sort(rng.choice(n_levels[column], size, replace=False))
        terms += [(0, column, level, 0.2, rng.normal(), fill) for level in levels]
    terms = np.array(terms, dtype=TERM_DTYPE)
    nodes = make_nodes([2, 0, 0])
    nodes["kind"][0], nodes["feature"][0] = OBLIQUE, terms["feature"][0]
    tree = make_tree(nodes, n_features=5, n_levels=n_levels, terms=terms)
    check_tree(tree)
    table = rng.normal(size=(200, 5))
    for column in np.flatnonzero(n_levels):
        table[:, column] = rng.integers(-1, n_levels[column], 200)
    table[rng.random(table.shape) < 0.1] = np.nan
    sums = [add_terms(terms, row) for row in table]
    expected = [0 if each is None else 1 + (each > 0) for each in sums]
    assert predict_statistics(tree, table).ravel().tolist() == expected


# Which entry of the terms, by column and place, becomes what.
DAMAGE = [
    ("node", 0, -1, "terms, record 0: node must be a node's number"),
    ("node", 4, 5, "terms, record 4: node must be a node's number"),
    ("node", 4, 2, "terms, record 4: node must be the number of an oblique test"),
    ("node", 4, 0, "nodes, record 1: an oblique test must have terms"),
    ("node", 0, 1, "terms must be sorted by node"),
    ("feature", 2, 3, "terms, record 2: feature must be 0 to 2"),
    ("feature", 2, -2, "terms, record 2: feature must be 0 to 2"),
    ("feature", 3, 0, "terms, record 3: levels of a column must be ascending"),
    ("feature", 3, 1, "terms, record 3: terms of a column must be consecutive"),
    ("feature", 4, 1, "nodes, record 1: feature of an oblique test must be that of"),
    ("level", 0, -2, "terms, record 0: level must be a level of its column, or -1"),
    ("level", 1, 3, "terms, record 1: level must be a level of its column, or -1"),
    ("level", 2, 0, "terms, record 2: level must be a level of its column, or -1"),
    ("level", 0, 2, "terms, record 1: levels of a column must be ascending"),
    ("level", 0, -1, "terms, record 1: levels of a column must be ascending"),
    ("level", 0, 2**31, "terms.level has a number out of the range of int32"),
    ("level", 0, 0.5, "terms.level has '0.5' in place 0, where an integer"),
    ("share", 0, 1.5, "terms, record 0: share must be 0 to 1"),
    ("share", 0, -0.5, "terms, record 0: share must be 0 to 1"),
    ("share", 0, "NaN", "terms, record 0: share must be 0 to 1"),
    ("share", 0, 1e308, "terms, record 0: share must be 0 to 1"),
    ("share", 1, 0.25, "terms, record 1: levels of a column must have the same share"),
    ("weight", 0, "NaN", "terms, record 0: weight and fill must be finite"),
    ("weight", 4, "-Infinity", "terms, record 4: weight and fill must be finite"),
    ("fill", 3, "Infinity", "terms, record 3: weight and fill must be finite"),
    ("fill", 1, 7.0, "terms, record 1: levels of a column must have the same fill"),
    ("fill", 1, None, "terms.fill has 'None' in place 1"),
]


@loop_over(("column", "place", "entry", "message"), DAMAGE)
def test_damaged_terms(column, place, entry, message):
    fields = make_fields()
    fields["terms"][column][place] = entry
    with pytest.raises(ValueError, match=message):
        GrownTree.from_dict(fields)
    packed, shared = make_packed()
    packed["terms"][column][place] = entry
    with pytest.raises(ValueError, match=r"^tree 0: "):
        load_member_tree(packed, "tree 0", **shared)


@pytest.mark.parametrize(
    ("column", "entry", "message"),
    [
        ("kind", 1, "nodes, record 0: a numeric test needs a feature without levels"),
        ("threshold", np.inf, "threshold of an oblique test must be finite"),
        ("threshold", np.nan, "threshold of an oblique test must be finite"),
        ("missing_branch", 0, "missing_branch of an oblique test must be -1"),
        ("missing_branch", -2, "missing_branch of an oblique test must be -1"),
        ("feature", 0, "feature of an oblique test must be that of its terms"),
        ("feature", 3, "feature must be 0 to 2"),
    ],
)
def test_damaged_nodes(column, entry, message):
    tree = make_oblique()
    nodes = tree.nodes.copy()
    nodes[column][0] = entry
    with pytest.raises(ValueError, match=message):
        check_tree(tree.replace(nodes=nodes))


def test_an_oblique_test_with_three_children():
    with pytest.raises(ValueError, match="record 0: an oblique test must have two"):
        check_tree(make_oblique(n_children=(3, 2, 0, 0, 0, 0)))


@pytest.mark.parametrize("column", TERM_DTYPE.names)
def test_columns_of_terms_that_are_missing_or_short(column):
    for damage, message in (
        (lambda terms: terms.pop(column), "terms must have exactly"),
        (lambda terms: terms[column].pop(), "columns of terms differ in length"),
        (lambda terms: terms.update({column: [[1]]}), r"terms\."),
    ):
        fields, (packed, shared) = make_fields(), make_packed()
        for part in (fields, packed):
            damage(part["terms"])
        with pytest.raises(ValueError, match=message):
            GrownTree.from_dict(fields)
        with pytest.raises(ValueError, match=r"^tree 0: "):
            load_member_tree(packed, "tree 0", **shared)


def test_terms_are_written_if_there_are_any():
    tree = make_oblique()
    again = GrownTree.from_dict(make_fields())
    assert_same_bits(again, tree)
    packed, shared = make_packed()
    assert_same_bits(
        load_member_tree(packed, "tree 0", **shared), RoutedTree.from_grown(tree)
    )
    X = np.random.default_rng(0).normal(size=(50, 2))
    for model, is_oblique in (
        (CARTClassifier(), False),
        (ObliqueTreeClassifier(), True),
    ):
        tree = model.fit(X, X[:, 0] > X[:, 1]).tree_
        assert ("terms" in tree.to_dict()) == is_oblique
        assert ("terms" in save_member_tree(tree)) == is_oblique


def test_terms_without_oblique_tests_are_refused():
    fields = make_fields()
    del fields["terms"]
    with pytest.raises(ValueError, match="nodes, record 0: an oblique test must have"):
        GrownTree.from_dict(fields)


def draw_entry(part, rng):
    """A random place of a dictionary of lists, and its holder."""
    while True:
        keys = sorted(part) if isinstance(part, dict) else range(len(part))
        key = keys[rng.integers(len(keys))]
        if not isinstance(part[key], dict | list) or not part[key]:
            return part, key
        part = part[key]


@loop_over("seed", range(200))
def test_random_damage_is_an_error_or_can_be_routed(seed):
    rng = np.random.default_rng(seed)
    fields = copy.deepcopy(make_fields())
    root = fields["terms"] if seed % 2 else fields
    for _ in range(int(rng.integers(1, 3))):
        part, key = draw_entry(root, rng)
        bad = [-1, 0, 1, 2, 3, 2**31 - 1, -(2**31), 1.5, "NaN", 1e308, 1e-320, [], None]
        part[key] = bad[rng.integers(len(bad))]
    try:
        tree = GrownTree.from_dict(fields)
    except ValueError:
        return
    table = rng.choice([-1.0, 0.0, 1.0, 2.0, np.nan, 1e300], (50, tree.n_features))
    assert predict_statistics(tree, table).shape == (50, 1, 1)
