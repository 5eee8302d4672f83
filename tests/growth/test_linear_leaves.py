"""Linear equations in leaves: against a reference in plain Python, and properties."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV, KFold

from sklearn_textbook.ensemble import BaggingRegressor
from sklearn_textbook.exchange import (
    read_trees,
    to_onnx,
    to_pmml,
    to_shap,
    to_sklearn,
)
from sklearn_textbook.inspection import shap_values
from sklearn_textbook.io import load_model, save_model, scan
from sklearn_textbook.tree import (
    CARTRegressor,
    CostComplexityPruning,
    export_rules,
    export_text,
    to_html,
)
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.target import Target
from sklearn_textbook.tree.prune import Rows
from sklearn_textbook.tree.route import fit_leaf_equations
from tests.reference.linear_leaves import choose_leaves, fit_equations, predict

N_TABLES = 25


def make_table(rng):
    """Numbers of any scale and offset with gaps, levels, and a piecewise target."""
    n, n_numeric = int(rng.integers(60, 250)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, n_numeric))
    y = X @ rng.normal(size=n_numeric) + np.where(X[:, 0] > 0, 3 * X[:, -1], 0.0)
    y += rng.choice([0.01, 0.3, 2.0]) * rng.normal(size=n)
    X = X * 10.0 ** rng.integers(-3, 4, n_numeric) + rng.choice([0.0, 100.0])
    if rng.random() < 0.5:
        X[rng.random(X.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(n_numeric)])
    if rng.random() < 0.5:
        codes = rng.integers(0, 4, n)
        y = y + np.array([0.0, 3.0, -2.0, 5.0])[codes]
        frame["level"] = pd.Categorical.from_codes(codes, list("abcd"))
    if rng.random() < 0.5:
        codes = rng.integers(0, 5, n)
        frame["size"] = pd.Categorical.from_codes(codes, list("vwxyz"), ordered=True)
        y = y + codes
    weight = rng.choice([None, 1]) and rng.integers(0, 4, n).astype(float)
    return frame, y, weight


@pytest.mark.parametrize("seed", range(N_TABLES))
def test_reference(seed):
    rng = np.random.default_rng(seed)
    X, y, weight = make_table(rng)
    shrinkage = float(rng.choice([0.0, 1.0, 3.0]))
    total = len(y) if weight is None else weight.sum()
    settings = {"min_weight_fraction_leaf": 10.0 / total, "handle_unknown": "parent"}
    settings["missing"] = str(rng.choice(["learned", "branch", "surrogate"]))
    grown = CARTRegressor(**settings).fit(X, y, weight)
    matrix = grown.schema_.read(X)
    w = np.ones(len(y)) if weight is None else weight
    is_number = np.array(grown.schema_.kinds) != "nominal"
    columns = np.flatnonzero(is_number).tolist()
    equations = fit_equations(grown.tree_, matrix, y, w, columns, shrinkage)
    leaves = choose_leaves(grown.tree_, equations)
    model = CARTRegressor(
        leaf_model="linear", leaf_shrinkage=shrinkage, **settings
    ).fit(X, y, weight)
    assert model.get_n_leaves() == len(leaves)
    new = matrix[rng.permutation(len(matrix))] * 1.1
    is_level = np.array(model.schema_.n_levels) > 0
    new[:, is_level] = matrix[:, is_level]
    expected = predict(grown.tree_, equations, leaves, new)
    found = model.tree_.predict(new)[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.ptp(y))
    kept = sorted(leaves)
    ends = np.flatnonzero(model.tree_.is_leaf)
    risks = sorted(equations[leaf].risk / equations[leaf].n for leaf in kept)
    np.testing.assert_allclose(
        np.sort(model.tree_.impurity[ends]), risks, rtol=1e-6, atol=1e-9 * np.var(y)
    )
    full = fit_leaf_equations(
        grown.tree_,
        Rows(matrix, Target(None, y[:, np.newaxis].copy(), np.array([1])), weight),
        is_number,
        shrinkage,
    )
    for node, one in enumerate(equations):
        slopes = full.slopes[full.slopes["node"] == node]
        errors = dict(zip(slopes["feature"].tolist(), slopes["error"], strict=True))
        assert errors == pytest.approx(one.errors, rel=1e-3, abs=1e-7 * np.ptp(y))
        found = dict(zip(slopes["feature"].tolist(), slopes["weight"], strict=True))
        assert found == pytest.approx(one.slopes, rel=1e-5)


def make_rows(n=400, seed=0):
    """Numbers, gaps and levels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["level"] = pd.Categorical.from_codes(rng.integers(0, 3, n), list("xyz"))
    y = np.where(X["a"] > 0, 2 * X["b"], -X["c"]) + (X["level"] == "x") * 2.0
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    return X, y.to_numpy() + 0.1 * rng.normal(size=n)


