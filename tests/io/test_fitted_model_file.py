"""Models that are no trees in model files: the same to the last bit."""

import dataclasses
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.covariance import OAS
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.registry import list_estimators
from sklearn_textbook.decomposition import PCA, TruncatedSVD
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    NegativeCorrelationRegressor,
)
from sklearn_textbook.io import ModelFileError, load_model, read_model, save_model
from sklearn_textbook.io.saved_attributes import SAVED_ATTRIBUTES
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    MaxEntClassifier,
    OrdinalRegression,
)
from tests.registry import all_instances

STANDARD = {"design_", "classes_", "n_features_in_", "feature_names_in_"}
METHODS = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function"),
    *("transform", "score_samples", "predict_linear", "predict_interval"),
)


def make_rows(seed=0, n_rows=90):
    """Numbers, text and ordered levels without missing values; labels and values."""
    rng = np.random.default_rng(seed)
    size = pd.Categorical(rng.choice(["S", "M", "L"], n_rows), ["S", "M", "L"], True)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "count": rng.integers(0, 6, n_rows).astype(float),
            "colour": rng.choice(["red", "green", "蓝"], n_rows),
            "size": size,
            "flag": rng.random(n_rows) < 0.5,
        }
    )
    score = frame["x"].to_numpy() + (frame["colour"] == "red") + 0.3 * size.codes
    values = score.to_numpy() + rng.normal(size=n_rows)
    labels = np.array(["low", "middle", "高"])[np.digitize(values, [0.3, 1.4])]
    return frame, labels, values


