"""Weights of training rows in quantiles beside those of R's ranger (``quantreg``)."""

import json
from pathlib import Path

import numpy as np

from sklearn_textbook.ensemble import RandomForestRegressor

RECORDED = json.loads(
    Path(__file__).with_name("ranger_quantiles.json").read_text("utf-8")
)


def test_weights_are_those_of_ranger_on_the_same_tree():
    X, y, new = (np.array(RECORDED[name], dtype=float) for name in ("x", "y", "new"))
    model = RandomForestRegressor(
        1, bootstrap=False, min_samples_split=16, store_distribution=True
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(new), RECORDED["means"], rtol=1e-9)
    # Values are 1, 2, ...; ranger draws one of the leaf for each of many equal trees.
    frequencies = np.array(RECORDED["frequencies"])
    for row, of_value in enumerate(frequencies):
        values = np.flatnonzero(of_value) + 1.0
        n_values = len(values)
        levels = (np.arange(n_values) + 0.5) / n_values
        assert model.predict(new[[row]], quantiles=levels)[0].tolist() == list(values)
        deviation = np.sqrt((1 - 1 / n_values) / n_values / RECORDED["trees"][0])
        weights = of_value[of_value > 0]
        assert (abs(weights - 1 / n_values) < 4.5 * deviation).all()
