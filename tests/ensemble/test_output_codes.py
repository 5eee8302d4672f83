"""Output codes: coding matrices, decoding by hand, members, and whole ensembles."""

import math
import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multiclass import OutputCodeClassifier as StockOutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook.ensemble import OutputCodeClassifier
from sklearn_textbook.ensemble.output_codes.code_matrices import (
    FIXED_CODES,
    compute_column_separation,
    compute_row_separation,
    make_code,
)
from sklearn_textbook.ensemble.output_codes.decoding import (
    LOSSES,
    fit_fractions,
    measure_hamming,
    sum_losses,
)
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ReducedErrorPruning,
)
from tests.loops import loop_over

CODES = [*FIXED_CODES, "dense_random", "sparse_random"]
DECODINGS = ["loss", "hamming", "probability"]
IRIS = load_iris(return_X_y=True)
WINE = load_wine(return_X_y=True)
#: 周志华, figure 3.5 (a): four classes, five members, and what these say of a row.
BOOK_CODE = np.array(
    [[-1, 1, -1, 1, 1], [1, -1, -1, 1, -1], [-1, 1, 1, -1, 1], [-1, -1, 1, 1, -1]]
)
BOOK_ROW = np.array([[-1.0, -1.0, 1.0, -1.0, 1.0]])