FRAME, LABELS, VALUES = make_rows()
TWO = np.where(VALUES > 0.8, 7, 3)
COUNTS = np.round(np.exp(VALUES / 2))
NUMBERS = FRAME[["x", "count"]].assign(both=FRAME["x"] + FRAME["count"] ** 2)
ORDERS = {"colour": {"red", "green", "蓝", "never"}, "size": ["S", "M", "L"]}
UNKNOWN = {"handle_unknown": "error", "reference_level": "most_frequent"}
BLOCKS = sparse.random(90, 6, 0.5, "csr", rng=0)
MODELS = list_estimators("values")
CASES = {
    "least squares": (LinearRegression(), FRAME, VALUES),
    "ridge": (LinearRegression(alpha=0.5, **UNKNOWN), FRAME, VALUES),
    "positive": (LinearRegression(positive=True, fit_intercept=False), FRAME, VALUES),
    "targets": (LinearRegression(), FRAME, np.column_stack([VALUES, -COUNTS])),
    "one column of targets": (LinearRegression(), FRAME, VALUES[:, np.newaxis]),
    "dependent": (LinearRegression(reference_level=None), FRAME, VALUES),
    "wide": (LinearRegression(), np.random.default_rng(0).random((5, 9)), VALUES[:5]),
    "array": (LinearRegression(weight_type="variance"), NUMBERS.to_numpy(), VALUES),
    "sparse": (LinearRegression(), BLOCKS, VALUES),
    "orders": (LinearRegression(categorical_features=ORDERS), FRAME, VALUES),
    "logistic": (LogisticRegression(), FRAME, TWO),
    "logistic, classes": (LogisticRegression(**UNKNOWN), FRAME, LABELS),
    "firth": (LogisticRegression(firth=True), FRAME, TWO),
    "no intercept": (LogisticRegression(fit_intercept=False), NUMBERS, LABELS),
    "logistic, dependent": (LogisticRegression(reference_level=None), FRAME, LABELS),
    "symmetric": (LogisticRegression(parametrization="symmetric"), FRAME, LABELS),
    "weights": (LogisticRegression(class_weight={3: 1.0, 7: 2.5}), FRAME, TWO),
    "normal": (GeneralizedLinearRegressor(), FRAME, VALUES),
    "poisson": (GeneralizedLinearRegressor(family="poisson"), FRAME, COUNTS),
    "binomial": (GeneralizedLinearRegressor("binomial", "probit"), FRAME, TWO == 7),
    "negative binomial": (
        GeneralizedLinearRegressor("negative_binomial", theta=2.0),
        FRAME,
        COUNTS,
    ),
    "tweedie": (GeneralizedLinearRegressor("tweedie", "log"), FRAME, COUNTS),
    "power link": (
        GeneralizedLinearRegressor("gamma", "power", link_power=0.5),
        NUMBERS,
        COUNTS + 5,
    ),
    "log of y": (
        GeneralizedLinearRegressor(transform_y="log", retransform="smearing"),
        FRAME,
        COUNTS + 1,
    ),
    "dropped": (
        GeneralizedLinearRegressor(dependent_columns="drop", reference_level=None),
        FRAME,
        VALUES,
    ),
    "ordinal": (OrdinalRegression(), FRAME, LABELS),
    "ordinal, text": (
        OrdinalRegression(class_order=["no", "few", "many"]),
        FRAME,
        np.array(["many", "no", "few"])[np.unique(LABELS, return_inverse=True)[1]],
    ),
    "entropy": (MaxEntClassifier(alpha=0.1), FRAME, LABELS),
    "scaling": (MaxEntClassifier(solver="iis", max_iter=5), FRAME, TWO),
    "blocks": (MaxEntClassifier("precomputed", alpha=1.0), BLOCKS, LABELS),
    "components": (PCA(), NUMBERS, None),
    "whitened": (PCA(0.9, whiten=True, standardize=True), NUMBERS.to_numpy(), None),
    "single precision": (PCA(2), NUMBERS.to_numpy(np.float32), None),
    "sparse components": (PCA(2, svd_solver="arpack", random_state=0), BLOCKS, None),
    "truncated": (TruncatedSVD(2, random_state=0), BLOCKS, None),
    "truncated floats": (TruncatedSVD(2), NUMBERS.to_numpy(np.float32), None),
    "negative correlation": (
        NegativeCorrelationRegressor(2, hidden_units=3, random_state=0),
        FRAME,
        VALUES,
    ),
    "linear members": (
        NegativeCorrelationRegressor(
            3, member="linear", early_stopping=True, random_state=0, **UNKNOWN
        ),
        FRAME,
        VALUES,
    ),
    "average of regressions": (BayesianModelAveragingRegressor(), FRAME, VALUES),
    "average of lines, prior": (
        BayesianModelAveragingRegressor(prior=[0, 0.1, 1], max_subset_size=2),
        NUMBERS.to_numpy(),
        VALUES,
    ),
    "average of logistic": (BayesianModelAveragingClassifier(), FRAME, LABELS),
    "average of logistic, two": (
        BayesianModelAveragingClassifier(occam_window=1e9, **UNKNOWN),
        FRAME,
        TWO,
    ),
    "discriminant": (LinearDiscriminantAnalysis(), NUMBERS, LABELS),
    "two classes": (LinearDiscriminantAnalysis(store_covariance=True), NUMBERS, TWO),
    "lsqr": (LinearDiscriminantAnalysis("lsqr", "auto"), NUMBERS, LABELS),
    "eigen": (
        LinearDiscriminantAnalysis("eigen", 0.1, [0.2, 0.3, 0.5]),
        NUMBERS,
        LABELS,
    ),
    "fewer": (
        LinearDiscriminantAnalysis(n_components=1),
        NUMBERS.to_numpy(np.float32),
        LABELS,
    ),
}


