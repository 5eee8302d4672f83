"""Output flipping and smearing: the mathematics of the draws, members against loops."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import (
    OutputFlippingClassifier,
    OutputSmearingClassifier,
)
from sklearn_textbook.ensemble.output_perturbation.output_flipping import (
    LabelFlips,
    find_largest_flip_rate,
)
from sklearn_textbook.ensemble.output_perturbation.output_smearing import LabelNoise
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
)
from tests.reference.output_perturbation import (
    draw_seeds,
    fit_members,
    flip_labels,
    smear_labels,
)

BOTH = [OutputFlippingClassifier, OutputSmearingClassifier]


def make_table(seed=0, n_rows=90, n_classes=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4)).round(1)
    y = np.array(["b", "a", "c"])[
        np.digitize(X[:, 0] + X[:, 1], [-0.8, 1.2][: n_classes - 1])
    ]
    return X, y


# ------------------------------------------------------------------- flipped labels


@pytest.mark.parametrize(
    ("shares", "flip_rate"),
    [((0.5, 0.5), 0.3), ((0.8, 0.2), 0.1), ((0.6, 0.3, 0.1), 0.2)],
)
def test_flips_have_their_rate_and_keep_the_class_shares(shares, flip_rate):
    shares = np.array(shares)
    n_rows, n_draws = 1000, 200
    codes = np.repeat(np.arange(len(shares)), (shares * n_rows).astype(int))
    flips = LabelFlips(codes.astype(np.int32), shares, flip_rate)
    moved = np.zeros((len(shares), len(shares)))
    for seed in range(n_draws):
        np.add.at(moved, (codes, flips.draw(seed)), 1)
    n = n_rows * n_draws
    rate = 1 - np.trace(moved) / n
    assert abs(rate - flip_rate) < 4 * np.sqrt(flip_rate * (1 - flip_rate) / n)
    assert np.abs(moved.sum(axis=0) / n - shares).max() < 4 * np.sqrt(flip_rate / n)
    factor = flip_rate / (shares * (1 - shares)).sum()
    for i, j in zip(*np.nonzero(~np.eye(len(shares), dtype=bool)), strict=True):
        chance = factor * shares[j]
        tolerance = 4 * np.sqrt(chance * (1 - chance) / (shares[i] * n))
        assert abs(moved[i, j] / moved[i].sum() - chance) < tolerance


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.5, 0.3, 0.2)])
def test_largest_flip_rate_makes_the_largest_class_as_likely_as_the_own(shares):
    shares = np.array(shares)
    factor = find_largest_flip_rate(shares) / (shares * (1 - shares)).sum()
    smallest = shares.min()
    assert factor * shares.max() == pytest.approx(1 - factor * (1 - smallest))
    if len(shares) == 2:
        assert find_largest_flip_rate(shares) == pytest.approx(smallest)


def test_flip_rate_in_use():
    X = np.arange(100.0)[:, np.newaxis]
    even, uneven = np.arange(100) % 2, np.arange(100) < 6
    fit = OutputFlippingClassifier(n_estimators=1).fit
    assert fit(X, even).flip_rate_ == 0.2
    assert fit(X, uneven).flip_rate_ == pytest.approx(0.03)
    assert fit(X, np.zeros(100)).flip_rate_ == 0.0
    weight = np.where(uneven, 94 / 6, 1.0)
    assert fit(X, uneven, sample_weight=weight).flip_rate_ == 0.2
    with pytest.raises(
        ValueError, match=r"flip_rate must be less than 0\.06 .*, got 0\.1;"
    ):
        OutputFlippingClassifier(flip_rate=0.1).fit(X, uneven)


def test_no_label_is_flipped_to_a_class_without_weight():
    X, y = make_table()
    weight = (y != "c").astype(float)
    ensemble = OutputFlippingClassifier(n_estimators=5, random_state=0)
    ensemble.fit(X, y, sample_weight=weight)
    assert ensemble.predict_proba(X)[:, 2].max() == 0


# ------------------------------------------------------------------ smeared outputs


def test_noise_has_the_mean_and_deviation_of_its_class():
    codes = np.repeat([0, 1, 2], [600, 300, 100]).astype(np.int32)
    y = np.array(["x", "y", "z"])[codes]
    X = np.zeros((1000, 1))
    ensemble = OutputSmearingClassifier(CARTRegressor(max_depth=1), 1, noise=0.7)
    deviations = ensemble.fit(X, y).noise_
    shares = np.array([0.6, 0.3, 0.1])
    np.testing.assert_allclose(deviations, 0.7 * np.sqrt(shares * (1 - shares)))
    noise = LabelNoise(codes, deviations)
    added = np.concatenate([noise.draw(seed) - np.eye(3)[codes] for seed in range(100)])
    n = len(added)
    assert (np.abs(added.mean(axis=0)) < 4 * deviations / np.sqrt(n)).all()
    np.testing.assert_allclose(added.std(axis=0), deviations, rtol=4 / np.sqrt(2 * n))
    correlation = np.corrcoef(added.T) - np.eye(3)
    assert np.abs(correlation).max() < 4 / np.sqrt(n)
    fourth = (added**4).mean(axis=0) / deviations**4
    np.testing.assert_allclose(fourth, 3, atol=4 * np.sqrt(96 / n))  # gaussian


def test_without_noise_a_member_is_a_tree_of_least_gini_impurity():
    for seed in range(4):
        X, y = make_table(seed)
        new = np.random.default_rng(seed).normal(size=(200, 4))
        smearing = OutputSmearingClassifier(n_estimators=2, noise=0.0).fit(X, y)
        tree = CARTClassifier().fit(X, y)
        np.testing.assert_array_equal(smearing.predict(new), tree.predict(new))
        np.testing.assert_allclose(
            smearing.predict_proba(new), tree.predict_proba(new), atol=1e-12
        )


def test_shares_are_clipped_outputs():
    X, y = make_table()
    ensemble = OutputSmearingClassifier(n_estimators=1, noise=3.0, random_state=0)
    ensemble.fit(X, y)
    outputs = ensemble.estimators_[0].predict(X)
    shares = ensemble.predict_proba(X)
    is_low = (outputs <= 0).all(axis=1)
    assert 0 < is_low.sum() < len(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), outputs.argmax(axis=1))
    np.testing.assert_array_equal(shares[is_low].max(axis=1), 1)
    clipped = np.maximum(outputs[~is_low], 0)
    np.testing.assert_allclose(
        shares[~is_low], clipped / clipped.sum(axis=1, keepdims=True)
    )
    np.testing.assert_array_equal(
        ensemble.predict(X), ensemble.classes_[outputs.argmax(axis=1)]
    )


# ------------------------------------------------------------ members against loops


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(),
        CARTClassifier(max_features=2, max_depth=6),
        C45Classifier(pruning="error_based"),
        GaussianNB(),
    ],
    ids=["cart", "random-cart", "c45", "any"],
)
def test_flipping_is_a_loop_of_fits(estimator, bootstrap):
    X, y = make_table(1)
    seeds = draw_seeds(7, 6)
    ensemble = OutputFlippingClassifier(
        estimator, 6, flip_rate=0.25, bootstrap=bootstrap, random_state=7
    ).fit(X, y)
    outputs = [flip_labels(y, 0.25, seed) for seed in seeds]
    members = fit_members(estimator, X, outputs, seeds, bootstrap)
    new = np.random.default_rng(0).normal(size=(100, 4))
    for member, plain in zip(ensemble, members, strict=True):
        np.testing.assert_array_equal(member.predict(new), plain.predict(new))
    expected = np.mean([member.predict_proba(new) for member in members], axis=0)
    np.testing.assert_allclose(ensemble.predict_proba(new), expected, atol=1e-12)
    votes = np.mean(
        [member.predict(new)[:, None] == ensemble.classes_ for member in members], 0
    )
    ensemble.set_params(voting="hard")
    np.testing.assert_allclose(ensemble.predict_proba(new), votes)
    # A vote decides; of equally many votes the mean shares do.
    best = ensemble.classes_[(votes + 1e-6 * expected).argmax(axis=1)]
    np.testing.assert_array_equal(ensemble.predict(new), best)


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_smearing_is_a_loop_of_fits(n_classes, bootstrap):
    X, y = make_table(2, n_classes=n_classes)
    ensemble = OutputSmearingClassifier(
        None, 5, noise=0.8, bootstrap=bootstrap, random_state=3
    ).fit(X, y)
    seeds = draw_seeds(3, 5)
    outputs = [smear_labels(y, 0.8, seed) for seed in seeds]
    members = fit_members(CARTRegressor(), X, outputs, seeds, bootstrap)
    new = np.random.default_rng(0).normal(size=(100, 4))
    for member, plain in zip(ensemble, members, strict=True):
        np.testing.assert_allclose(member.predict(new), plain.predict(new), atol=1e-12)
    mean = np.mean([member.predict(new) for member in members], axis=0)
    np.testing.assert_array_equal(
        ensemble.predict(new), ensemble.classes_[mean.argmax(axis=1)]
    )


def test_smearing_over_any_regressor_is_a_loop_of_fits():
    X, y = make_table(2)
    ensemble = OutputSmearingClassifier(Ridge(), 4, random_state=1).fit(X, y)
    members = [Ridge().fit(X, smear_labels(y, 1.0, seed)) for seed in draw_seeds(1, 4)]
    mean = np.mean([member.predict(X) for member in members], axis=0)
    expected = ensemble.classes_[mean.argmax(axis=1)]
    np.testing.assert_array_equal(ensemble.predict(X), expected)


def test_rows_are_those_of_the_bootstrap_sample():
    X, y = make_table()
    ensemble = OutputFlippingClassifier(
        n_estimators=3, bootstrap=True, max_samples=40, random_state=0
    ).fit(X, y)
    for seed, rows in zip(draw_seeds(0, 3), ensemble.estimators_samples_, strict=True):
        expected = np.random.RandomState(seed).randint(0, 90, 40)
        np.testing.assert_array_equal(rows, expected)
    everyone = clone(ensemble).set_params(bootstrap=False, max_samples=None).fit(X, y)
    np.testing.assert_array_equal(everyone.estimators_samples_[2], np.arange(90))


def test_members_of_any_classifier_may_lack_classes():
    X, y = make_table()
    for estimator in (GaussianNB(), KNeighborsClassifier(3)):
        ensemble = OutputFlippingClassifier(
            estimator, 12, bootstrap=True, max_samples=8, random_state=0
        ).fit(X, y)
        assert min(len(member.classes_) for member in ensemble) < 3
        expected = np.zeros((len(X), 3))
        for member in ensemble:
            for place, label in enumerate(member.classes_):
                column = ensemble.classes_.tolist().index(label)
                expected[:, column] += member.predict_proba(X)[:, place] / 12
        np.testing.assert_allclose(ensemble.predict_proba(X), expected)


# --------------------------------------------------------------------- as estimators

TABLES = {
    "breast-cancer": tuple(part[:250] for part in load_breast_cancer(return_X_y=True)),
    "digits": tuple(part[:300] for part in load_digits(return_X_y=True)),
    "moons": make_moons(300, noise=0.3, random_state=0),
    "wine": load_wine(return_X_y=True),
}


@pytest.mark.parametrize("name", sorted(TABLES))
@pytest.mark.parametrize("kind", BOTH)
def test_no_less_accurate_than_a_tree(name, kind):
    tree, ensemble = [], []
    for seed in range(3):
        X, X_new, y, y_new = train_test_split(*TABLES[name], random_state=seed)
        tree.append(CARTClassifier().fit(X, y).score(X_new, y_new))
        fitted = kind(n_estimators=40, random_state=seed).fit(X, y)
        ensemble.append(fitted.score(X_new, y_new))
    assert np.mean(ensemble) >= np.mean(tree)


@pytest.mark.parametrize(
    "ensemble",
    [
        OutputFlippingClassifier(n_estimators=7, random_state=0),
        OutputFlippingClassifier(
            DecisionTreeClassifier(max_depth=3), 7, random_state=0
        ),
        OutputSmearingClassifier(n_estimators=7, bootstrap=True, random_state=0),
        OutputSmearingClassifier(DecisionTreeRegressor(max_depth=3), 7, random_state=0),
    ],
    ids=["flipping", "flipping-any", "smearing", "smearing-any"],
)
def test_same_for_any_number_of_jobs_and_after_pickling(ensemble):
    X, y = make_table()
    alone = clone(ensemble).set_params(n_jobs=1).fit(X, y)
    shares = alone.predict_proba(X)
    together = clone(ensemble).set_params(n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(together.predict_proba(X), shares)
    stored = pickle.loads(pickle.dumps(together))
    np.testing.assert_array_equal(stored.predict_proba(X), shares)
    other = clone(ensemble).set_params(random_state=1).fit(X, y)
    assert (other.predict_proba(X) != shares).any()


@pytest.mark.parametrize("kind", BOTH)
def test_warm_start_continues(kind):
    X, y = make_table()
    at_once = kind(n_estimators=6, random_state=0, bootstrap=True).fit(X, y)
    grown = kind(n_estimators=2, random_state=0, bootstrap=True, warm_start=True)
    first = grown.fit(X, y).estimators_[0]
    grown.set_params(n_estimators=6).fit(X, y)
    assert len(grown) == 6
    assert grown[0] is first
    np.testing.assert_array_equal(grown.predict_proba(X), at_once.predict_proba(X))
    for rows, expected in zip(
        grown.estimators_samples_, at_once.estimators_samples_, strict=True
    ):
        np.testing.assert_array_equal(rows, expected)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        grown.fit(X, y)
    with pytest.raises(ValueError, match=r"n_estimators=5 must be larger"):
        grown.set_params(n_estimators=5).fit(X, y)


@pytest.mark.parametrize("kind", BOTH)
def test_tables_of_all_kinds(kind):
    X, y = make_mixed_table(
        150, missing_fraction=0.1, as_frame=True, random_state=0, n_rules=4
    )
    ensemble = kind(n_estimators=10, random_state=0).fit(X, y)
    assert ensemble.feature_names_in_.tolist() == list(X.columns)
    assert ensemble[0].schema_.names == tuple(X.columns)
    assert ensemble.score(X, y) > 0.8
    numbers, y = make_table()
    numbers[numbers < 0] = 0
    dense = kind(n_estimators=5, random_state=0).fit(numbers, y)
    thin = kind(n_estimators=5, random_state=0).fit(sparse.csr_array(numbers), y)
    np.testing.assert_array_equal(
        thin.predict_proba(sparse.csr_array(numbers)), dense.predict_proba(numbers)
    )


def test_id3_members():
    X = pd.DataFrame({"a": ["x", "y", "z"] * 20, "b": ["p", "q"] * 30})
    y = (X["a"] == "x").to_numpy()
    ensemble = OutputFlippingClassifier(ID3Classifier(), 20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(ensemble.predict(X), y)


def test_seeds_reach_the_parts_of_a_pipeline():
    X, y = make_table()
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1))
    ensemble = OutputFlippingClassifier(pipeline, 3, random_state=0).fit(X, y)
    states = {member[-1].random_state for member in ensemble}
    assert len(states) == 3
    assert pipeline[-1].random_state is None


def test_weights_are_copies_in_the_class_shares():
    X, y = make_table(n_classes=2)
    weight = np.where(y == "a", 3.0, 1.0)
    of_weights = OutputSmearingClassifier(n_estimators=1).fit(
        X, y, sample_weight=weight
    )
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    of_copies = OutputSmearingClassifier(n_estimators=1).fit(X[rows], y[rows])
    np.testing.assert_allclose(of_weights.noise_, of_copies.noise_)


@pytest.mark.parametrize("kind", BOTH)
def test_callbacks_see_every_member(kind):
    seen = []

    class Recorder:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, **data):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator, X, **data):
            if context.task_name == "member":
                seen.append(fitted_estimator.predict(X))
                return len(seen) == 4
            return False

    X, y = make_table()
    ensemble = kind(n_estimators=6, random_state=0, n_jobs=1)
    ensemble.set_callbacks(Recorder()).fit(X, y)
    assert len(seen) == len(ensemble) == 4  # the callback stopped it
    assert len(ensemble.estimators_samples_) == 4
    np.testing.assert_array_equal(seen[-1], ensemble.predict(X))


@pytest.mark.parametrize(
    ("ensemble", "message"),
    [
        (OutputFlippingClassifier(n_estimators=0), "'n_estimators' parameter"),
        (OutputFlippingClassifier(flip_rate=1.0), "'flip_rate' parameter must be"),
        (OutputFlippingClassifier(flip_rate="most"), "'flip_rate' parameter must be"),
        (OutputFlippingClassifier(voting="loud"), "'voting' parameter must be one of"),
        (
            OutputFlippingClassifier(Ridge()),
            "'estimator' parameter must be None or a class",
        ),
        (
            OutputFlippingClassifier(max_samples=0.5),
            "must be None with bootstrap=False.*; got 0.5",
        ),
        (OutputSmearingClassifier(noise=-1), "'noise' parameter must be a float"),
        (
            OutputSmearingClassifier(GaussianNB()),
            "'estimator' parameter must be None or a reg",
        ),
        (OutputSmearingClassifier(max_samples=0), "'max_samples' parameter must be"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_wrong_parameters(ensemble, message):
    X, y = make_table()
    with pytest.raises(ValueError, match=message):
        ensemble.fit(X, y)


def test_weights_need_members_that_take_them():
    X, y = make_table()
    ensemble = OutputFlippingClassifier(KNeighborsClassifier(), 3)
    with pytest.raises(ValueError, match=r"KNeighborsClassifier\.fit does not accept"):
        ensemble.fit(X, y, sample_weight=np.ones(len(y)))
    ensemble.set_params(bootstrap=True).fit(X, y, sample_weight=(y == "a") * 1.0)
    assert set(ensemble.predict(X)) == {"a"}


def test_probabilities_of_members_with_laplace():
    """The mean of what the members give, and not of their class fractions."""
    X, y = load_wine(return_X_y=True)
    model = OutputFlippingClassifier(
        C45Classifier(laplace=True), n_estimators=5, random_state=0
    ).fit(X, y)
    mean = np.mean([member.predict_proba(X) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), mean, atol=1e-15)


@pytest.mark.parametrize("make_frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_members_choose_columns_of_frames_by_name(make_frame, bootstrap):
    X, y = make_table()
    frame = make_frame(dict(zip("abcd", X.T, strict=True)))
    options = {"n_estimators": 2, "bootstrap": bootstrap, "random_state": 0}
    for make, member in (
        # Two members often disagree, so that ties are decided by probabilities.
        (partial(OutputFlippingClassifier, voting="hard"), GaussianNB()),
        (OutputSmearingClassifier, Ridge()),
    ):
        chosen = ColumnTransformer([("chosen", "passthrough", ["b", "a"])])
        by_name = make(make_pipeline(chosen, member), **options).fit(frame, y)
        plain = make(member, **options).fit(X[:, [1, 0]], y)
        assert (by_name.predict(frame) == plain.predict(X[:, [1, 0]])).all()
