"""
Prediction intervals
====================

Two gradient boosting models of quantiles make an interval for new rows whose width
varies with the column, and held-out rows correct it. A forest has intervals from the
rows that its trees did not see (:doc:`/user_guide/prediction_intervals`).
"""

# %%
# Noise that grows
# ----------------
# The standard deviation of the noise grows from left to right. The interval shall cover
# nine of ten new rows.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_predict

from sklearn_textbook.ensemble import (
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn_textbook.inspection import IntervalDisplay

random = np.random.default_rng(0)


def draw(n_rows):
    """Draw rows of a sine whose noise grows."""
    x = random.uniform(0, 6, n_rows)
    return x[:, None], np.sin(x) + random.normal(0, 0.05 + 0.1 * x)


X, y = draw(300)
X_new, y_new = draw(3_000)
limits = [
    GradientBoostingRegressor(loss="quantile", alpha=alpha, min_samples_leaf=10)
    for alpha in (0.05, 0.95)
]
low, high = (model.fit(X, y).predict(X_new) for model in limits)
print(f"fitted quantiles cover {np.mean((low <= y_new) & (y_new <= high)):.1%}")

# %%
# The correction
# --------------
# The excess of a row is how far it lies outside of the interval that was fitted without
# it. The interval is widened by the quantile of these excesses.
low_held_out, high_held_out = (cross_val_predict(model, X, y) for model in limits)
excess = np.sort(np.maximum(low_held_out - y, y - high_held_out))
margin = excess[int(np.ceil(0.9 * (len(y) + 1))) - 1]
is_covered = (low - margin <= y_new) & (y_new <= high + margin)
print(f"corrected quantiles cover {np.mean(is_covered):.1%}")

# %%
grid = np.linspace(0, 6, 400)[:, None]
low, high = (model.predict(grid) for model in limits)
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.scatter(X, y, s=8, color="black", label="training rows")
ax.fill_between(
    grid[:, 0], low - margin, high + margin, alpha=0.25, label="corrected interval"
)
ax.fill_between(grid[:, 0], low, high, alpha=0.45, label="fitted quantiles")
ax.plot(grid, np.sin(grid), color="#D55E00", label="mean")
ax.legend()
plt.show()

# %%
# The rows that trees did not see
# -------------------------------
# A forest needs no other fits: each training row is predicted by the trees that did
# not see it. Its intervals are as wide as the trees disagree.
forest = RandomForestRegressor(
    n_estimators=300, min_samples_leaf=5, store_distribution=True, random_state=0
)
low, high = forest.fit(X, y).predict_interval(X_new, 0.9).T
print(f"the forest's intervals cover {np.mean((low <= y_new) & (y_new <= high)):.1%}")

# %%
# ``IntervalDisplay`` draws the intervals of rows by their prediction, and the values.
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
IntervalDisplay.from_estimator(forest, X_new[:200], y_new[:200], ax=ax)
plt.show()
