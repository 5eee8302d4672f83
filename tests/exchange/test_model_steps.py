"""Linear models, models that consist of models, and pipelines as source code."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression as StockLogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    AveragingRegressor,
    BaggingClassifier,
    BayesianModelAveragingClassifier,
    OutputCodeClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn_textbook.exchange import export_code
from sklearn_textbook.exchange.model_steps import read_steps
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    MaxEntClassifier,
)
from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor
from tests.exchange.model_cases import CASES, COMPOSED, PIPELINES, fit, predict
from tests.exchange.test_source_code import (
    list_rows,
    run_c,
    run_javascript,
    run_python,
    run_sql,
)


def require_equal(name, predicted, others):
    """Compare classes, and probabilities or values; sums may be rounded differently."""
    _, expected, numbers = predict(name)
    if hasattr(fit(name), "classes_"):
        assert list(predicted) == expected.tolist()
        if numbers is not None:
            assert_allclose(np.array(others), numbers, rtol=0, atol=1e-12)
    else:
        found = np.array(predicted, dtype=float).reshape(numbers.shape)
        assert_allclose(found, numbers, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_python(name):
    rows = list_rows(predict(name)[0])
    require_equal(name, *run_python(export_code(fit(name), "python"), rows))


def test_javascript(tmp_path):
    tasks = [
        (export_code(fit(name), "javascript"), list_rows(predict(name)[0]))
        for name in CASES
    ]
    for name, found in zip(CASES, run_javascript(tasks, tmp_path), strict=True):
        require_equal(name, *found)


@pytest.mark.parametrize("name", CASES)
def test_c(name, tmp_path):
    model = fit(name)
    first, second = run_c(model, predict(name)[0], tmp_path)
    if hasattr(model, "classes_"):
        require_equal(name, model.classes_[first[:, 0]], second)
    else:
        require_equal(name, second, second)


@pytest.mark.parametrize("name", CASES)
def test_sql(name):
    model, (X, expected, numbers) = fit(name), predict(name)
    rows = list_rows(X[:60])
    found = run_sql(export_code(model, "sql"), rows, X)
    if hasattr(model, "classes_"):
        assert found["prediction"].tolist() == expected[:60].tolist()
        return
    values = found.filter(regex="^prediction").to_numpy(float)
    assert_allclose(values, numbers[:60], rtol=1e-12, atol=1e-12)


def test_shares_in_sql():
    """The scores of the last step are the probabilities."""
    X, _, shares = predict("soft votes")
    rows = list_rows(X[:60])
    found = run_sql(export_code(fit("soft votes"), "sql"), rows, X)
    names = [name for name in found if name.startswith("score")]
    scores = found[names[-3:]].to_numpy(float)
    assert_allclose(scores, shares[:60], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [*COMPOSED, *PIPELINES])
def test_number_of_steps(name):
    """A member of its own is a step; what follows from one is not computed again."""
    steps = read_steps(fit(name))
    assert not steps.is_single or name == "rules without any"
    n_values = len(steps.schema.columns)
    for step in steps.steps:
        assert all(place < n_values for place in step.places)
        n_values += sum(step.count_results())


def test_arrays():
    """Columns without names, and rows as sequences."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1.0)).fit(X, y)
    source = export_code(model, "python")
    predicted, shares = run_python(source, X.tolist())
    assert predicted == model.predict(X).tolist()
    assert_allclose(shares, model.predict_proba(X), atol=1e-14)
    module = {}
    exec(source, module)
    assert module["CLASSES"] == ["no", "yes"]
    with pytest.raises(ValueError, match="A row has 2 values, not 3"):
        module["predict"]([1.0, 2.0])