def fit_linear(X, y, weight=None, **settings):
    return CARTRegressor(leaf_model="linear", **settings).fit(X, y, weight)


def test_a_linear_target_is_one_leaf():
    X, _ = make_rows()
    model = fit_linear(X, 3.0 + 2.0 * X["d"].to_numpy())
    assert model.get_n_leaves() == 1
    (slope,) = model.tree_.slopes
    assert slope["feature"] == 3
    assert slope["weight"] == pytest.approx(2.0, rel=1e-12)
    assert export_text(model) == "|--- 3 + 2 (0)*d (400 rows)\n"


def test_better_than_constants_on_other_rows():
    X, y = make_rows(2000)
    train, test = slice(0, 1000), slice(1000, None)
    scores = [
        CARTRegressor(pruning="cost_complexity", leaf_model=kind)
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for kind in ("constant", "linear")
    ]
    assert 1.0 - scores[1] < 0.7 * (1.0 - scores[0])


def test_weights_are_copies():
    X, y = make_rows()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = fit_linear(X, y, weight)
    copied = fit_linear(X.loc[X.index.repeat(weight)], np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), copied.predict(X), rtol=1e-9)


@pytest.mark.parametrize("factor", [0.25, 1.0, 2.0**40])
def test_scale_by_powers_of_two(factor):
    X, y = make_rows()
    model, other = fit_linear(X, y), X.copy()
    other[["a", "b", "c", "d"]] *= factor
    scaled = fit_linear(other, 8.0 * y)
    np.testing.assert_array_equal(scaled.predict(other), 8.0 * model.predict(X))


def test_large_offsets():
    X, y = make_rows()
    expected = fit_linear(X, y).predict(X)
    X[["a", "b", "c", "d"]] += 2.0**26
    # Numbers lose 26 bits; slopes are computed from the differences.
    found = fit_linear(X, y).predict(X)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_collinear_and_constant_columns():
    X, y = make_rows()
    X["e"] = 2.0 * X["a"] - X["d"]
    X["f"] = X["a"]
    X["g"] = 7.0
    expected = fit_linear(X[["a", "b", "c", "d", "level"]], y)
    expected = expected.score(X[["a", "b", "c", "d", "level"]], y)
    model = fit_linear(X, y)
    assert np.isfinite(model.tree_.slopes["weight"]).all()
    assert model.score(X, y) >= expected - 0.01
    assert np.abs(model.tree_.slopes["weight"]).max() < 1e3


def test_missing_value_counts_as_mean():
    X = np.arange(40.0)[:, np.newaxis]
    model = fit_linear(X, 5.0 * X[:, 0])
    assert model.get_n_leaves() == 1
    assert model.predict([[np.nan]]) == pytest.approx(5.0 * 19.5)


def test_predictions_stay_in_the_range_of_the_leaf():
    X = np.arange(40.0)[:, np.newaxis]
    model = fit_linear(X, 5.0 * X[:, 0])
    assert model.predict([[1e9], [-1e9]]).tolist() == [195.0, 0.0]


