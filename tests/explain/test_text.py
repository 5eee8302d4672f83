"""The words of tests, numbers and trees, and a tree as indented text."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook.tree.explain import (
    export_graphviz,
    export_rules,
    export_text,
)
from sklearn_textbook.tree.explain.digits import (
    format_fraction,
    format_number,
    shorten_thresholds,
)
from sklearn_textbook.tree.grow.layout import FRACTIONAL, STAY
from tests.explain.builders import (
    MODES,
    TreeBuilder,
    make_estimator,
    make_schema,
    random_tree,
)

COLORS = ("nominal", ("red", "blue", "dark green", "grey"), "category")
SIZES = ("ordinal", ("small", "medium", "large", "huge"), "category")


# ------------------------------------------------------------------- numbers
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (2.5, "2.5"),
        (0.1 + 0.2, "0.3"),
        (1234567.5, "1234567.5"),
        (1234567.4873, "1234567"),
        (2 / 3, "0.6667"),
        (-1 / 3, "-0.3333"),
        (1e-7 / 3, "3.333e-8"),
        (1e20, "1e20"),
        (0.00012345678, "0.0001235"),
        (100000.0, "100000"),
        (math.inf, "inf"),
    ],
)
def test_numbers_have_few_digits(value, text):
    assert format_number(value) == text


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False, width=64),
        min_size=1,
        max_size=20,
    )
)
def test_thresholds_of_a_column_keep_their_order(thresholds):
    texts = shorten_thresholds(thresholds)
    ordered = sorted(texts)
    shown = [float(texts[value]) for value in ordered]
    assert len(set(texts.values())) == len(texts)
    assert shown == sorted(shown)
    for before, value, after in zip(
        [-math.inf, *ordered], ordered, [*ordered[1:], math.inf], strict=False
    ):
        # Nearer to its own threshold than to any other by far.
        gap = min(value - before, after - value)
        assert abs(float(texts[value]) - value) <= gap / 10


def test_near_thresholds_get_the_digits_they_need_and_no_more():
    far = np.full(3, np.inf)
    thresholds = [2.3333333, 2.3333366, 70.123456]
    texts = shorten_thresholds(thresholds, low=-far, high=far)
    assert list(texts.values()) == ["2.3333333", "2.3333366", "70.12"]
    assert list(shorten_thresholds([0.12345], 2).values()) == ["0.12"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(1, "100%"), (0, "0%"), (0.3333, "33.3%"), (0.9999, ">99.9%"), (1e-6, "<0.1%")],
)
def test_shares(share, text):
    assert format_fraction(share) == text


# --------------------------------------------------------------- whole trees
def make_mixed(missing=STAY):
    """Nominal many-way, ordinal and numeric tests; see the text below."""
    builder = TreeBuilder([4, 4, 0])
    builder.add([10, 10, 4])
    red, blue, _, _ = builder.split(
        0, 0, [0, 1, 2, 3], [[5, 1, 0], [2, 8, 1], [3, 1, 3], [10, 10, 4]], missing
    )
    builder.nodes[4] = (*builder.nodes[4][:10], 0, 0.0)  # grey: a branch without rows
    low, _ = builder.split(red, 1, 1.0, [[4, 0, 0], [1, 1, 0]], missing=1)
    builder.split(low, 1, 0.0, [[3, 0, 0], [1, 0, 0]], missing=0)
    builder.split(blue, 2, 2.25, [[2, 0, 0], [0, 8, 1]], missing=0)
    schema = make_schema(("colour", *COLORS), ("size", *SIZES), ("weight",))
    labels = np.array(["no", "yes", "maybe"], dtype=object)
    return make_estimator(builder.build(), schema, labels)


def test_text_of_a_mixed_tree():
    assert export_text(make_mixed()).splitlines() == [
        "|--- colour = red",
        "|   |--- size <= medium",
        "|   |   |--- size = small: no (3 rows, 100%)",
        "|   |   |--- size >= medium: no (1 row, 100%)",
        "|   |--- size >= large: no (2 rows, 50%)",
        "|--- colour = blue",
        "|   |--- weight <= 2.25: no (2 rows, 100%)",
        "|   |--- weight > 2.25: yes (9 rows, 88.9%)",
        "|--- colour = dark green: no (7 rows, 42.9%)",
        "|--- colour = grey: no (0 rows)",
    ]


def test_text_says_where_missing_values_go_in_columns_that_had_some():
    estimator = make_mixed(FRACTIONAL)
    estimator.n_missing_ = np.array([3, 0, 1])
    lines = export_text(estimator).splitlines()
    assert lines[6] == "|   |--- weight <= 2.25 or missing: no (2 rows, 100%)"
    assert lines[-1] == (
        "|--- colour is missing: divided among all branches by their weight"
    )
    assert "or missing" not in "".join(lines[:6])
    estimator = make_mixed(STAY)
    estimator.n_missing_ = np.array([3, 0, 1])
    assert export_text(estimator).splitlines()[-1] == (
        "|--- colour is missing: stops here: no (41.7%)"
    )
    assert "missing" not in export_text(estimator, show_missing=False)
    lines = export_text(estimator, show_missing=True).splitlines()
    assert lines[4] == "|   |--- size >= large or missing: no (2 rows, 50%)"


def test_text_of_a_missing_branch_and_of_presence():
    builder = TreeBuilder([0, 2])
    builder.add([9, 3])
    left, right, _ = builder.split(0, 0, 1.5, [[5, 0], [3, 0], [1, 3]], missing=2)
    builder.split(left, 1, [0, 1], [[2, 0], [3, 0]], missing=1)
    builder.split(right, 1, [0, 0], [[2, 0], [1, 0]], missing=1)
    schema = make_schema(("x",), ("b", "nominal", (False, True), "boolean"))
    estimator = make_estimator(builder.build(), schema, np.array([0, 1]))
    assert export_text(estimator).splitlines() == [
        "|--- x <= 1.5",
        "|   |--- b = false: 0 (2 rows, 100%)",
        "|   |--- b = true: 0 (3 rows, 100%)",
        "|--- x > 1.5",
        "|   |--- b in {false, true}: 0 (2 rows, 100%)",
        "|   |--- b is missing: 0 (1 row, 100%)",
        "|--- x is missing: 1 (4 rows, 75%)",
    ]


def test_text_of_surrogates():
    builder = TreeBuilder([0, 0, 4])
    builder.add([5, 5])
    builder.split(0, 0, 1.5, [[5, 0], [0, 5]], missing=1)
    builder.stand_in(0, 1, 2.5, low_branch=1)
    builder.stand_in(0, 2, [0, 0, 1, -1])
    schema = make_schema(("x",), ("y",), ("colour", *COLORS))
    estimator = make_estimator(builder.build(), schema, np.array([0, 1]))
    estimator.n_missing_ = np.array([1, 0, 0])
    assert export_text(estimator).splitlines() == [
        "|--- x <= 1.5: 0 (5 rows, 100%)",
        "|--- x > 1.5: 1 (5 rows, 100%)",
        (
            "|--- x is missing: first branch if y > 2.5; if y is missing too: colour "
            "in {red, blue}; if all are missing: second branch"
        ),
    ]
    assert export_text(estimator, max_surrogates=1).splitlines()[-1] == (
        "|--- x is missing: first branch if y > 2.5; 1 more surrogate; if all are "
        "missing: second branch"
    )
    assert export_text(estimator, max_surrogates=2) == export_text(estimator)
    with pytest.raises(ValueError, match="max_surrogates must be an integer >= 1"):
        export_text(estimator, max_surrogates=0)


def test_text_stops_at_max_depth_and_counts_the_rest():
    lines = export_text(make_mixed(), max_depth=1, spacing=1).splitlines()
    assert lines[:2] == [
        "|- colour = red",
        "| |- size <= medium: ... 2 leaves in 1 more level; here no (4 rows, 100%)",
    ]
    assert export_text(make_mixed(), max_depth=0).splitlines()[0] == (
        "|--- colour = red: ... 3 leaves in 2 more levels; here no (6 rows, 83.3%)"
    )
    whole = export_text(make_mixed(), max_depth=2)
    assert whole == export_text(make_mixed(), max_depth=None)
    assert "..." not in whole


def test_names_decimals_weights_and_levels_can_be_chosen():
    text = export_text(
        make_mixed(),
        feature_names=["Farbe", "Größe", "Gewicht"],
        class_names=["nein", "ja", "vielleicht"],
        decimals=1,
        show_weights=True,
    )
    assert "|--- Farbe = red\n" in text
    assert "|--- Gewicht <= 2.2: nein (2 rows, 100%; nein 2.0, ja 0.0, " in text


def test_wide_sets_are_counted_and_odd_levels_quoted():
    levels = ("a, b", " c", "", "d{", "e", "f", "g", "h\nh")
    builder = TreeBuilder([8])
    builder.add([5, 5])
    builder.split(0, 0, [0, 0, 0, 0, 0, 0, 1, 1], [[5, 0], [0, 5]], missing=1)
    schema = make_schema(("x", "nominal", levels, "string"))
    estimator = make_estimator(builder.build(), schema, np.array([0, 1]))
    assert export_text(estimator).splitlines() == [
        '|--- x in {"a, b", " c", "", "d{", +2 more}: 0 (5 rows, 100%)',
        "|--- x in {g, h\\nh}: 1 (5 rows, 100%)",
    ]
    assert 'd{", e, f}' in export_text(estimator, max_levels=None)


def test_weights_are_shown_where_they_are_not_the_rows():
    builder = TreeBuilder([0])
    builder.add([0.5, 2.25], n_samples=4)
    estimator = make_estimator(builder.build(), make_schema(("x",)), np.array([0, 1]))
    assert export_text(estimator) == "|--- 1 (4 rows, weight 2.75, 81.8%)\n"


def test_values_and_several_outputs():
    builder = TreeBuilder([0])
    builder.add([[1.25]])
    for node in builder.split(0, 0, 0.5, [[[1 / 3]], [[20000.0]]]):
        builder.set_weight(node, 1)
    estimator = make_estimator(builder.build([]), make_schema(("x",)))
    assert export_text(estimator).splitlines() == [
        "|--- x <= 0.5: 0.3333 (0 rows, weight 1)",
        "|--- x > 0.5: 20000 (20,000 rows, weight 1)",
    ]
    builder = TreeBuilder([0])
    builder.add([[1, 3, 0], [2, 2, 0]])
    tree = builder.build([2, 2])
    classes = [np.array(["a", "b"]), np.array([True, False])]
    estimator = make_estimator(tree, make_schema(("x",)), classes)
    text = export_text(estimator, show_weights=True)
    assert (
        text == "|--- [b, true] (4 rows, [75%, 50%]; [a 1, b 3], [true 2, false 2])\n"
    )


@pytest.mark.parametrize("mode", MODES)
def test_every_leaf_has_its_line(mode):
    for seed in range(8):
        estimator = random_tree(seed, mode, n_outputs=2)
        lines = export_text(estimator, max_depth=None).splitlines()
        tree = estimator.tree_
        assert len(lines) == tree.node_count - 1 + (tree.node_count == 1)
        assert (
            sum(" rows" in line or " row," in line for line in lines) == tree.n_leaves
        )
        assert all(line.isprintable() for line in lines)


def test_deep_trees_have_no_limit_of_recursion():
    builder = TreeBuilder([0])
    node = builder.add([1, 2_000])
    for step in range(2_000):
        _, node = builder.split(node, 0, float(step), [[0, 1], [1, 1_999 - step]])
    estimator = make_estimator(builder.build(), make_schema(("x",)), np.array([0, 1]))
    lines = export_text(estimator, max_depth=None).splitlines()
    assert len(lines) == 4_000
    assert lines[-1].endswith("x > 1999: 0 (1 row, 100%)")
    assert len(export_text(estimator).splitlines()) == 22
    assert len(export_graphviz(estimator).splitlines()) == 6 + 4_001 + 4_000


# -------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": -1}, r"max_depth must be an integer >= 0 or None, got -1"),
        ({"max_depth": 1.5}, r"max_depth must be an integer >= 0 or None, got 1.5"),
        ({"spacing": 0}, r"spacing must be an integer >= 1, got 0"),
        ({"decimals": True}, r"decimals must be an integer >= 0 or None, got True"),
        ({"max_levels": 0}, r"max_levels must be an integer >= 1 or None"),
        ({"feature_names": ["a"]}, r"feature_names must have 3 names.*got 1"),
        ({"feature_names": "abc"}, r"feature_names must have 3 names.*got 'abc'"),
        ({"class_names": ["a", "b"]}, r"class_names must have 3 names.*\['a', 'b'\]"),
        ({"class_names": "abc"}, r"class_names must have 3 names.*'abc'"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        export_text(make_mixed(), **parameters)


def test_class_names_of_several_outputs_are_counted():
    builder = TreeBuilder([0])
    builder.add([[1, 3], [2, 2]])
    classes = [np.array(["a", "b"])] * 2
    estimator = make_estimator(builder.build(), make_schema(("x",)), classes)
    with pytest.raises(ValueError, match="each of the 2 outputs, got 1"):
        export_text(estimator, class_names=[["a", "b"]])


class Unfitted(BaseEstimator):
    def fit(self, X, y):
        return self


@pytest.mark.parametrize("export", [export_text, export_rules, export_graphviz])
def test_estimators_that_are_not_fitted_or_not_ours(export):
    with pytest.raises(NotFittedError):
        export(Unfitted())
    with pytest.raises(TypeError, match=r"got DecisionTreeClassifier.*sklearn\.tree"):
        export(DecisionTreeClassifier().fit([[0], [1]], [0, 1]))
    with pytest.raises(TypeError, match="got str"):
        export("tree")


def test_long_lines_are_broken_between_words():
    builder = TreeBuilder([0, 0])
    builder.add([6, 6])
    left, _ = builder.split(0, 0, 1.5, [[5, 1], [1, 5]], missing=0)
    builder.split(left, 1, 0.5, [[5, 0], [0, 1]], missing=0)
    schema = make_schema(("median household income",), ("x" * 40,))
    estimator = make_estimator(
        builder.build(), schema, np.array(["rather poor", "rather rich"])
    )
    assert export_text(estimator, max_width=40).splitlines() == [
        "|--- median household income <= 1.5",
        f"|   |--- {'x' * 30}",
        f"|   |     {'x' * 10} <= 0.5: rather poor",
        "|   |     (5 rows, 100%)",
        f"|   |--- {'x' * 30}",
        f"|   |     {'x' * 10} > 0.5: rather rich",
        "|   |     (1 row, 100%)",
        "|--- median household income > 1.5:",
        "|     rather rich (6 rows, 83.3%)",
    ]
    assert max(map(len, export_text(estimator).splitlines())) > 70
    with pytest.raises(ValueError, match="max_width must be an integer >= 1 or None"):
        export_text(estimator, max_width=0)