def make_classes(n_classes, n_rows=150, seed=0):
    """Numbers around one centre for each class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    centres = rng.normal(size=(n_classes, 3))
    return centres[y] + 0.6 * rng.normal(size=(n_rows, 3)), y


# ------------------------------------------------------------------ coding matrices
def test_exhaustive_code_of_four_classes_is_that_of_dietterich_and_bakiri():
    rows = ["1111111", "0000111", "0011001", "0101010"]
    expected = [[1 if bit == "1" else -1 for bit in row] for row in rows]
    assert_array_equal(make_code("exhaustive", 4), expected)


@pytest.mark.parametrize("n_classes", range(2, 12))
def test_separations_of_the_fixed_codes(n_classes):
    n_pairs = math.comb(n_classes, 2)
    rest, one, every, bch = (
        compute_row_separation(make_code(name, n_classes))
        for name in ("one_vs_rest", "one_vs_one", "exhaustive", "bch")
    )
    assert rest == (2 if n_classes > 2 else 1)
    assert one == (n_pairs - 1) / 2 + 1  # Allwein, Schapire and Singer
    assert every == 2 ** (n_classes - 2)
    length = 2 ** math.ceil(math.log2(n_classes))
    code = make_code("bch", n_classes)
    assert code.shape == (n_classes, length - 1)
    assert bch == length / 2
    distances = (length - 1 - code @ code.T) / 2
    assert (distances[~np.eye(n_classes, dtype=bool)] == length / 2).all()


@loop_over("n_classes", [2, 3, 4, 5, 8, 13, 33])
@loop_over("name", CODES)
def test_columns_have_both_signs_and_are_neither_equal_nor_complementary(
    name, n_classes
):
    if name == "exhaustive" and n_classes > 11:
        return
    code = make_code(name, n_classes, random_state=0)
    assert code.dtype == np.int8
    assert set(np.unique(code)) <= {-1, 0, 1}
    assert (code.max(axis=0) == 1).all()
    assert (code.min(axis=0) == -1).all()
    columns = {tuple(column) for column in code.T.tolist()}
    assert len(columns | {tuple(-np.array(c)) for c in columns}) == 2 * code.shape[1]
    assert len(np.unique(code, axis=0)) == n_classes
    if name == "sparse_random" and n_classes > 4:
        assert 0.3 < (code == 0).mean() < 0.7
        assert code.any(axis=1).all()


@pytest.mark.parametrize(
    ("n_classes", "code_size", "n_columns"),
    [(10, "auto", 15), (2, "auto", 1), (3, "auto", 3), (5, 3, 15), (16, 0.25, 4)],
)
def test_number_of_columns_of_a_random_code(n_classes, code_size, n_columns):
    code = make_code("dense_random", n_classes, code_size, 0)
    assert code.shape == (n_classes, n_columns)


def test_random_codes_are_separated_better_than_a_single_draw():
    single = np.random.RandomState(0).choice([-1, 1], (20, 30))
    drawn = make_code("dense_random", 20, random_state=0)
    assert compute_row_separation(drawn) > compute_row_separation(single)
    other = make_code("dense_random", 20, random_state=1)
    assert (drawn != other).any()
    assert_array_equal(drawn, make_code("dense_random", 20, random_state=0))


def test_column_separation_counts_negated_columns():
    code = np.array([[1, -1, 1], [1, -1, -1], [-1, 1, 1], [-1, 1, -1]])
    assert compute_column_separation(code) == 0
    assert compute_column_separation(code[:, 1:]) == 2
    assert compute_column_separation(code[:, 1:] * [1, 0.5]) == 2  # zeros add 1/2
    assert math.isnan(compute_column_separation(code[:, :1]))


def test_separations_of_many_columns_are_computed_in_blocks():
    rng = np.random.default_rng(0)
    code = rng.choice([-1, 1], (2500, 30))
    code[2400] = code[7]
    assert compute_row_separation(code) == 0
    code[2400, 0] *= -1
    assert compute_row_separation(code) <= 1


# ------------------------------------------------------------------------- decoding
def test_hamming_distances_of_the_book():
    assert_array_equal(measure_hamming(BOOK_ROW, BOOK_CODE), [[3, 4, 1, 2]])
    # The largest sum of products is the smallest Euclidean distance.
    euclidean = np.sqrt(((BOOK_ROW - BOOK_CODE) ** 2).sum(axis=1))
    assert_allclose(euclidean, [2 * math.sqrt(3), 4, 2, 2 * math.sqrt(2)])
    losses = sum_losses(BOOK_ROW, BOOK_CODE, "linear")
    assert_array_equal(losses.argsort(), euclidean.argsort()[np.newaxis])


def test_zeros_add_half_to_a_hamming_distance():
    code = np.array([[1, -1, 0], [0, 1, -1]])
    assert_array_equal(measure_hamming(np.array([[1.0, 1, 1]]), code), [[1.5, 1.5]])
    assert_array_equal(measure_hamming(np.array([[1.0, -1, 1]]), code), [[0.5, 2.5]])


FORMULAS = {
    "linear": lambda z: -z,
    "hinge": lambda z: max(1 - z, 0),
    "logistic": lambda z: math.log(1 + math.exp(-2 * z)),
    "exponential": lambda z: math.exp(-z),
}


@pytest.mark.parametrize("loss", FORMULAS)
def test_sums_of_losses_are_those_of_plain_loops(loss):
    rng = np.random.default_rng(0)
    code, outputs = rng.integers(-1, 2, (4, 6)), rng.normal(size=(5, 6))
    expected = [
        [
            sum(FORMULAS[loss](m * f) for m, f in zip(word, row, strict=True))
            for word in code
        ]
        for row in outputs
    ]
    assert FORMULAS.keys() == LOSSES.keys()
    assert_allclose(sum_losses(outputs, code, loss), expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_of_large_outputs_are_finite(loss):
    outputs = np.array([[1e6, -1e6, 1e300]])
    assert np.isfinite(sum_losses(outputs, make_code("one_vs_rest", 3), loss)).all()


@pytest.mark.parametrize("name", ["one_vs_rest", "one_vs_one", "exhaustive", "bch"])
def test_exact_shares_of_the_sides_give_exact_shares_of_the_classes(name):
    rng = np.random.default_rng(0)
    # Seven equations do not determine the shares of more than eight classes.
    for n_classes in (2, 3, 4, 7):
        code = make_code(name, n_classes)
        shares = rng.dirichlet(np.ones(n_classes), 40)
        above, below = shares @ (code > 0), shares @ (code < 0)
        given = above / (above + below)
        assert_allclose(fit_fractions(given, code), shares, atol=1e-7)


def test_shares_of_pairs_are_those_of_wu_lin_and_weng():
    rng = np.random.default_rng(0)
    code = make_code("one_vs_one", 4)
    given = rng.random((20, 6))
    for row, found in zip(given, fit_fractions(given, code), strict=True):
        r = np.zeros((4, 4))  # r[i, j]: share of i among i and j
        for q, column in zip(row, code.T, strict=True):
            i, j = np.argmin(column), np.argmax(column)
            r[j, i], r[i, j] = q, 1 - q
        q = np.diag((r**2).sum(axis=0)) - r.T * r
        system = np.block([[q, np.ones((4, 1))], [np.ones((1, 4)), np.zeros((1, 1))]])
        expected = np.linalg.solve(system, [0, 0, 0, 0, 1])[:4]
        assert_allclose(found, expected, atol=1e-7)


def test_shares_that_members_disagree_on_are_the_nearest():
    # Least squares on the simplex, by trying all shares of a fine grid.
    grid = np.array(
        [(a, b, 100 - a - b) for a, b in product(range(101), repeat=2) if a + b <= 100]
    )
    code = make_code("one_vs_rest", 3)
    given = np.array([[0.9, 0.8, 0.1], [0.0, 0.0, 0.0], [1.0, 0.0, 0.7], [0.2, 0.1, 0]])
    for row, found in zip(given, fit_fractions(given, code), strict=True):
        nearest = grid[((grid / 100 - row) ** 2).sum(axis=1).argmin()] / 100
        assert_allclose(found, nearest, atol=0.01)
        assert found.min() >= 0


def test_shares_that_nothing_tells_apart_are_even():
    code = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    found = fit_fractions(np.array([[0.5, 0.5]]), code)
    assert_allclose(found, [[0.25] * 4], atol=1e-4)


# -------------------------------------------------------------------- the ensemble
@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("name", CODES)
def test_members_are_those_fitted_one_by_one(name, decoding):
    X, y = make_classes(4)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    for template in (CARTClassifier(max_depth=3), GaussianNB()):
        model = OutputCodeClassifier(
            template, code=name, decoding=decoding, random_state=0
        ).fit(X, y, weight)
        outputs = []
        for column in model.code_book_.T:
            sides = column[y]
            rows = sides != 0
            member = clone(template).fit(X[rows], sides[rows] > 0, weight[rows])
            outputs.append(member.predict_proba(X)[:, 1])
        outputs = np.array(outputs).T
        if decoding == "probability":
            expected = fit_fractions(outputs, model.code_book_)
            assert_allclose(model.predict_proba(X), expected, atol=1e-9)
            logarithms = model.predict_log_proba(X)
            assert_allclose(np.exp(logarithms), model.predict_proba(X))
            assert not hasattr(model, "decision_function")
        else:
            outputs = 2 * outputs - 1
            if decoding == "hamming":
                outputs = np.where(outputs > 0, 1.0, -1.0)
            expected = outputs @ model.code_book_.T
            if decoding == "hamming":
                expected = (expected - model.code_book_.shape[1]) / 2
            assert_allclose(model.decision_function(X), expected, atol=1e-9)
            assert not hasattr(model, "predict_proba")
        assert_array_equal(model.predict(X), expected.argmax(axis=1))


@pytest.mark.parametrize(
    "estimator", [LinearSVC(random_state=0), GaussianNB(), DecisionTreeClassifier()]
)
def test_same_as_scikit_learn_with_the_same_code(estimator):
    X, y = make_classes(6)
    # The first seed whose code is one for ours, too.
    for seed in range(100):
        stock = StockOutputCodeClassifier(clone(estimator), random_state=seed)
        if "random_state" in estimator.get_params():
            stock.set_params(estimator__random_state=0)
        stock.fit(X, y)
        signs = np.sign(stock.code_book_ - 0.25)
        is_mixed = (abs(signs.sum(axis=0)) < 6).all()
        if is_mixed and len(np.unique(signs, axis=0)) == 6:
            break
    ours = OutputCodeClassifier(stock.estimator, code=stock.code_book_).fit(X, y)
    assert_array_equal(ours.code_book_, signs)
    assert_array_equal(ours.predict(X), stock.predict(X))


def test_one_against_rest_chooses_as_scikit_learn():
    X, y = IRIS
    stock = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    ours = OutputCodeClassifier(LogisticRegression(), code="one_vs_rest").fit(X, y)
    # The sum over the rest is the same for all classes up to twice their own output.
    ours_own = ours.decision_function(X)
    stock_own = stock.decision_function(X)
    expected = 2 * stock_own - stock_own.sum(axis=1, keepdims=True)
    assert_allclose(ours_own, expected, atol=1e-6)
    assert_array_equal(ours.predict(X), stock.predict(X))


def test_mistakes_of_a_member_are_corrected():
    X, y = make_classes(4, 300)
    model = OutputCodeClassifier(code="exhaustive").fit(X, y)
    assert model.row_separation_ == 4
    before = model.predict(X)
    wrong = clone(model.estimators_[2]).fit(
        X, np.where(model.code_book_[y, 2] > 0, 0, 1)
    )
    wrong.schema_ = model.estimators_[2].schema_
    model.estimators_[2] = wrong
    assert_array_equal(model.predict(X), before)
    assert_array_equal(before, y)


@pytest.mark.parametrize("decoding", DECODINGS)
def test_negated_columns_and_other_labels_change_nothing(decoding):
    X, y = make_classes(4)
    code = make_code("sparse_random", 4, random_state=0)
    signs = np.where(np.arange(code.shape[1]) % 2, 1, -1)
    template = LogisticRegression()
    model = OutputCodeClassifier(template, code=code, decoding=decoding).fit(X, y)
    negated = clone(model).set_params(code=code * signs).fit(X, y)
    labels = np.array(["d", "b", "a", "c"])
    order = labels.argsort()
    renamed = clone(model).set_params(code=code[order]).fit(X, labels[y])
    for other, of_class in ((negated, np.arange(4)), (renamed, order.argsort())):
        if decoding == "probability":
            ours, theirs = model.predict_proba(X), other.predict_proba(X)
        else:
            ours, theirs = model.decision_function(X), other.decision_function(X)
        assert_allclose(theirs[:, of_class], ours, atol=1e-3)
    if decoding != "hamming":  # of equally near classes, the first is taken
        assert np.mean(renamed.predict(X) == labels[model.predict(X)]) > 0.99


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("decoding", DECODINGS)
def test_two_classes(name, decoding):
    X, y = make_classes(2)
    labels = np.array(["no", "yes"])[y]
    template = CARTClassifier(max_depth=2)
    model = OutputCodeClassifier(template, code=name, decoding=decoding).fit(X, labels)
    assert model.code_book_.shape == (2, 1)
    single = template.fit(X, labels)
    assert_array_equal(model.predict(X), single.predict(X))
    if decoding == "probability":
        assert_allclose(
            model.predict_proba(X), single.predict_proba(X), rtol=0, atol=1e-8
        )
    else:
        assert model.decision_function(X).shape == (len(y),)
        assert_array_equal(model.decision_function(X) > 0, model.predict(X) == "yes")


@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(),
        C45Classifier(laplace=True),
        ID3Classifier(),
        CARTClassifier(pruning=ReducedErrorPruning(0.3, random_state=0)),
    ],
)
@pytest.mark.parametrize("decoding", DECODINGS)
def test_trees_over_one_table_are_those_fitted_by_themselves(estimator, decoding):
    X, y = make_classes(4)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["level"] = np.array(["low", "high", None], dtype=object)[y % 3]
    frame.loc[::7, "a"] = np.nan
    model = OutputCodeClassifier(
        estimator, code="one_vs_one", decoding=decoding, random_state=0, n_jobs=2
    ).fit(frame, y)
    assert model._reader is not None
    assert list(model.feature_names_in_) == ["a", "b", "c", "level"]
    said = []
    for column, member in zip(model.code_book_.T, model.estimators_, strict=True):
        rows = column[y] != 0
        weight = rows.astype(float)
        own = clone(estimator).set_params(random_state=member.random_state)
        own.fit(frame, column[y] > 0, weight)
        if decoding == "hamming":
            said.append(2.0 * own.predict(frame) - 1)
        else:
            said.append(own.predict_proba(frame)[:, 1])
    said = np.array(said).T
    if decoding == "probability":
        expected = fit_fractions(said, model.code_book_)
        assert_allclose(model.predict_proba(frame), expected, atol=1e-9)
    else:
        said = said if decoding == "hamming" else 2 * said - 1
        decisions = said @ model.code_book_.T
        if decoding == "hamming":
            decisions = (decisions - 6) / 2
        assert_allclose(model.decision_function(frame), decisions, atol=1e-9)


def test_class_weight_of_a_tree_is_for_the_sides_of_each_member():
    X, y = make_classes(3)
    template = CARTClassifier(max_depth=2, class_weight={0: 1, 1: 5})
    model = OutputCodeClassifier(template, code="one_vs_rest").fit(X, y)
    for column, member in zip(model.code_book_.T, model.estimators_, strict=True):
        own = clone(template).fit(X, (column[y] > 0).astype(int))
        assert_allclose(member.predict_proba(X), own.predict_proba(X))


@pytest.mark.parametrize("estimator", [CARTClassifier(), GaussianNB()])
def test_any_number_of_jobs_gives_the_same(estimator):
    X, y = make_classes(5)
    models = [
        OutputCodeClassifier(estimator, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    ]
    first, second = (model.decision_function(X) for model in models)
    assert_array_equal(first, second)


def test_members_get_seeds_where_they_have_none():
    X, y = make_classes(4)
    free = CARTClassifier(max_features=1)
    first, again, other = (
        OutputCodeClassifier(free, code="exhaustive", random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    )
    states = [member.random_state for member in first.estimators_]
    assert len(set(states)) == 7
    assert_array_equal(first.predict(X), again.predict(X))
    assert states != [member.random_state for member in other.estimators_]
    for template in (CARTClassifier(random_state=3), DecisionTreeClassifier()):
        template.set_params(random_state=3)
        model = OutputCodeClassifier(template, random_state=0).fit(X, y)
        assert {member.random_state for member in model.estimators_} == {3}
    chance = CARTClassifier(random_state=np.random.RandomState(3), max_features=1)
    assert OutputCodeClassifier(chance).fit(X, y).score(X, y) > 0.9


def test_frames_with_text_come_to_members_as_they_are():
    X, y = make_classes(3)
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        kind=np.array(["x", "y", "z"])[y]
    )
    encode = make_column_transformer(
        (OneHotEncoder(), ["kind"]), (StandardScaler(), ["a", "b"])
    )
    model = OutputCodeClassifier(make_pipeline(encode, LogisticRegression()))
    model.fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert list(model.feature_names_in_) == ["a", "b", "c", "kind"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "kind"]])
    tree = OutputCodeClassifier(CARTClassifier()).fit(frame, y)
    assert tree.score(frame, y) == 1.0


def test_members_that_only_vote_and_take_no_weights():
    class Nearest(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            self.centres_ = np.array([X[y == label].mean(axis=0) for label in (0, 1)])
            return self

        def predict(self, X):
            gaps = ((X[:, np.newaxis] - self.centres_) ** 2).sum(axis=2)
            return gaps.argmin(axis=1)

    X, y = make_classes(4)
    loss = OutputCodeClassifier(Nearest(), code="one_vs_one").fit(X, y)
    hamming = clone(loss).set_params(decoding="hamming").fit(X, y)
    assert_array_equal(loss.predict(X), hamming.predict(X))
    with pytest.raises(ValueError, match="sample_weight was given, but Nearest.fit"):
        loss.fit(X, y, np.ones(len(y)))
    votes = loss._collect_outputs("predict", X, {})
    loss.set_params(decoding="probability")
    assert_array_equal(2 * loss._collect_outputs("predict", X, {}) - 1, votes)
    with pytest.raises(ValueError, match="requires members with predict_proba"):
        loss.set_params(decoding="probability").fit(X, y)


def test_sparse_tables():
    X, y = load_digits(n_class=4, return_X_y=True)
    for estimator in (CARTClassifier(max_depth=4), GaussianNB(), LinearSVC()):
        if isinstance(estimator, GaussianNB):
            with pytest.raises(TypeError, match="The member of column 0 of the code"):
                OutputCodeClassifier(estimator).fit(sparse.csr_array(X), y)
            continue
        model = OutputCodeClassifier(estimator, code="bch").fit(X, y)
        other = clone(model).fit(sparse.csr_array(X), y)
        assert np.mean(other.predict(sparse.csr_array(X)) == model.predict(X)) > 0.99


def test_metadata_is_routed_to_members():
    class Wants(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None, group=None):
            self.classes_ = np.unique(y)
            self.told_ = (sample_weight, group)
            return self

        def predict(self, X, bias=0):
            return np.full(len(X), bias)

    X, y = make_classes(4)
    group, weight = np.arange(len(y)), np.linspace(1, 2, len(y))
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        OutputCodeClassifier(Wants()).fit(X, y, group=group)
    with config_context(enable_metadata_routing=True):
        wants = Wants().set_fit_request(group=True, sample_weight=True)
        wants.set_predict_request(bias=True)
        model = OutputCodeClassifier(wants, code="one_vs_one")
        model.fit(X, y, sample_weight=weight, group=group)
        for column, member in zip(model.code_book_.T, model.estimators_, strict=True):
            rows = column[y] != 0
            assert_array_equal(member.told_[0], weight[rows])
            assert_array_equal(member.told_[1], group[rows])
        # The last class is on the side of +1 in all pairs, the first in none.
        assert set(model.predict(X, bias=1)) == {3}
        assert set(model.predict(X, bias=0)) == {0}


def test_callbacks_stop_at_a_member():
    class Stop:
        def __init__(self, after):
            self.after, self.n_members = after, 0

        def setup(self, estimator, context):
            """Nothing to prepare."""

        def on_fit_task_begin(self, estimator, context, **told):
            """Nothing to do."""

        def on_fit_task_end(self, estimator, context, **told):
            if context.task_name != "member":
                return False
            self.n_members += 1
            return self.n_members == self.after

        def teardown(self, estimator, context):
            """Nothing to clean up."""

    X, y = make_classes(4)
    model = OutputCodeClassifier(code="exhaustive")
    model.set_callbacks(Stop(3)).fit(X, y)
    assert len(model.estimators_) == 3
    assert_array_equal(model.code_book_, make_code("exhaustive", 4)[:, :3])
    assert model.predict(X).shape == y.shape


def test_in_a_grid_search_and_pickled():
    X, y = WINE
    search = GridSearchCV(
        OutputCodeClassifier(CARTClassifier(), random_state=0),
        {"code": ["one_vs_rest", "exhaustive"], "estimator__max_depth": [1, 3]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.85
    loaded = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(loaded.predict(X), search.predict(X))


def test_more_columns_correct_more_mistakes():
    X, y = load_digits(return_X_y=True)
    few, many = (
        cross_val_score(
            OutputCodeClassifier(
                CARTClassifier(max_depth=6), code_size=size, random_state=0
            ),
            X,
            y,
            cv=3,
        ).mean()
        for size in (0.5, 4)
    )
    assert many > few + 0.1


# --------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"code": "dense"}, "'code' parameter must be one of 'dense_random'"),
        ({"code": 3}, "'code' parameter must be one of"),
        ({"code": [[1, -1], [1]]}, "a matrix with 3 rows, one per class"),
        ({"code": {1, 2}}, "a matrix with 3 rows, one per class"),
        ({"code": [[1, -1]]}, "a matrix with 3 rows, one per class"),
        ({"code": [["a"], ["b"], ["c"]]}, "a matrix with 3 rows"),
        ({"code": [[1, 2], [0, 1], [1, 0]]}, "got 2 in row 0, column 1"),
        ({"code": [[1, np.nan], [0, 1], [1, 0]]}, "got nan in row 0, column 1"),
        ({"code": [[1, 1], [1, -1], [1, 1]]}, "both sides in every column; column 0"),
        ({"code": [[1, 1], [1, 0], [1, 1]]}, "both sides in every column; column 0"),
        ({"code": [[1, 1], [-1, -1], [1, 1]]}, "rows 0 and 2 are equal"),
        ({"code": [[1, 1], [-1, -1], [0, 0]]}, "row 2 has none"),
        ({"code_size": 0}, r"float in the range \(0.0, inf\) or 'auto'; got 0"),
        ({"code_size": "all"}, "or 'auto'; got 'all'"),
        ({"code_size": 2}, "at most 1 for 3 classes, since only 3 .*; got 2, .*6 col"),
        ({"code_size": 0.4}, "at least 0.666667 for 3 .*; got 0.4, .*1 col"),
        ({"decoding": "euclid"}, "'decoding' parameter must be one of 'hamming'"),
        ({"loss": "square"}, "'loss' parameter must be one of 'linear'"),
        ({"estimator": LinearRegression()}, "must be None or a classifier"),
        ({"estimator": CARTRegressor()}, "must be None or a classifier"),
        ({"estimator": CARTClassifier}, "which is a class: pass an instance"),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
        ({"verbose": -1}, "'verbose' parameter"),
        ({"random_state": -1}, "'random_state' parameter"),
        ({"code": "exhaustive", "estimator": 3}, "'estimator' parameter"),
    ],
)
def test_wrong_parameters_are_named(params, text):
    X, y = IRIS
    with pytest.raises(ValueError, match=text):
        OutputCodeClassifier(**params).fit(X, y)


def test_exhaustive_code_of_many_classes_is_refused():
    with pytest.raises(ValueError, match="got 12 classes, which need 2047 columns"):
        make_code("exhaustive", 12)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes.*only one class: 'a'"):
        OutputCodeClassifier().fit([[1.0], [2.0]], ["a", "a"])


def test_side_without_weight_is_named():
    X, y = make_classes(3)
    weight = (y != 1).astype(float)
    for estimator in (CARTClassifier(), GaussianNB()):
        model = OutputCodeClassifier(estimator, code="one_vs_rest")
        with pytest.raises(
            ValueError, match=r"Column 1 of the code.*only the classes \[0, 2\]"
        ):
            model.fit(X, y, weight)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_failing_member_is_named(n_jobs):
    class OwnError(Exception):
        pass

    class Fails(ClassifierMixin, BaseEstimator):
        def __init__(self, kind=ValueError):
            self.kind = kind

        def fit(self, X, y):
            if y[:4].tolist() == [0, 0, 1, 0]:
                raise self.kind("no such rows")
            self.classes_ = np.array([0, 1])
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    X, y = make_classes(4)
    model = OutputCodeClassifier(Fails(), code="one_vs_rest", n_jobs=n_jobs)
    text = "member of column 2 of the code cannot be fitted"
    with pytest.raises(ValueError, match=f"{text}: no such rows"):
        model.fit(X, y)
    if n_jobs == 1:
        with pytest.raises(OwnError) as caught:
            model.set_params(estimator__kind=OwnError).fit(X, y)
        assert text in caught.value.__notes__[0]


def test_wrong_tables_are_refused():
    X, y = IRIS
    for estimator in (None, GaussianNB()):
        model = OutputCodeClassifier(estimator).fit(X, y)
        with pytest.raises(ValueError, match="3 features"):
            model.predict(X[:, :3])
        with pytest.raises(ValueError, match="inconsistent|Number of labels=149"):
            model.fit(X, y[:-1])
    neighbours = OutputCodeClassifier(KNeighborsClassifier())
    with pytest.raises(ValueError, match="member of column 0.*NaN"):
        neighbours.fit(np.where(X > 7, np.nan, X), y)
    with pytest.raises(ValueError, match="Unknown label type"):
        neighbours.fit(X, X[:, 0])


@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_progress_is_printed(verbose, capsys):
    X, y = IRIS
    OutputCodeClassifier(code="exhaustive", verbose=verbose).fit(X, y)
    printed = capsys.readouterr().out
    assert printed.count("members fitted") == (3 if verbose else 0)