def test_threads_and_forms():
    X, y = make_rows(5000)
    model = fit_linear(X, y, n_jobs=1, pruning="cost_complexity")
    again = fit_linear(X, y, n_jobs=4, pruning="cost_complexity")
    expected = model.predict(X)
    np.testing.assert_array_equal(again.predict(X), expected)
    rows = np.concatenate([model.predict(X[i : i + 500]) for i in range(0, 5000, 500)])
    np.testing.assert_array_equal(rows, expected)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), expected)
    matrix = model.schema_.read(X)
    tree = GrownTree.from_dict(json.loads(json.dumps(model.tree_.to_dict())))
    for one in (type(model.tree_).from_grown(tree), model.tree_.compact()):
        np.testing.assert_array_equal(one.predict(matrix)[:, 0], expected)


def test_sparse_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)) * (rng.random((300, 6)) < 0.4)
    y = X[:, 2] + 3.0 * X[:, 4] * (X[:, 1] > 0)
    dense, sparse = fit_linear(X, y), fit_linear(csr_array(X), y)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(csr_array(X)))


def test_divided_rows_average_equations():
    X, y = make_rows()
    model = fit_linear(X, y, handle_unknown="fractional")
    new = X.iloc[:5].copy()
    new["level"] = "unknown"
    matrix = model.schema_.read(new)
    path = model.tree_.decision_path(matrix).toarray().astype(bool)
    tree = model.tree_
    for row in range(5):
        parts = {0: 1.0}
        total = 0.0
        for node in np.flatnonzero(path[row]):
            record = tree.nodes[node]
            children = [
                c
                for c in range(
                    record["first_child"],
                    record["first_child"] + record["n_children"],
                )
                if path[row, c]
            ]
            if not children:
                one = tree.slopes[tree.slopes["node"] == node]
                terms = one["weight"] * (matrix[row, one["feature"]] - one["center"])
                value = tree.statistics[node, 0, 0] + np.nan_to_num(terms).sum()
                total += parts[node] * np.clip(value, *tree.bounds[node])
            weights = tree.nodes["weight"][children]
            for child, weight in zip(children, weights, strict=True):
                parts[child] = parts[node] * weight / weights.sum()
        assert model.predict(new)[row] == pytest.approx(total, rel=1e-12)


def test_scorers_see_equations():
    X, y = make_rows()
    by_loss = fit_linear(X, y, pruning=CostComplexityPruning(KFold(3), rule="min"))
    by_scorer = fit_linear(
        X,
        y,
        pruning=CostComplexityPruning(
            KFold(3), rule="min", scoring="neg_mean_squared_error"
        ),
    )
    np.testing.assert_allclose(
        by_loss.pruning_path_["cv_risk"][:-1],
        by_scorer.pruning_path_["cv_risk"][:-1],
        rtol=0.02,
    )


def test_validation_rows():
    X, y = make_rows(800)
    model = CARTRegressor(leaf_model="linear", pruning="reduced_error").fit(
        X[:500], y[:500], X_val=X[500:], y_val=y[500:]
    )
    # What the report says is the error of the tree on the validation rows.
    pruned = np.flatnonzero(model.pruning_report_["decision"] == "pruned")
    loss = np.mean((model.predict(X[500:]) - y[500:]) ** 2)
    assert len(pruned)
    assert model.pruning_report_["after"][pruned[-1]] == pytest.approx(loss)


def test_members_of_an_ensemble():
    X, y = make_rows()
    member = CARTRegressor(leaf_model="linear")
    model = BaggingRegressor(member, 5, max_features=0.8, random_state=0).fit(X, y)
    parts = [
        one.predict(X.iloc[:, columns])
        for one, columns in zip(
            model.estimators_, model.estimators_features_, strict=True
        )
    ]
    np.testing.assert_allclose(model.predict(X), np.mean(parts, axis=0))