def test_two_models_in_one_c_program(tmp_path):
    """Names that are not static have the prefix of the model, those of steps too."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    names = ["votes", "rules"]
    for number, name in enumerate(names):
        source = export_code(fit(name), prefix=f"m{number}_")
        assert not re.search(r"^ \*.*step_\d", source, re.MULTILINE)  # comments
        (tmp_path / f"m{number}.c").write_text(source)
    command = ["cc", "-shared", "-fPIC", "m0.c", "m1.c", "-o", "both.so", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "both.so"))
    for number, name in enumerate(names):
        X, expected, _ = predict(name)
        matrix = read_steps(fit(name)).schema.read(X[:20]).astype(np.float64)
        function = getattr(library, f"m{number}_predict")
        found = [function((ctypes.c_double * len(row))(*row)) for row in matrix]
        assert_array_equal(fit(name).classes_[found], expected[:20])


# -------------------------------------------------------------------------- refusals
FRAME = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40) % 7})
FRAME["t"] = ["u", "v"] * 20
LABELS = np.where(FRAME["a"] % 5 > FRAME["b"], "yes", "no")
NUMBERS = FRAME[["a", "b"]]
TREES = [("one", C45Classifier()), ("two", CARTClassifier())]


@pytest.mark.parametrize(
    ("model", "X", "words"),
    [
        (KNeighborsClassifier(), NUMBERS, "got KNeighborsClassifier, which cannot"),
        (
            VotingClassifier([*TREES, ("bayes", GaussianNB())]),
            NUMBERS,
            "member 'bayes' of VotingClassifier: .* GaussianNB",
        ),
        (VotingClassifier(TREES, reject_label="?"), FRAME, "reject_label='\\?'"),
        (
            VotingClassifier(TREES, voting="soft", rule="median"),
            FRAME,
            "rule='median' .* rule='mean' can",
        ),
        (
            VotingClassifier(TREES, tie_breaking="random"),
            FRAME,
            "tie_breaking='random' .* 'first' can",
        ),
        (
            VotingClassifier(TREES, calibration="sigmoid", voting="soft"),
            FRAME,
            "member 'one' of VotingClassifier: .* CalibratedClassifierCV",
        ),
        (
            StackingClassifier(TREES, KNeighborsClassifier(), cv=2),
            FRAME,
            "final_estimator of StackingClassifier: .* KNeighborsClassifier",
        ),
        (
            StackingClassifier(TREES, cv=2, stack_method="predict"),
            FRAME,
            "member 'one' .* results of predict of C45Classifier",
        ),
        (
            OutputCodeClassifier(decoding="probability"),
            FRAME,
            "decoding='probability' .* decoding='loss' can",
        ),
        (OutputCodeClassifier(loss="exponential"), FRAME, "loss='exponential'"),
        (
            BaggingClassifier(GaussianNB(), 2),
            NUMBERS,
            "member 0 of BaggingClassifier: .* GaussianNB",
        ),
        (
            BaggingClassifier(LogisticRegression(C=1.0), 2, voting="hard"),
            NUMBERS,
            "voting='hard' of BaggingClassifier",
        ),
        (BayesianModelAveragingClassifier(), NUMBERS, r"on \d+ subsets of the columns"),
        (
            MaxEntClassifier(lambda X, y: np.ones((len(X), 2)) * (y == "yes"), alpha=1),
            NUMBERS,
            "features='columns' only",
        ),
        (
            make_pipeline(PolynomialFeatures(), LogisticRegression(C=1.0)),
            NUMBERS,
            "step 'polynomialfeatures' of Pipeline: PolynomialFeatures cannot",
        ),
        (
            make_pipeline(FunctionTransformer(np.log1p), CARTClassifier()),
            NUMBERS,
            "FunctionTransformer with a function",
        ),
        (
            make_pipeline(MinMaxScaler(clip=True), CARTClassifier()),
            NUMBERS,
            "clip=True of MinMaxScaler",
        ),
        (
            make_pipeline(
                make_column_transformer((OneHotEncoder(min_frequency=2), ["t"])),
                CARTClassifier(),
            ),
            FRAME,
            "step 'columntransformer' .* 'onehotencoder': min_frequency=2",
        ),
        (
            make_pipeline(SimpleImputer(missing_values=-1), CARTClassifier()),
            NUMBERS,
            "missing_values=-1 of SimpleImputer",
        ),
        (
            make_pipeline(
                make_column_transformer(
                    (SimpleImputer(strategy="most_frequent"), ["t"])
                ),
                CARTClassifier(),
            ),
            FRAME,
            "SimpleImputer fills text that CARTClassifier reads",
        ),
        (
            make_pipeline(StandardScaler(), OrdinalEncoder(), CARTClassifier()),
            NUMBERS,
            "OrdinalEncoder reads numbers that an earlier step made",
        ),
        (
            make_pipeline(
                make_union("passthrough", StandardScaler()), KNeighborsClassifier()
            ),
            NUMBERS,
            "step 'kneighborsclassifier' of Pipeline: .* KNeighborsClassifier",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_refusals(model, X, words):
    model.fit(X, LABELS)
    with pytest.raises((TypeError, ValueError), match=words):
        export_code(model, "python")


def test_link_without_a_function():
    model = GeneralizedLinearRegressor("binomial", link="probit")
    model.fit(NUMBERS, (LABELS == "yes").astype(float))
    with pytest.raises(ValueError, match="link='probit' .* link='logit'"):
        export_code(model, "python")


def test_column_in_two_forms():
    """Numbers of one member cannot be levels of another."""
    tree = CARTClassifier(categorical_features=["b"])
    model = VotingClassifier([("levels", tree), ("numbers", CARTClassifier())])
    model.fit(NUMBERS, LABELS)
    with pytest.raises(ValueError, match="'b' is read as numbers by one part"):
        export_code(model, "c")


def test_members_of_scikit_learn():
    model = AdaBoostClassifier(StockLogisticRegression(), n_estimators=2)
    model.fit(NUMBERS, LABELS)
    predicted, _ = run_python(export_code(model, "python"), list_rows(NUMBERS))
    assert predicted == model.predict(NUMBERS).tolist()


def test_not_fitted():
    for model in (
        LinearRegression(),
        VotingClassifier(TREES),
        make_pipeline(StandardScaler(), CARTClassifier()),
    ):
        with pytest.raises(NotFittedError):
            export_code(model, "python")


def test_refused_values():
    """Missing values and levels that the model refuses."""
    model = LinearRegression(handle_unknown="error").fit(FRAME, FRAME["a"] * 2)
    module = {}
    exec(export_code(model, "python"), module)
    row = {"a": 1.0, "b": 2.0, "t": "u"}
    expected = model.predict(pd.DataFrame([row]))[0]
    assert module["predict"](row) == pytest.approx(expected)
    for name, value in (("t", "w"), ("t", None), ("a", None), ("a", np.inf)):
        wrong = row | {name: value}
        with pytest.raises(ValueError, match=name):
            model.predict(pd.DataFrame([wrong]))
        with pytest.raises(ValueError, match=f"olumn '{name}'"):
            module["predict"](wrong)


def test_members_that_read_levels_in_another_order(tmp_path):
    """In C, codes of the table become those of a member."""
    orders = [["u", "v", "w"], ["w", "v", "u"]]
    frames = [
        FRAME.assign(t=pd.Categorical(FRAME["t"], categories=order)) for order in orders
    ]
    y = (FRAME["t"] == "u").to_numpy() * 3.0 + FRAME["a"]
    members = [
        (f"tree {i}", CARTRegressor().fit(frame, y)) for i, frame in enumerate(frames)
    ]
    model = AveragingRegressor(members, prefit=True).fit(frames[0], y)
    _, found = run_c(model, FRAME, tmp_path)
    assert_allclose(found[:, 0], model.predict(FRAME))


def test_rows_that_an_early_step_refuses_are_null_in_sql():
    """A tree after the encoder would take its NULL for a missing value."""
    X = pd.DataFrame({"level": ["a", "b", "c"] * 10})
    encoder = OneHotEncoder(sparse_output=False)
    model = make_pipeline(encoder, CARTRegressor(min_samples_leaf=1))
    model.fit(X, [1.0, 2.0, 3.0] * 10)
    table = pd.DataFrame({"level": ["a", "never seen", None]})
    found = run_sql(export_code(model, "sql"), list_rows(table), table)
    assert found["prediction"].iloc[0] == 1.0
    assert found["prediction"].iloc[1:].isna().all()
    X = pd.DataFrame({"x": np.arange(30.0)})
    model = make_pipeline(StandardScaler(), CARTRegressor()).fit(X, X["x"])
    table = pd.DataFrame({"x": [3.0, np.inf]})
    found = run_sql(export_code(model, "sql"), [{"x": 3.0}, {"x": np.inf}], table)
    assert found["prediction"].tolist()[0] == 3.0
    assert found["prediction"].isna().tolist() == [False, True]


def test_missing_category_of_one_of_two_columns():
    X = pd.DataFrame({"a": ["u", None, "v"] * 8, "b": ["x", "y"] * 12})
    y = np.arange(24.0) % 3
    model = make_pipeline(OneHotEncoder(sparse_output=False), CARTRegressor())
    model.fit(X, y)
    rows = [["u", "x"], [None, "y"]]
    found, _ = run_python(export_code(model, "python"), rows)
    table = pd.DataFrame(rows, columns=["a", "b"])
    assert_allclose(found, model.predict(table), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="Column 'b'"):
        run_python(export_code(model, "python"), [["u", None]])


def test_ties_by_confidence_need_whole_numbers_as_weights():
    X, y = np.arange(12.0).reshape(-1, 1), np.arange(12) % 3
    members = [(f"m{k}", CARTClassifier(max_depth=k)) for k in (1, 2, 3)]
    model = VotingClassifier(
        members, tie_breaking="confidence", weights=[0.3, 0.1, 0.2]
    )
    with pytest.raises(ValueError, match="only with whole numbers as weights"):
        export_code(model.fit(X, y), "python")


@pytest.mark.parametrize("link_power", [0.5, -1.0, 0.4])
def test_powers_of_scores_that_are_not_positive(link_power):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    model = GeneralizedLinearRegressor(
        family="gaussian", link="power", link_power=link_power
    ).fit(X, 4.0 + rng.uniform(size=60))
    rows = [[x] for x in (-500.0, -50.0, 0.0, 50.0, 500.0)]
    found, _ = run_python(export_code(model, "python"), rows)
    with np.errstate(all="ignore"):
        assert_allclose(found, model.predict(rows), rtol=1e-12)
