"""
Solvers of the maximum entropy model
====================================

Improved iterative scaling (改进的迭代尺度法, 算法6.1) and the quasi-Newton method
(拟牛顿法, 算法6.2) of 李航《统计学习方法》, and generalised iterative scaling, fit the
same model. They converge to the same distribution at different speeds.
"""

# %%
# In these two columns, two species of iris overlap, so the likelihood has a maximum.
# ``loss_path_`` is the negative log-likelihood at the start and after each iteration.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from sklearn_textbook.linear_model import MaxEntClassifier

X, y = load_iris(return_X_y=True)
X, y = X[y > 0, :2], y[y > 0]
models = {
    solver: MaxEntClassifier(solver=solver, tol=1e-5, max_iter=5_000).fit(X, y)
    for solver in ("gis", "iis", "lbfgs", "bfgs")
}
smallest = min(model.loss_path_.min() for model in models.values())

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for solver, model in models.items():
    above = model.loss_path_ - smallest
    is_visible = above > 1e-9
    rounds = np.arange(len(above)) + 1
    axes.loglog(rounds[is_visible], above[is_visible], label=f'solver="{solver}"')
axes.set(xlabel="iterations + 1", ylabel="loss above its minimum")
axes.legend()

# %%
# At the solution, the model expectations equal the empirical ones, and by duality the
# entropy of the model is the negative of its mean log-likelihood.

for solver, model in models.items():
    gap = np.abs(model.empirical_expectation_ - model.model_expectation_).max()
    print(
        f"{solver:5} {model.n_iter_:4} iterations, entropy {model.entropy_:.5f}, "
        f"dual {model.dual_value_:.5f}, expectations differ by {gap:.0e}"
    )

# %%
# In 例6.1, only expectations are known: first P(A) + P(B) = 3/10, and then also
# P(A) + P(C) = 1/2. Outcomes that no constraint distinguishes are equally probable.

outcomes = list("ABCDE")
constraints = {
    "nothing known": ([], []),
    "P(A) + P(B) = 0.3": ([{"A", "B"}], [0.3]),
    "and P(A) + P(C) = 0.5": ([{"A", "B"}, {"A", "C"}], [0.3, 0.5]),
}
figure, axes = plt.subplots(1, 3, figsize=(8, 3), sharey=True, layout="constrained")
for ax, (title, (features, expectations)) in zip(
    axes, constraints.items(), strict=True
):
    model = MaxEntClassifier.from_constraints(outcomes, features, expectations)
    bars = ax.bar(outcomes, model.distribution_)
    ax.bar_label(bars, fmt="%.3f", fontsize=7)
    ax.set_title(f"{title}\nentropy {model.entropy_:.3f}", fontsize=9)
    ax.margins(y=0.12)
axes[0].set_ylabel("probability")
plt.show()
