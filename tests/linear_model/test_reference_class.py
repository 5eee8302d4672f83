"""The class that the others of a logistic regression are compared with."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sklearn_textbook.exchange import export_code
from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.linear_model import (
    LogisticRegression,
    anova,
    estimate_contrasts,
    robust_covariance,
    slopes,
)

CLASSES = np.array(["u", "v", "w"])


def make_table(n_rows=300):
    rng = np.random.default_rng(2)
    x, is_b = rng.normal(size=n_rows), rng.random(n_rows) < 0.5
    scores = np.column_stack([np.zeros(n_rows), x, is_b - 0.5 * x])
    codes = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return pd.DataFrame({"x": x, "g": np.where(is_b, "b", "a")}), CLASSES[codes]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_another_reference_class_is_the_last_of_other_names(place, fit_intercept):
    """Labels are renamed so that the reference class is the last one."""
    X, y = make_table()
    label = CLASSES[place]
    others = [other for other in CLASSES if other != label]
    order = np.array([others.index(c) if c != label else 2 for c in CLASSES])
    renamed = order[np.searchsorted(CLASSES, y)]
    base = LogisticRegression(tol=1e-12, fit_intercept=fit_intercept)
    expected = clone(base).fit(X, renamed)
    model = clone(base).set_params(reference_class=label).fit(X, y)
    assert model.reference_class_ == label
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-9)
    np.testing.assert_allclose(model.covariance_, expected.covariance_, atol=1e-9)
    np.testing.assert_allclose(
        model.standard_errors_, expected.standard_errors_, rtol=1e-7
    )
    np.testing.assert_allclose(
        model.predict_proba(X),
        expected.predict_proba(X)[:, order],
        atol=1e-9,
    )
    headings = [f"{other} against {label}" for other in others]
    assert [name for name, _ in model.summary().tables] == headings
    assert model.decision_function(X)[:, place].max() == 0.0
    found = robust_covariance(model, X, y, covariance_type="HC0")
    wanted = robust_covariance(expected, X, renamed, covariance_type="HC0")
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(anova(model).p_values, anova(expected).p_values)
    np.testing.assert_allclose(
        slopes(model, X, "x").estimates,
        slopes(expected, X, "x").estimates[order],
    )


def test_contrasts_and_a_warm_start():
    X, y = make_table()
    model = LogisticRegression(reference_class="v", warm_start=True, tol=1e-10)
    model.fit(X, y)
    name = "u against v: x"
    assert estimate_contrasts(model, [name]).estimates == model.coef_[0, 0]
    assert model.fit(X, y).n_iter_[0] <= 1
    moved = model.set_params(reference_class="u").fit(X, y)
    assert moved.n_iter_[0] <= 1
    plain = LogisticRegression(tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        moved.predict_proba(X), plain.predict_proba(X), atol=1e-8
    )


def test_saved_and_exported_models(tmp_path):
    X, y = make_table()
    model = LogisticRegression(reference_class="u").fit(X, y)
    save_model(model, tmp_path / "model.json")
    other = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert other.reference_class_ == "u"
    module = {}
    exec(export_code(model, "python"), module)
    found = module["predict_proba"](X.iloc[0].tolist())
    np.testing.assert_allclose(found, model.predict_proba(X[:1])[0])


def test_two_classes():
    X, y = make_table()
    y = np.where(y == "u", "u", "v")
    model = LogisticRegression(reference_class="u").fit(X, y)
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(X, y).coef_)
    with pytest.raises(ValueError, match="Of two classes the first"):
        LogisticRegression(reference_class="v").fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reference_class": "z"}, "one of the classes 'u', 'v', 'w'; got 'z'"),
        ({"reference_class": "u", "C": 1.0}, "without a penalty"),
        ({"reference_class": "u", "parametrization": "symmetric"}, "parametrization"),
    ],
)
def test_wrong_reference_classes(parameters, message):
    X, y = make_table()
    with pytest.raises(ValueError, match=message):
        LogisticRegression(**parameters).fit(X, y)
