"""
Shapley values of a forest
==========================

Shapley values divide each prediction among the columns: the mean prediction plus the
contributions of all columns is the prediction (:doc:`/user_guide/explaining`). In this
example, a forest predicts the progression of diabetes from ten measurements.
"""

# %%
# The forest and the contributions
# --------------------------------
# The contributions of all rows are an array of rows and columns. With the mean, they
# add up to the predictions.
import numpy as np
from sklearn.datasets import load_diabetes

from sklearn_textbook.ensemble import RandomForestRegressor
from sklearn_textbook.inspection import shap_values

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
forest = RandomForestRegressor(100, min_samples_leaf=5, random_state=0).fit(X, y)
result = shap_values(forest, X)
contributions = result.values
print(contributions.shape)
sums = result.base_values + contributions.sum(axis=1)
print(f"largest difference: {abs(sums - forest.predict(X)).max():.1e}")

# %%
# Which columns matter
# --------------------
# Each point is a patient, its colour the value of the column from small (blue) to large
# (yellow). The columns are sorted by the mean size of their contributions.
import matplotlib.pyplot as plt

order = abs(contributions).mean(axis=0).argsort()
random = np.random.default_rng(0)
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for place, column in enumerate(order):
    ranks = X.iloc[:, column].rank(pct=True)
    heights = place + random.uniform(-0.3, 0.3, len(X))
    ax.scatter(contributions[:, column], heights, c=ranks, s=6, cmap="viridis")
ax.axvline(0, color="grey", linewidth=0.8)
ax.set_yticks(range(len(order)), X.columns[order])
ax.set_xlabel("contribution to the predicted progression")
plt.show()

# %%
# How a column acts
# -----------------
# The contribution of the body mass index rises with its value. Points at the same value
# differ because of the other columns, here the blood serum measurement ``s5``.
figure, ax = plt.subplots(layout="constrained")
bmi = X.columns.get_loc("bmi")
points = ax.scatter(X["bmi"], contributions[:, bmi], c=X["s5"], s=12)
figure.colorbar(points, label="s5")
ax.set_xlabel("body mass index")
ax.set_ylabel("contribution")
plt.show()

# %%
# ``interactions=True`` divides the contributions further, among pairs of columns. The
# diagonal has what each column contributes alone. These are the strongest pairs:
pairs = shap_values(forest, X, interactions=True).values
strength = abs(pairs).mean(axis=0)
first, second = np.triu_indices(len(X.columns), k=1)
for pair in strength[first, second].argsort()[::-1][:3]:
    names = X.columns[first[pair]], X.columns[second[pair]]
    # The contribution of a pair stands in two halves in the matrix.
    print(*names, f"{2 * strength[first[pair], second[pair]]:.1f}")

# %%
# A single patient
# ----------------
# :func:`~sklearn_textbook.inspection.explain` writes the contributions to one
# prediction as a sentence and a table.
from sklearn_textbook.inspection import explain

patient = forest.predict(X).argmax()
print(explain(forest, X.iloc[[patient]], max_terms=4))

# %%
# The same contributions as a figure, from the mean to the prediction:
sizes = contributions[patient]
order = abs(sizes).argsort()
starts = result.base_values + np.cumsum([0, *sizes[order]])[:-1]
figure, ax = plt.subplots(layout="constrained")
colors = np.where(sizes[order] > 0, "#D55E00", "#0072B2")
ax.barh(range(len(order)), sizes[order], left=starts, color=colors)
labels = [f"{X.columns[i]} = {X.iloc[patient, i]:g}" for i in order]
ax.set_yticks(range(len(order)), labels)
ax.axvline(float(result.base_values), color="grey", linewidth=0.8)
ax.set_xlabel("predicted progression")
plt.show()
