"""Formulas and interactions of linear models."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sklearn_textbook.io import load_model, save_model, scan
from sklearn_textbook.linear_model import (
    ElasticNet,
    ElasticNetClassifier,
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    anova,
    from_formula,
    slopes,
)
from sklearn_textbook.linear_model.design.terms import parse_expression

pytest.importorskip("formulaic")
MODELS = [
    LinearRegression(),
    GeneralizedLinearRegressor("poisson"),
    LogisticRegression(C=1.0),
    OrdinalRegression(),
    ElasticNet(alpha=0.01, tol=1e-10),
    ElasticNetClassifier(alpha=0.01, tol=1e-10),
]
FORMULA = "x * g + log(z) + poly(x, 2) + bs(z, df=4)"


def make_table(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "g": rng.choice(["a", "b", "c"], n_rows),
            "z": rng.uniform(1.0, 5.0, n_rows),
            "k": rng.integers(0, 3, n_rows),
            "y": rng.integers(0, 2, n_rows),
        }
    )


def make_columns(table):
    """Columns of x * g by hand."""
    is_b, is_c = (table.g == "b").to_numpy(), (table.g == "c").to_numpy()
    x = table.x.to_numpy()
    return np.column_stack([x, is_b, is_c, x * is_b, x * is_c]).astype(float)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("way", ["formula", "interactions", "from_formula"])
def test_a_product_is_a_column(model, way):
    table = make_table()
    by_hand = clone(model).fit(make_columns(table), table.y)
    X = table[["x", "g"]]
    if way == "formula":
        found = (
            clone(model)
            .set_params(formula="x * g")
            .fit(table[["k", "g", "x"]], table.y)
        )
    elif way == "interactions":
        found = clone(model).set_params(interactions=[("x", "g")]).fit(X, table.y)
    else:
        found = from_formula("y ~ x * g", table, model)
    np.testing.assert_allclose(found.coef_, by_hand.coef_, rtol=1e-6, atol=1e-9)
    wanted = ["x", "g=b", "g=c", "x:g=b", "x:g=c"]
    assert found.coef_names_.tolist() == wanted
    # Other columns, and their order, do not matter where a formula names them.
    new = X if way == "interactions" else table[["z", "g", "x"]]
    np.testing.assert_allclose(
        found.predict(new), by_hand.predict(make_columns(table)), rtol=1e-6, atol=1e-9
    )


def test_pairwise_interactions_of_an_array():
    X = make_table()[["x", "z", "k"]].to_numpy(float)
    y = X[:, 0] * X[:, 1]
    model = LinearRegression(interactions="pairwise").fit(X, y)
    assert model.coef_names_.tolist() == ["x0", "x1", "x2", "x0:x1", "x0:x2", "x1:x2"]
    np.testing.assert_allclose(model.coef_, [0, 0, 0, 1, 0, 0], atol=1e-10)
    chosen = LinearRegression(interactions=[(2, 0, 1), (0, 1)]).fit(X, y)
    assert chosen.coef_names_.tolist()[3:] == ["x0:x1", "x2:x0:x1"]


def test_formula_of_an_array_with_levels():
    X = make_table()[["x", "k"]].to_numpy(float)
    model = LinearRegression(formula="x0 * C(x1, Treatment(1))").fit(X, X[:, 0])
    assert model.coef_names_.tolist() == [
        *("x0", "x1=0.0", "x1=2.0", "x0:x1=0.0", "x0:x1=2.0")
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x:g", ["x:g=a", "x:g=b", "x:g=c"]),
        ("g + x:g", ["g=b", "g=c", "x:g=a", "x:g=b", "x:g=c"]),
        ("x / g", ["x", "x:g=b", "x:g=c"]),
        ("C(k)", ["k=1", "k=2"]),
        ("C(g, Treatment('c'))", ["g=a", "g=b"]),
        ("C(g, Treatment(reference='b')) + x", ["g=a", "g=c", "x"]),
        ("(x + z)**2 - x", ["z", "x:z"]),
        (". - g - k", ["x", "z"]),
        (
            "poly(x, degree=2, raw=True)",
            [f"poly(x, degree=2, raw=True)[{k}]" for k in (1, 2)],
        ),
        ("I(x > 0) + `x`", ["I(x > 0)", "x"]),
        ("Q('z') + np.exp(x)", ["z", "np.exp(x)"]),
        ("I(x + 1^2)", ["I(x + 1 ^ 2)"]),
    ],
)
def test_names_of_coefficients(text, names):
    found = from_formula(f"y ~ {text}", make_table())
    assert found.coef_names_.tolist() == names


def test_no_intercept():
    model = from_formula("y ~ 0 + g", make_table())
    assert model.intercept_ == 0.0
    assert model.coef_names_.tolist() == ["g=a", "g=b", "g=c"]
    means = make_table().groupby("g").y.mean()
    np.testing.assert_allclose(model.coef_, means)


@pytest.mark.parametrize("kind", ["pickle", "json"])
def test_saved_models_predict_the_same(kind, tmp_path):
    table = make_table()
    model = from_formula(f"y ~ {FORMULA} + ns(x, df=3) + scale(z)", table, MODELS[2])
    if kind == "pickle":
        other = pickle.loads(pickle.dumps(model))
    else:
        save_model(model, tmp_path / "model.json")
        other = load_model(tmp_path / "model.json")
    new = make_table(50, seed=1)
    assert (other.predict_proba(new) == model.predict_proba(new)).all()
    assert other.coef_names_.tolist() == model.coef_names_.tolist()


def find_terms(document):
    """Find the model terms in a model file."""
    if "model_terms" in document:
        return document["model_terms"]
    inner = [part for part in document.values() if isinstance(part, dict)]
    return next(found for found in map(find_terms, inner) if found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda terms: terms[0]["factors"][0].update(column="w"), "unknown column"),
        (lambda terms: terms[3]["factors"][0].update(expression="f(x)"), "not a term"),
        (lambda terms: terms[0].update(indicator="x"), "factors or an indicator"),
    ],
)
def test_damaged_terms_in_a_model_file_are_refused(change, message, tmp_path):
    model = from_formula("y ~ x * g + log(z)", make_table())
    save_model(model, tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    terms = find_terms(document)
    order = sorted(terms, key=lambda term: "expression" in term["factors"][0])
    change([*order[:3], order[-1]])
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "model.json")


def test_weights_are_copies():
    table = make_table()
    count = np.random.default_rng(3).integers(0, 4, len(table))
    copies = table.loc[table.index.repeat(count)]
    text = "y ~ poly(x, 3) + bs(z, df=5) + scale(k):g"
    found = from_formula(text, table.assign(w=count), sample_weight="w")
    other = from_formula(text, copies)
    np.testing.assert_allclose(found.coef_, other.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("formula", ["x * g + log(z) + poly(k, 2)", "bs(z, df=5) * g"])
def test_blocks_have_the_same_bits(formula, tmp_path):
    table = make_table(150_000)
    table.to_parquet(tmp_path / "table.parquet")
    X = table.drop(columns="y")
    memory = LinearRegression(formula=formula).fit(X, table.y)
    source = scan(tmp_path / "table.parquet")
    stored = LinearRegression(formula=formula).fit(source, "y")
    assert (memory.coef_ == stored.coef_).all()
    assert memory.intercept_ == stored.intercept_
    assert stored.feature_names_in_.tolist() == memory.feature_names_in_.tolist()
    again = from_formula(f"y ~ {formula}", scan(tmp_path / "table.parquet"))
    assert (again.coef_ == memory.coef_).all()
    assert (stored.predict(source) == memory.predict(X)).all()


def test_partial_fit_uses_the_terms_of_the_first_rows():
    table = make_table()
    table.g = pd.Categorical(table.g)
    X = table.drop(columns="y")
    text = "x * g + poly(z, 2, raw=True)"
    parts = LinearRegression(formula=text)
    parts.partial_fit(X[:80], table.y[:80]).partial_fit(X[80:], table.y[80:])
    whole = LinearRegression(formula=text).fit(X, table.y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)


def test_missing_values():
    table = make_table()
    table.loc[::7, "x"] = np.nan
    table["unused"] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        from_formula("y ~ x * g", table)
    dropped = from_formula("y ~ x * g", table, LinearRegression(missing="drop"))
    by_hand = from_formula("y ~ x * g", table[table.x.notna()])
    np.testing.assert_allclose(dropped.coef_, by_hand.coef_)
    assert dropped.n_dropped_ == table.x.isna().sum()
    filled = from_formula("y ~ x * g + exp(x)", table, LinearRegression(missing="mean"))
    names = filled.coef_names_.tolist()
    assert names.count("missing(x)") == 1
    assert not any("missing" in name for name in names if ":" in name)
    only = from_formula("y ~ exp(x)", table, LinearRegression(missing="mean"))
    assert only.coef_names_.tolist() == ["exp(x)", "missing(x)"]


def test_unseen_levels():
    table = make_table()
    model = from_formula("y ~ x * g", table)
    new = pd.DataFrame({"x": [1.0], "g": ["d"]})
    with pytest.warns(UserWarning, match="not seen in training"):
        found = model.predict(new)
    share = table.g.value_counts(normalize=True)
    per_level = [
        model.predict(pd.DataFrame({"x": [1.0], "g": [g]}))[0] for g in share.index
    ]
    np.testing.assert_allclose(found, share.to_numpy() @ per_level)
    strict = from_formula("y ~ x * g", table, LinearRegression(handle_unknown="error"))
    with pytest.raises(ValueError, match="not seen in training"):
        strict.predict(new)


def test_polars_and_sparse_tables():
    table = make_table()
    found = from_formula("y ~ x * g", pl.from_pandas(table))
    np.testing.assert_allclose(found.coef_, from_formula("y ~ x * g", table).coef_)
    X = table[["x", "z", "k"]].to_numpy(float)
    dense = LinearRegression(interactions="pairwise").fit(X, table.y)
    rare = LinearRegression(interactions="pairwise").fit(sparse.csr_array(X), table.y)
    np.testing.assert_allclose(rare.coef_, dense.coef_, rtol=1e-9)
    np.testing.assert_allclose(rare.predict(sparse.csr_array(X)), dense.predict(X))


def test_penalties_of_terms():
    table = make_table()
    model = ElasticNet(
        alpha=0.01,
        formula="x * g",
        grouped_levels=True,
        penalty_factors={"x": 0.0, "x:g": 100.0},
    )
    found = model.fit(table, table.x + 0.1 * table.z)
    assert found.coef_names_.tolist() == ["x", "g=b", "g=c", "x:g=b", "x:g=c"]
    assert found.coef_[0] == pytest.approx(1.0, abs=0.05)
    assert (found.coef_[3:] == 0.0).all()


def test_many_products_are_sparse():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {name: rng.integers(0, 80, 9_000).astype(str) for name in "gh"}
    )
    y = rng.normal(size=len(table))
    model = LinearRegression(formula="g:h", fit_intercept=False, alpha=1.0).fit(
        table, y
    )
    matrix = model.design_.read(table)
    assert sparse.issparse(matrix)
    assert matrix.shape == (9_000, 6_400)
    assert (matrix.sum(axis=1) == 1.0).all()
    assert matrix.nnz == 9_000


def test_terms_live_in_pipelines_and_searches():
    table = make_table()
    table["y"] = table.x * (table.g == "b") + 0.1 * table.z
    search = GridSearchCV(
        make_pipeline(LinearRegression()),
        {"linearregression__formula": ["x + g + z", "x * g + z"]},
    )
    search.fit(table.drop(columns="y"), table.y)
    assert search.best_params_ == {"linearregression__formula": "x * g + z"}


def test_slopes_differ_by_level():
    table = make_table()
    table["y"] = table.x * (1.0 + 2.0 * (table.g == "b"))
    model = from_formula("y ~ x * g", table)
    found = slopes(model, table, "x", by="g")
    np.testing.assert_allclose(found.estimates, [1.0, 3.0, 1.0], rtol=1e-6)


def test_a_tested_column_has_all_its_terms():
    table = make_table()
    table["y"] = table.x * (1.0 + 2.0 * (table.g == "b")) + 0.1 * table.z
    model = from_formula("y ~ x * g + z", table, LinearRegression())
    assert anova(model).names[:-1] == ("x", "g", "z", "x:g")


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ x + w", "'w', which is no column"),
        ("y ~ x +", "cannot be read"),
        ("y ~ __import__('os').system('true')", "cannot be read"),
        ("y ~ x.__class__", "no column"),
        ("y ~ I(open('f'))", "not a term of a formula"),
        ("y ~ (lambda: x)()", "no column"),
        ("y ~ log(g)", "has levels"),
        ("y ~ offset(x)", "offset= or exposure="),
        ("y ~ poly(x, 0)", "degree must be an integer"),
        ("y ~ poly(k, 3)", "requires more than"),
        ("y ~ poly(x, z)", "must be numbers"),
        ("y ~ bs(x, df=2)", "df must be an integer from 3"),
        ("y ~ bs(x, knots=[9.0])", "knots that ascend inside"),
        ("y ~ bs(x, df=4, knots=[0.0])", "df or knots"),
        ("y ~ bs(x, width=4)", "arguments after the column are"),
        ("y ~ C(g, Sum)", "differences from a reference level"),
        ("y ~ C(g, Treatment('d'))", "must be one of the levels"),
        ("y ~ C(x + 1)", "name of a column"),
        ("y ~ log(x)", "infinity|NaN"),
        ("y ~ I(2 + 3)", "no column|cannot be read"),
        ("~ x", "must have a target"),
        ("y ~ x ~ z", "one '~'"),
        ("y ~ 1", "no terms besides the intercept"),
    ],
)
def test_wrong_formulas(formula, message):
    with pytest.raises(ValueError, match=message):
        from_formula(formula, make_table())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"formula": "x", "interactions": "pairwise"}, "not both"),
        ({"formula": "y ~ x"}, "what follows '~'"),
        ({"formula": "0 + x"}, "set fit_intercept=False"),
        ({"interactions": "all"}, "interactions must be None"),
        ({"interactions": [("x",)]}, "interactions must be None"),
        ({"interactions": [("x", "x")]}, "interactions must be None"),
        ({"interactions": [("x", "w")]}, "'w', which is no column"),
        ({"interactions": ["x"]}, "interactions must be None"),
    ],
)
def test_wrong_parameters(parameters, message):
    table = make_table()
    with pytest.raises(ValueError, match=message):
        LinearRegression(**parameters).fit(table.drop(columns="y"), table.y)


def test_wrong_types():
    table = make_table()
    with pytest.raises(TypeError, match="must be a string"):
        from_formula(3, table)
    with pytest.raises(TypeError, match="must be a data frame"):
        from_formula("y ~ x", table.to_numpy())
    with pytest.raises(TypeError, match="parameter 'formula'"):
        from_formula("y ~ x", table, MODELS)
    with pytest.raises(ValueError, match="'w' is no column"):
        from_formula("y ~ x", table, sample_weight="w")
    with pytest.raises(ValueError, match="no column 'g'"):
        from_formula("y ~ x * g", table).predict(table[["x", "z"]])


def test_powers_are_those_of_r():
    table = make_table()
    found = from_formula("z ~ I(x + 2^2 * x^2)", table)
    other = from_formula("z ~ I(x + 2**2 * x**2)", table)
    assert found.coef_ == other.coef_


def test_expressions_run_nothing():
    for text in ("x if x else 1", "[x for x in y]", "x()", "f'{x}'", "x[0]", "x @ y"):
        with pytest.raises(ValueError, match="not a term|cannot be read"):
            parse_expression(text)