def fit(model, X, y=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


def reload(model, path):
    save_model(model, path, target="y")
    return load_model(path)


def list_tables(X):
    return [X, X[:7], X.iloc[::-1]] if hasattr(X, "iloc") else [X, X[:7]]


def no_threads(model):
    return {"n_jobs": None} if hasattr(model, "n_jobs") else {}


def assert_same(loaded, model, X):
    """Both have the same attributes, predict the same, and print the same."""
    for method in METHODS:
        if not hasattr(model, method):
            continue
        for table in list_tables(X):
            try:
                expected = getattr(model, method)(table)
            except (NotImplementedError, ValueError) as error:
                with pytest.raises(type(error)):
                    getattr(loaded, method)(table)
                continue
            found = getattr(loaded, method)(table)
            np.testing.assert_array_equal(found, expected)
            assert np.asarray(found).dtype == np.asarray(expected).dtype
    if hasattr(model, "summary"):
        assert loaded.summary() == model.summary()
    assert loaded.get_params() == {**model.get_params(), **no_threads(model)}
    derived = SAVED_ATTRIBUTES[type(model).__name__].derived
    assert vars(loaded).keys() - {*derived} == vars(model).keys() - {*derived}
    for name, value in vars(model).items():
        if name in STANDARD or name not in vars(loaded):
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind in "fb":
            found = getattr(loaded, name)
            assert found.dtype == value.dtype, name
            assert found.strides == value.strides or found.size < 2, name
            assert found.tobytes() == value.tobytes(), name
    if "design_" in vars(model):
        assert loaded.design_ == model.design_


@pytest.mark.parametrize("name", CASES)
def test_models_are_the_same(tmp_path, name):
    model, X, y = CASES[name]
    model = fit(model, X, y)
    loaded = reload(model, tmp_path / "first.json")
    assert_same(loaded, model, X)
    save_model(loaded, tmp_path / "second.json", target="y")
    first, second = ((tmp_path / f"{n}.json").read_bytes() for n in ("first", "second"))
    assert first == second
    assert_same(pickle.loads(pickle.dumps(loaded)), model, X)


@pytest.mark.parametrize(
    "estimator",
    [
        each
        for each in all_instances()
        if type(each).__name__ in list_estimators("values")
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_parameters_of_all_kinds(tmp_path, estimator):
    X = np.abs(NUMBERS.to_numpy())
    y = COUNTS + 1 if is_regressor(estimator) else LABELS
    model = fit(estimator, X, y)
    for name in {"features", "covariance_estimator"} & model.get_params().keys():
        value = getattr(model, name)
        if value is not None and not isinstance(value, str):
            with pytest.raises(ModelFileError, match=f"parameter {name} has type"):
                save_model(model, tmp_path / "model.json")
            return
    assert_same(reload(model, tmp_path / "model.json"), model, X)


@pytest.mark.parametrize("name", CASES)
def test_every_attribute_of_a_fit_is_declared(name):
    """A fitted attribute that nobody lists would be lost without a word."""
    model, X, y = CASES[name]
    model = fit(model, X, y)
    declared = SAVED_ATTRIBUTES[type(model).__name__]
    listed = {kept.name for kept in declared.declared} | {*declared.derived} | STANDARD
    assert vars(model).keys() - model.get_params().keys() <= listed


def list_records():
    for model in SAVED_ATTRIBUTES.values():
        for kept in model.declared:
            yield from kept.kind if isinstance(kept.kind, tuple) else ()


@pytest.mark.parametrize("record", [*list_records()], ids=lambda r: r.of.__name__)
def test_every_field_of_an_object_is_declared(record):
    fields = dataclasses.fields(record.of)
    assert {kept.name for kept in record.kept} == {field.name for field in fields}


# ------------------------------------------------------------- going on from a file
@pytest.mark.parametrize("model", [LinearRegression(), PCA()], ids=repr)
def test_more_rows_after_loading(tmp_path, model):
    X = NUMBERS.to_numpy()
    for rows in (slice(0, 30), slice(30, 60)):
        model.partial_fit(X[rows], VALUES[rows])
    loaded = reload(model, tmp_path / "model.json")
    for each in (model, loaded):
        each.partial_fit(X[60:], VALUES[60:])
    assert_same(loaded, model, X)


def test_components_of_one_row_so_far(tmp_path):
    model = PCA().partial_fit(np.float32([[1.0, 2.0]]))
    loaded = reload(model, tmp_path / "model.json")
    with pytest.raises(NotFittedError, match="are not enough"):
        _ = loaded.components_
    more = np.float32([[2.0, 1.0], [3.0, 5.0]])
    for each in (model, loaded):
        each.partial_fit(more)
    np.testing.assert_array_equal(loaded.transform(more), model.transform(more))
    assert loaded.components_.dtype == np.float32


def test_components_of_a_matrix(tmp_path):
    model = PCA().fit_covariance([[2.0, 1.0], [1.0, 3.0]])
    loaded = reload(model, tmp_path / "model.json")
    assert_same(loaded, model, np.eye(2))
    assert np.isnan(loaded.singular_values_).all()


def test_warm_start_goes_on(tmp_path):
    model = LogisticRegression(warm_start=True).fit(FRAME, LABELS)
    loaded = reload(model, tmp_path / "model.json").fit(FRAME, LABELS)
    assert loaded.n_iter_[0] <= 1


def test_distribution_from_constraints(tmp_path):
    model = MaxEntClassifier.from_constraints("ABCDE", [{"A", "B"}], [0.3])
    loaded = reload(model, tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.distribution_, model.distribution_)
    assert loaded.classes_.tolist() == list("ABCDE")


def test_large_sparse_table(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "sklearn_textbook.linear_model.least_squares.linear_regression.MAX_SPARSE_WORK",
        0,
    )
    model = LinearRegression().fit(BLOCKS, VALUES)
    assert model._rows is None
    loaded = reload(model, tmp_path / "model.json")
    assert_same_predictions(loaded, model, BLOCKS)
    with pytest.raises(ValueError, match="cannot be updated"):
        loaded.partial_fit(BLOCKS, VALUES)


def assert_same_predictions(loaded, model, X):
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_levels_that_training_did_not_have(tmp_path):
    model = LinearRegression().fit(FRAME, VALUES)
    loaded = reload(model, tmp_path / "model.json")
    with pytest.warns(UserWarning, match="Levels not seen in training"):
        assert_same_predictions(loaded, model, FRAME.assign(colour="never seen"))
    strict = LinearRegression(**UNKNOWN).fit(FRAME, VALUES)
    strict = reload(strict, tmp_path / "strict.json")
    with pytest.raises(ValueError, match="'never seen' that was not seen in training"):
        strict.predict(FRAME.assign(colour="never seen"))


# ------------------------------------------------------------- what is not saved
def test_what_cannot_be_saved(tmp_path):
    path = tmp_path / "model.json"

    def refuse(model, message):
        with pytest.raises(ModelFileError, match=message):
            save_model(model, path)
        assert not path.exists()

    def has_red(x, y):
        return float(x[0] > 0 and y == 7)

    X = NUMBERS.to_numpy()
    refuse(
        MaxEntClassifier([has_red], alpha=1.0).fit(X, TWO),
        "parameter features has type function",
    )
    shrunk = LinearDiscriminantAnalysis("lsqr", covariance_estimator=OAS())
    refuse(shrunk.fit(X, TWO), "parameter covariance_estimator has type OAS")
    refuse(PCA(random_state=np.random.RandomState(0)).fit(X), "give random_state an")
    refuse(LinearRegression(alpha=0.1).fit(X, VALUES).set_params(alpha=-1), "alpha")
    with pytest.raises(NotFittedError):
        save_model(LogisticRegression(), path)

    class Mine(LinearRegression):
        pass

    refuse(Mine().fit(X, VALUES), "Mine cannot be saved as a model file; skops.io.d")
    pipeline = make_pipeline(PCA(2), LinearRegression()).fit(X, VALUES)
    refuse(pipeline, "Pipeline cannot be saved as a model file; skops.io.dump saves")


# ------------------------------------------------------------- what is not read
def write(tmp_path, name):
    model, X, y = CASES[name]
    save_model(fit(model, X, y), tmp_path / "model.json")
    return json.loads((tmp_path / "model.json").read_text("utf-8"))


def change(*place, value):
    def apply(document):
        for key in place[:-1]:
            document = document[key]
        if value is KeyError:
            del document[place[-1]]
        else:
            document[place[-1]] = value

    return apply


DAMAGES = [
    ("least squares", change("kept", "coef_", value=[1.0]), "coef_ must be floats of"),
    ("least squares", change("kept", "coef_", value=[None] * 6), "coef_ has 'None'"),
    ("least squares", change("kept", "intercept_", value="1"), "intercept_ must be"),
    ("least squares", change("kept", "intercept_", value=[1.0]), "do not match"),
    ("least squares", change("kept", "rank_", value=-1), "rank_ must be at least 0"),
    ("least squares", change("kept", "rank_", value=3), "the ranks do not match"),
    ("least squares", change("kept", "rank_", value=2**60), "rank_ must be at most"),
    ("least squares", change("kept", "_solution", value=None), "do not match"),
    (
        "least squares",
        change("kept", "_rows", "record", value="os"),
        "_rows must be an",
    ),
    ("least squares", change("kept", "_rows", "n_rows", value=0), "n_rows must be at"),
    ("least squares", change("kept", "_rows", "mine", value=0), "has no 'mine'"),
    ("least squares", change("kept", "mine_", value=0), "has no 'mine_'"),
    ("least squares", change("terms", value=[]), "terms must be a list of 5 entries"),
    ("least squares", change("terms", 2, value=None), "column 'colour' is nominal"),
    ("least squares", change("terms", 2, "codes", value=[1, 1]), "has duplicate codes"),
    ("least squares", change("terms", 2, "codes", value=[1, 9]), "must be from 0 to"),
    ("least squares", change("terms", 2, "means", value=[0.5]), "finite numbers"),
    ("least squares", change("terms", 2, "means", value=[0.5, None]), "float"),
    (
        "least squares",
        change("terms", 2, value={"codes": [1], "reference": None, "means": [0.5]}),
        "must be floats of shape",
    ),
    ("least squares", change("terms", 0, value={}), "column 'x' is numeric"),
    ("least squares", change("classes", value=[]), "classes must be a list with"),
    ("least squares", change("parameters", "tol", value=-1.0), "'tol' parameter must"),
    ("logistic", change("classes", value=None), "the classes do not match"),
    ("logistic", change("classes", 0, "values", value=[1, 2, 3, 4]), "do not match"),
    ("logistic", change("kept", "n_iter_", value=[]), "n_iter_ and coef_ do not"),
    ("logistic", change("parameters", "fit_intercept", value=False), "do not match"),
    (
        "poisson",
        change("kept", "link_", "record", value="Link"),
        "link_ must be an obj",
    ),
    (
        "power link",
        change("kept", "link_", "exponent", value=0.0),
        "link and exponent 0",
    ),
    ("entropy", change("kept", "_source", "n_classes", value=4), "do not match"),
    (
        "entropy",
        change("parameters", "features", value="precomputed"),
        "must be numeric",
    ),
    ("entropy", change("terms", value=KeyError), "'terms' is missing"),
    ("blocks", change("classes", 0, "values", value=["a", "b"]), "do not match"),
    ("components", change("kept", "components_", value=KeyError), "do not match"),
    ("components", change("kept", "mean_", value=[0.0, 1.0]), "mean_ must be floats"),
    ("whitened", change("kept", "scale_", value=[1.0, 0.0, 1.0]), "do not match"),
    ("components", change("columns", "columns", value=[]), "columns must not be empty"),
    ("truncated", change("kept", "components_", value=[[]]), "components_ must be flo"),
    ("discriminant", change("kept", "_n_features_out", value=9), "do not match"),
    ("discriminant", change("parameters", "solver", value="lsqr"), "solver and scali"),
    ("discriminant", change("parameters", "shrinkage", value=0.5), "shrinkage not sup"),
]


@pytest.mark.parametrize(("name", "damage", "message"), DAMAGES)
def test_damaged_files(tmp_path, name, damage, message):
    document = write(tmp_path, name)
    damage(document)
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError) as caught:
        read_model(tmp_path / "model.json")
    problem = str(caught.value)
    assert "model.json: is damaged: " in problem
    assert message in problem
    assert "\n" not in problem


def test_schema_of_a_saved_model(tmp_path):
    for name in ("least squares", "components", "blocks"):
        write(tmp_path, name)
        model = read_model(tmp_path / "model.json")
        check_is_fitted(model.estimator)
        assert len(model.schema.columns) == model.estimator.n_features_in_
        assert is_classifier(model.estimator) == hasattr(model.estimator, "classes_")
