"""Explanations of ensembles by the contributions of columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import read_trees
from sklearn_textbook.inspection import explain, shap_values
from sklearn_textbook.tree.members import is_tree
from tests.exchange.test_levels import make_frame, make_target
from tests.exchange.test_tree_sum import MODELS, fit

ENSEMBLES = [name for name, model in MODELS.items() if not is_tree(model)]


@pytest.mark.parametrize("name", ENSEMBLES)
def test_contributions_add_up(name):
    model = fit(name)
    new = make_frame(12, missing=0.2, seed=1, unknown=True)
    trees = read_trees(model)
    scores = trees.compute_scores(trees.read(new))
    values = shap_values(model, new).values.reshape(12, 5, -1)
    found = explain(model, new)
    for row, entry in enumerate(found):
        assert entry.path == entry.leaves == ()
        assert entry.prediction == model.predict(new[row : row + 1])[0]
        amounts = {part.column: part.amount for part in entry.contributions}
        assert list(map(abs, amounts.values())) == sorted(
            map(abs, amounts.values()), reverse=True
        )
        assert entry.base + sum(amounts.values()) == pytest.approx(entry.score)
        output = 0
        if scores.shape[1] > 1:
            output = model.classes_.tolist().index(entry.prediction)
        assert entry.score == pytest.approx(scores[row, output])
        assert_allclose([amounts[c] for c in new], values[row, :, output])
        if entry.probabilities is not None:
            assert_allclose(
                list(entry.probabilities.values()),
                model.predict_proba(new[row : row + 1])[0],
            )
    assert max(map(len, str(found).splitlines())) <= 80
    assert "<table>" in found._repr_html_()


def test_text():
    iris = load_iris(as_frame=True)
    X = iris.data.set_axis(["a", "b", "c", "d"], axis=1)
    model = GradientBoostingClassifier(n_estimators=5).fit(X, iris.target > 0)
    row = X[:1].assign(d=np.nan)
    entry = explain(model, row, max_terms=2)[0]
    base, score = entry.base, entry.score
    first, second, *others = entry.contributions
    rest = sum(part.amount for part in others)
    assert entry.score_name == "log odds of class true"
    expected = (
        f"log odds of class true: {score:.2f} = {base:.2f} on average, "
        f"{first.amount:+.2f} because {first.column} is 1.4"
    )
    assert first.column == "c"
    assert entry.sentence.startswith(expected)
    share = 100 / (1 + np.exp(-score))
    assert entry.sentence.endswith(f"; the probability is {share:.1f}%")
    assert str(entry).splitlines()[-1].split() == [
        *entry.score_name.split(),
        f"{score:.2f}",
    ]
    if second.amount and rest:
        assert "other columns" in entry.sentence
    named = explain(model, row, class_names=["no", "yes"], feature_names=list("pqrs"))
    assert "log odds of 'yes'" in named[0].sentence
    assert "because r is 1.4" in named[0].sentence
    assert ": 2.1972" not in entry.sentence
    precise = explain(model, row, decimals=4)[0]
    assert f"{score:.4f} = {base:.4f} on average" in precise.sentence


def test_values_and_several_outputs():
    frame = make_frame(missing=0.1)
    y = make_target(frame)
    forest = RandomForestRegressor(n_estimators=5, random_state=0)
    (entry,) = explain(forest.fit(frame, y), frame[:1])
    assert entry.sentence.startswith("prediction: ")
    assert entry.score == pytest.approx(entry.prediction)
    poisson = GradientBoostingRegressor(n_estimators=5, loss="poisson")
    (entry,) = explain(poisson.fit(frame, np.abs(y)), frame[:1])
    assert entry.score_name == "logarithm of the prediction"
    assert np.exp(entry.score) == pytest.approx(entry.prediction)
    assert "; its exponential " in entry.sentence
    (entry,) = explain(forest.fit(frame, np.stack([y, -y], axis=1)), frame[:1])
    assert entry.score == pytest.approx(entry.prediction)
    assert entry.score_name == ["prediction of output 0", "prediction of output 1"]
    both = np.stack([y > 0, np.digitize(y, [-1, 1])], axis=1).astype(int)
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(frame, both)
    (entry,) = explain(model, frame[:1])
    first, second = (p[0].max() for p in model.predict_proba(frame[:1]))
    assert entry.score == pytest.approx([first, second])
    assert [max(shares.values()) for shares in entry.probabilities] == [first, second]
    assert " of output 1: " in entry.sentence
    with pytest.raises(ValueError, match="feature_names must have 5"):
        explain(model, frame, feature_names=["a"])
    with pytest.raises(ValueError, match="class_names"):
        explain(model, frame, class_names=["a"])
