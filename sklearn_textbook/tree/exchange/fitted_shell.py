"""Fitted estimators of scikit-learn whose trees are then replaced."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.monotonic import resolve_monotonic


def fit_on_codes(estimator, n_features: int, n_classes=None, n_outputs: int = 1):
    """Fit an estimator of scikit-learn to a table made up for it.

    So it has all its fitted attributes, also the private ones, whatever they are in the
    version installed.
    """
    if n_classes is None:
        y = np.zeros((2, n_outputs))
        y[1] = 1.0
    else:
        rows = np.arange(max(n_classes))
        y = np.stack([rows % number for number in n_classes], axis=1)
    # The rows differ, since AdaBoost needs a tree better than chance.
    X = np.repeat(np.arange(len(y), dtype=np.float32)[:, np.newaxis], n_features, 1)
    return estimator.fit(X, y[:, 0] if y.shape[1] == 1 else y)


def share_parameters(model, estimator, /, **others):
    """Set the parameters that both have, to those of the model or to others."""
    known = estimator.get_params(deep=False)
    given = model.get_params(deep=False)
    values = {name: given[name] for name in known if name in given}
    if isinstance(values.get("monotonic_cst"), dict):
        names = list(model.feature_names_in_)
        signs = resolve_monotonic(values["monotonic_cst"], names, has_names=True)
        values["monotonic_cst"] = list(signs)
    values.update(others)
    if values.get("criterion") == "friedman_mse":
        values["criterion"] = "squared_error"
    return estimator.set_params(**values)