def test_files_of_an_ensemble(tmp_path):
    X, y = make_rows()
    member = CARTRegressor(leaf_model="linear")
    model = BaggingRegressor(member, 3, random_state=0).fit(X, y)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_table_in_blocks(tmp_path):
    X, y = make_rows()
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    table = pd.read_csv(tmp_path / "table.csv")
    X, y = table[list(X)], table["y"]
    blocks = CARTRegressor(leaf_model="linear").fit(scan(tmp_path / "table.csv"), "y")
    np.testing.assert_array_equal(blocks.predict(X), fit_linear(X, y).predict(X))


def test_a_small_table_is_a_leaf():
    X, y = make_rows()
    model = fit_linear(X[:5], y[:5])
    np.testing.assert_allclose(model.predict(X[:5]), y[:5].mean())


def test_pruning_path():
    X, y = make_rows()
    path = CARTRegressor(leaf_model="linear").cost_complexity_pruning_path(X, y)
    assert np.all(np.diff(path.impurities) >= 0.0)
    for step in (3, 10):
        alpha = (path.ccp_alphas[step] + path.ccp_alphas[step + 1]) / 2
        tree = fit_linear(X, y, ccp_alpha=alpha).tree_
        leaves = tree.nodes[tree.is_leaf]
        risk = (leaves["weight"] * leaves["impurity"]).sum() / len(y)
        assert risk == pytest.approx(path.impurities[step])


def test_light_weights_warn():
    X, y = make_rows()
    with pytest.warns(UserWarning, match="too few for linear equations"):
        fit_linear(X, y, np.full(len(y), 1.0 / len(y)))


def test_page_has_equations():
    X, y = make_rows()
    model = fit_linear(X, y, max_depth=2)
    page = to_html(model)
    words = export_text(model).splitlines()[-1].split(": ")[-1].split(" (")[0]
    assert words in page


def test_grid_search():
    X, y = make_rows()
    search = GridSearchCV(CARTRegressor(), {"leaf_model": ["constant", "linear"]}).fit(
        X, y
    )
    assert search.best_params_ == {"leaf_model": "linear"}


def test_rules_have_the_equation():
    X, y = make_rows()
    model = fit_linear(X, y, max_depth=1)
    rules = export_rules(model, "dict")
    matrix = model.schema_.read(X)
    nodes = model.apply(X)
    names = {name: j for j, name in enumerate(X.columns)}
    found = np.empty(len(y))
    for rule in rules:
        rows = nodes == rule["node"]
        value = np.full(rows.sum(), rule["value"])
        for slope in rule["slopes"]:
            x = matrix[rows, names[slope["feature"]]]
            value += slope["weight"] * np.nan_to_num(x - slope["center"])
        found[rows] = np.clip(value, rule["low"], rule["high"])
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)


@pytest.mark.parametrize(
    "export",
    [
        read_trees,
        to_sklearn,
        lambda model: export_rules(model, "python"),
        lambda model: export_rules(model, "sql"),
        to_onnx,
        to_pmml,
        to_shap,
        lambda model: shap_values(model, make_rows()[0]),
    ],
)
def test_exports_without_equations_refuse(export):
    with pytest.raises(ValueError, match="linear equations in its leaves"):
        export(fit_linear(*make_rows()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"leaf_model": "cubic"}, "leaf_model"),
        ({"leaf_shrinkage": -1.0}, "leaf_shrinkage"),
        ({"criterion": "absolute_error"}, "criterion='squared_error'"),
        ({"monotonic_cst": {"a": 1}}, "monotonic_cst"),
    ],
)
def test_wrong_values(settings, message):
    X, y = make_rows()
    settings = {"leaf_model": "linear", **settings}
    with pytest.raises(ValueError, match=message):
        CARTRegressor(**settings).fit(X, y)


def test_several_outputs():
    X, y = make_rows()
    with pytest.raises(ValueError, match="1d array"):
        fit_linear(X, np.column_stack([y, y]))
