"""Routing: the kernels against the reference, scikit-learn, trees made by hand."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.grow.layout import (
    DENSE_MAP,
    FRACTIONAL,
    NOMINAL,
    NUMERIC,
    ORDINAL,
    STAY,
    SURROGATE_DTYPE,
)
from sklearn_textbook.tree.route import (
    find_decision_path,
    find_leaves,
    predict_statistics,
    walk,
)
from tests.explain.builders import MODES, random_rows, random_tree
from tests.loops import loop_over
from tests.reference import route as reference
from tests.tree_builders import (
    convert_sklearn_tree,
    make_nodes,
    make_tree,
    random_shape,
)


def random_numeric_tree(rng, n_inner, n_features, **fields):
    """A tree of random thresholds and missing branches."""
    nodes = make_nodes(random_shape(rng, n_inner))
    inner = nodes["n_children"] > 0
    count = np.count_nonzero(inner)
    nodes["feature"][inner] = rng.integers(0, n_features, count)
    nodes["threshold"][inner] = rng.choice([-1.5, -0.5, 0.0, 0.5, np.inf], count)
    nodes["missing_branch"][inner] = rng.integers(0, 2, count)
    nodes["weight"] = rng.integers(1, 9, len(nodes))
    return make_tree(nodes, n_features=n_features, **fields)


def random_table(rng, shape, missing=0.1):
    table = rng.integers(-4, 5, shape) / 2
    table[rng.random(shape) < missing] = np.nan
    return table


def split(nodes, node, kind=NUMERIC, feature=0, threshold=0.0, missing=STAY, start=-1):
    for name, value in (
        ("kind", kind),
        ("feature", feature),
        ("threshold", threshold),
        ("missing_branch", missing),
        ("map_start", start),
    ):
        nodes[name][node] = value


# ------------------------------------------------------------- against the reference
@loop_over("handle_unknown", ["parent", "fractional"])
@loop_over("mode", MODES)
@loop_over("seed", range(12))
def test_random_tree_equals_reference(seed, mode, handle_unknown):
    n_classes, n_outputs = [(3, 1), (2, 2), (0, 1), (0, 2)][seed % 4]
    estimator = random_tree(seed, mode, handle_unknown, n_classes, n_outputs)
    tree = estimator.tree_
    rng = np.random.default_rng(seed)
    table = random_rows(rng, estimator.schema_, 150, with_unseen=True)
    np.testing.assert_array_equal(
        find_leaves(tree, table), reference.find_leaves(tree, table)
    )
    path = find_decision_path(tree, table)
    np.testing.assert_array_equal(
        path.toarray(), reference.find_decision_path(tree, table)
    )
    np.testing.assert_allclose(
        predict_statistics(tree, table),
        reference.predict_statistics(tree, table),
        rtol=1e-13,
        atol=1e-13,
    )


@pytest.mark.parametrize("missing_branch", [0, 1, STAY, FRACTIONAL])
@pytest.mark.parametrize("n_features", [3, 70])
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_numeric_tree_equals_reference(
    monkeypatch, missing, n_features, missing_branch
):
    monkeypatch.setattr(walk, "_MIN_ROWS_PER_NODE", 0)
    rng = np.random.default_rng(n_features)
    tree = random_numeric_tree(rng, 60, n_features)
    nodes = tree.nodes.copy()
    inner = nodes["n_children"] > 0
    nodes["missing_branch"][inner & (rng.random(len(nodes)) < 0.5)] = missing_branch
    tree = tree.replace(nodes=nodes)
    table = random_table(rng, (203, n_features), missing)
    np.testing.assert_array_equal(
        find_leaves(tree, table), reference.find_leaves(tree, table)
    )
    np.testing.assert_allclose(
        predict_statistics(tree, table), reference.predict_statistics(tree, table)
    )


# ------------------------------------------------------------- one result, many ways
def table_forms(table):
    """The same table in every form that is read."""
    doubled = np.repeat(np.repeat(table, 2, axis=0), 3, axis=1)
    locked = table.copy()
    locked.flags.writeable = False
    unaligned = np.zeros(table.nbytes + 1, np.uint8)[1:].view(table.dtype)
    unaligned = unaligned.reshape(table.shape)
    unaligned[:] = table
    return {
        "Fortran order": np.asfortranarray(table),
        "every second row, every third column": doubled[::2, ::3],
        "backwards": np.ascontiguousarray(table[::-1, ::-1])[::-1, ::-1],
        "read-only": locked,
        "unaligned": unaligned,
        "other byte order": table.astype(table.dtype.newbyteorder()),
        "float32": table.astype(np.float32),
        "float32, Fortran order": np.asfortranarray(table, dtype=np.float32),
        "float32, every second row": doubled.astype(np.float32)[::2, ::3],
        "list": table.tolist(),
        "CSR": sparse.csr_array(table),
        "CSC matrix": sparse.csc_matrix(table),
        "COO, float32": sparse.coo_array(table.astype(np.float32)),
    }


FORMS = sorted(table_forms(np.zeros((2, 2))))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["learned", "fractional", "surrogate", "numeric"])
def test_every_form_of_table_gives_the_same(monkeypatch, mode, form):
    monkeypatch.setattr(walk, "_MAX_DENSE_ENTRIES", 100)
    rng = np.random.default_rng(5)
    if mode == "numeric":
        tree, table = random_numeric_tree(rng, 40, 5), random_table(rng, (90, 5))
    else:
        estimator = random_tree(3, mode, "fractional")
        tree = estimator.tree_
        table = random_rows(rng, estimator.schema_, 90, with_unseen=True)
    same = table_forms(table)[form]
    for function in (find_leaves, predict_statistics):
        np.testing.assert_array_equal(function(tree, same), function(tree, table))
    path, expected = find_decision_path(tree, same), find_decision_path(tree, table)
    np.testing.assert_array_equal(path.toarray(), expected.toarray())


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float16])
def test_other_numbers_are_converted(dtype):
    tree = random_numeric_tree(np.random.default_rng(0), 20, 3)
    table = np.random.default_rng(1).integers(0, 2, (50, 3)).astype(dtype)
    expected = find_leaves(tree, table.astype(np.float64))
    np.testing.assert_array_equal(find_leaves(tree, table), expected)


@pytest.mark.parametrize("mode", ["learned", "fractional", "numeric"])
def test_threads_do_not_change_the_result(mode):
    rng = np.random.default_rng(6)
    if mode == "numeric":
        tree, table = random_numeric_tree(rng, 60, 4), random_table(rng, (5000, 4))
    else:
        estimator = random_tree(8, mode, "fractional")
        tree = estimator.tree_
        table = random_rows(rng, estimator.schema_, 5000, with_unseen=True)
    for function in (find_leaves, predict_statistics, find_decision_path):
        one, three = (function(tree, table, n_threads=n) for n in (1, 3))
        if sparse.issparse(one):
            one, three = one.toarray(), three.toarray()
        np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("missing_branch", [0, 1, STAY, FRACTIONAL])
def test_fast_walk_equals_full_walk(monkeypatch, missing_branch):
    rng = np.random.default_rng(7)
    tree = random_numeric_tree(rng, 300, 6)
    nodes = tree.nodes.copy()
    nodes["missing_branch"][nodes["n_children"] > 0] = missing_branch
    tree = tree.replace(nodes=nodes)
    table = random_table(rng, (4001, 6), 0.01)
    ends = {}
    for least in (0, np.inf):
        monkeypatch.setattr(walk, "_MIN_ROWS_PER_NODE", least)
        ends[least] = find_leaves(tree, table)
    np.testing.assert_array_equal(ends[0], ends[np.inf])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(8))
def test_fast_walk_of_codes_equals_full_walk(monkeypatch, seed, mode):
    estimator = random_tree(seed, mode, "fractional")
    rng = np.random.default_rng(seed)
    table = random_rows(rng, estimator.schema_, 700, with_unseen=True)
    # Codes that nobody should send, at the edges of what the walk does with codes.
    odd = rng.random(table.shape) < 0.05
    table[odd] = rng.choice([-0.5, -7.0, 5.0, 6.0, 1e300, np.inf], odd.sum())
    ends = {}
    for most in (np.inf, 0):
        monkeypatch.setattr(walk, "_MAX_STEPS_PER_ROW", most)
        ends[most] = find_leaves(estimator.tree_, table)
    np.testing.assert_array_equal(ends[np.inf], ends[0])


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_classes", [0, 3])
def test_packed_tree_equals_full_walk(monkeypatch, n_classes, n_threads):
    rng = np.random.default_rng(n_classes)
    levels = rng.integers(0, 9, (3000, 2)).astype(float)
    table = np.column_stack([levels, rng.normal(size=3000)])
    y = table[:, 0] % 3 + (table[:, 1] > 4) * (table[:, 2] > 0)
    estimator = CARTClassifier if n_classes else CARTRegressor
    fitted = estimator(categorical_features=[0, 1]).fit(table[:40], y[:40])
    statistics = fitted.tree_.statistics.copy()
    statistics[statistics == 0.0] *= -1.0
    tree = fitted.tree_.replace(statistics=statistics)
    table[::7, 0] = -1
    table[::9, 2] = np.nan
    table[::11, 1] = np.nan
    monkeypatch.setattr(walk, "_MIN_PACKED_ROWS", np.inf)
    leaves = find_leaves(tree, table)
    predicted = predict_statistics(tree, table)
    assert (tree.nodes["n_children"][leaves] > 0).mean() > 0.1
    monkeypatch.undo()
    small = tree.compact()
    np.testing.assert_array_equal(find_leaves(small, table, n_threads), leaves)
    again = predict_statistics(small, table, n_threads)
    assert again.tobytes() == predicted.tobytes()
    assert small.is_compact
    path = find_decision_path(tree, table)
    monkeypatch.setattr(walk, "_MIN_PACKED_ROWS", np.inf)
    assert (find_decision_path(tree, table) != path).nnz == 0


# -------------------------------------------------------------- against scikit-learn
@pytest.mark.parametrize("with_missing", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_same_as_scikit_learn(model, n_outputs, with_missing):
    rng = np.random.default_rng(11)
    table = rng.normal(size=(600, 5)).astype(np.float32)
    if with_missing:
        table[rng.random(table.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, (600, n_outputs))
    y[:, 0] += np.nan_to_num(table[:, 0]) > 0
    estimator = model(random_state=0).fit(table, y if n_outputs > 1 else y[:, 0])
    tree, order = convert_sklearn_tree(estimator)
    new = rng.normal(size=(2000, 5)).astype(np.float32)
    if with_missing:
        new[rng.random(new.shape) < 0.1] = np.nan
    np.testing.assert_array_equal(order[find_leaves(tree, new)], estimator.apply(new))
    np.testing.assert_allclose(
        predict_statistics(tree, new),
        estimator.tree_.predict(new).reshape(2000, n_outputs, -1),
    )
    path, expected = find_decision_path(tree, new), estimator.decision_path(new)
    assert isinstance(path, sparse.csr_matrix)
    assert path.data.dtype == expected.data.dtype
    assert path.has_canonical_format
    np.testing.assert_array_equal(path.toarray(), expected.toarray()[:, order])


def test_values_are_not_rounded_to_float32():
    nodes = make_nodes([2, 0, 0])
    split(nodes, 0, threshold=1.0)
    tree = make_tree(nodes)
    above = np.nextafter(1.0, 2.0)
    assert np.float32(above) == 1.0
    np.testing.assert_array_equal(find_leaves(tree, [[1.0], [above]]), [1, 2])


# ------------------------------------------------------------------- trees by hand
def test_third_child_takes_missing_values():
    nodes = make_nodes([3, 0, 0, 0])
    split(nodes, 0, missing=2)
    table = np.array([[0.0], [0.1], [np.nan]])
    np.testing.assert_array_equal(find_leaves(make_tree(nodes), table), [1, 2, 3])


def test_infinite_threshold_parts_present_from_missing():
    nodes = make_nodes([2, 0, 0])
    split(nodes, 0, threshold=np.inf, missing=1)
    table = np.array([[-np.inf], [1e308], [np.inf], [np.nan]])
    np.testing.assert_array_equal(find_leaves(make_tree(nodes), table), [1, 1, 1, 2])


def test_surrogates_stand_in_by_rank():
    nodes = make_nodes([2, 0, 0])
    split(nodes, 0, missing=1)
    surrogates = np.zeros(3, dtype=SURROGATE_DTYPE)
    surrogates["feature"] = [1, 2, 3]
    surrogates["kind"] = [NOMINAL, ORDINAL, NUMERIC]
    surrogates["low_branch"] = [0, 1, 1]
    surrogates["map_start"] = [0, -1, -1]
    surrogates["threshold"] = [np.nan, 1.0, 0.5]
    tree = make_tree(
        nodes,
        n_features=4,
        n_levels=np.array([0, 3, 4, 0]),
        level_branch=np.array([DENSE_MAP, 1, -1, 0], dtype=np.int32),
        surrogates=surrogates,
    )
    nan = np.nan
    cases = {
        (-1.0, 0, 0, 0): 1,  # the test itself
        (nan, 0, 0, 0): 2,  # first surrogate, level 0
        (nan, 2, 0, 0): 1,  # first surrogate, level 2
        (nan, 1, 2, 0): 1,  # its node has not seen level 1: second, high
        (nan, -1, 1, 0): 2,  # never seen: second, low
        (nan, nan, -1, 0.6): 1,  # third, high
        (nan, nan, nan, 0.5): 2,  # third, low
        (nan, nan, nan, nan): 2,  # missing_branch
    }
    ends = find_leaves(tree, np.array(list(cases)))
    assert dict(zip(cases, ends.tolist(), strict=True)) == cases


def make_nominal_tree(handle_unknown, weights=(8, 3, 0, 5)):
    nodes = make_nodes([3, 0, 0, 0])
    split(nodes, 0, NOMINAL, threshold=np.nan, missing=FRACTIONAL, start=0)
    nodes["weight"] = weights
    return make_tree(
        nodes,
        statistics=np.array([[[9.0]], [[1.0]], [[2.0]], [[3.0]]]),
        n_levels=np.array([4]),
        level_branch=np.array([DENSE_MAP, 0, 1, 2, -1], dtype=np.int32),
        handle_unknown=handle_unknown,
    )


def test_unseen_level_stays_with_the_parent():
    tree = make_nominal_tree("parent")
    table = np.array([[0.0], [1.0], [2.0], [3.0], [-1.0], [4.0]])
    np.testing.assert_array_equal(find_leaves(tree, table), [1, 2, 3, 0, 0, 0])
    assert predict_statistics(tree, table)[3, 0, 0] == 9.0


def test_unseen_level_is_divided_among_children_with_weight():
    tree = make_nominal_tree("fractional")
    table = np.array([[3.0], [np.nan], [-1.0]])
    expected = (3 * 1.0 + 5 * 3.0) / 8
    np.testing.assert_array_equal(predict_statistics(tree, table).ravel(), expected)
    np.testing.assert_array_equal(find_leaves(tree, table), 0)
    np.testing.assert_array_equal(
        find_decision_path(tree, table).toarray(), [[1, 1, 0, 1]] * 3
    )


def test_row_stays_where_no_child_has_weight():
    tree = make_nominal_tree("fractional", weights=(0, 0, 0, 0))
    assert predict_statistics(tree, [[np.nan]]).item() == 9.0
    np.testing.assert_array_equal(
        find_decision_path(tree, [[np.nan]]).toarray(), [[1, 0, 0, 0]]
    )


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(
    "function", [find_leaves, predict_statistics, find_decision_path]
)
def test_unseen_level_is_an_error_that_names_row_and_column(
    monkeypatch, function, n_threads, make
):
    monkeypatch.setattr(walk, "_MAX_DENSE_ENTRIES", 2500)
    tree = make_nominal_tree("error")
    nodes = tree.nodes.copy()
    nodes["feature"][0] = 2
    n_levels = np.array([0, 0, 4])
    tree = tree.replace(nodes=nodes, n_features=3, n_levels=n_levels)
    table = np.ones((6000, 3))
    assert function(tree, make(table), n_threads).shape[0] == 6000
    table[[4242, 5999], 2] = -1.0
    with pytest.raises(ValueError, match=r"^Column 2 has a level in row 4242 "):
        function(tree, make(table), n_threads)
    with pytest.raises(ValueError, match=r"^Column 'colour' has a level in row 4242"):
        function(tree, make(table), n_threads, feature_names=["a", "b", "colour"])


def test_unseen_level_below_a_division_is_an_error():
    nodes = make_nodes([2, 2, 0, 0, 0])
    split(nodes, 0, missing=FRACTIONAL)
    split(nodes, 1, NOMINAL, 1, np.nan, start=0)
    tree = make_tree(
        nodes,
        n_features=2,
        n_levels=np.array([0, 2]),
        level_branch=np.array([DENSE_MAP, 0, 1], dtype=np.int32),
        handle_unknown="error",
    )
    table = np.array([[np.nan, 1.0], [np.nan, -1.0]])
    assert predict_statistics(tree, table[:1]).item() == (4 + 2) / 2
    for function in (predict_statistics, find_decision_path):
        with pytest.raises(ValueError, match="Column 1 has a level in row 1 "):
            function(tree, table)


def test_a_code_beyond_the_levels_is_unseen():
    nodes = make_nodes([2, 0, 0])
    split(nodes, 0, ORDINAL, threshold=1.0)
    tree = make_tree(nodes, n_levels=np.array([3]))
    table = np.array([[0.0], [1.0], [2.0], [3.0], [-1.0], [1e300]])
    np.testing.assert_array_equal(find_leaves(tree, table), [1, 1, 2, 0, 0, 0])


def test_tree_of_one_node():
    tree = make_tree(make_nodes([0]))
    for table in (np.full((40, 1), np.nan), sparse.csr_array((40, 1))):
        np.testing.assert_array_equal(find_leaves(tree, table), 0)
        assert predict_statistics(tree, table).shape == (40, 1, 1)
        assert find_decision_path(tree, table).sum() == 40


@pytest.mark.parametrize("make", [np.zeros, sparse.csr_array])
def test_table_without_rows(make):
    tree = random_numeric_tree(np.random.default_rng(0), 5, 2)
    assert find_leaves(tree, make((0, 2))).shape == (0,)
    assert predict_statistics(tree, make((0, 2))).shape == (0, 1, 1)
    assert find_decision_path(tree, make((0, 2))).shape == (0, tree.node_count)


@pytest.mark.parametrize("n_features", [300, 3000])
def test_wide_table(n_features):
    rng = np.random.default_rng(n_features)
    tree = random_numeric_tree(rng, 400, n_features)
    table = random_table(rng, (150, n_features), 0.01)
    expected = reference.find_leaves(tree, table)
    for form in (table, np.asfortranarray(table), sparse.csc_array(table)):
        np.testing.assert_array_equal(find_leaves(tree, form), expected)


def test_deep_chain():
    n_inner = 20_000
    nodes = make_nodes([2] + [2, 0] * (n_inner - 1) + [0, 0])
    inner = np.flatnonzero(nodes["n_children"])
    nodes["threshold"][inner] = -np.arange(n_inner)
    nodes["missing_branch"][inner] = FRACTIONAL
    tree = make_tree(nodes)
    table = np.array([[0.5], [-n_inner - 1.0], [np.nan]])
    assert find_leaves(tree, table).tolist() == [2, tree.node_count - 2, 0]
    path = find_decision_path(tree, table)
    assert path.sum(axis=1).ravel().tolist() == [[2, n_inner + 1, tree.node_count]]
    assert predict_statistics(tree, table)[2].item() == pytest.approx(4.0, abs=1e-9)


# ------------------------------------------------------------------------ bad input
@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 3), (3, 2, 1)])
def test_wrong_shape_is_an_error(shape):
    tree = random_numeric_tree(np.random.default_rng(0), 5, 2)
    with pytest.raises(ValueError, match=r"must have shape \(n_rows, 2\)"):
        find_leaves(tree, np.zeros(shape))


def test_less_than_one_thread_is_an_error():
    tree = random_numeric_tree(np.random.default_rng(0), 5, 2)
    with pytest.raises(ValueError, match="n_threads must be an integer >= 1, got 0"):
        find_leaves(tree, np.zeros((3, 2)), n_threads=0)
