"""
Logistic regression: decision boundary and solvers
==================================================

Logistic regression (对数几率回归) converts a linear score into the probability of a
class (周志华《机器学习》, section 3.3). This example plots the decision boundary for
the watermelon data set 3.0α (exercise 3.3) and the convergence of the solvers.
"""

# %%
# The decision boundary
# ---------------------
# The colour is the probability of a good watermelon. On the solid line it is one half;
# on the dashed lines, a quarter and three quarters.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.linear_model import LogisticRegression

X, y = load_watermelon(
    version="3.0alpha", language="en", return_X_y=True, as_frame=True
)
model = LogisticRegression().fit(X, y)
print(model.summary())

density, sugar = np.meshgrid(np.linspace(0.15, 0.85, 200), np.linspace(0.0, 0.5, 200))
plane = pd.DataFrame({"density": density.ravel(), "sugar": sugar.ravel()})
good = model.predict_proba(plane)[:, 1].reshape(density.shape)

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
shades = ax.pcolormesh(density, sugar, good, cmap="RdBu", vmin=0, vmax=1, alpha=0.6)
figure.colorbar(shades, label="probability of a good watermelon")
ax.contour(
    density, sugar, good, [0.25, 0.75], colors="k", linestyles="--", linewidths=1
)
ax.contour(density, sugar, good, [0.5], colors="k", linewidths=2)
for label, marker, color in (("yes", "o", "#0072B2"), ("no", "X", "#D55E00")):
    rows = X[y == label]
    ax.scatter(*rows.to_numpy().T, marker=marker, c=color, s=70, edgecolors="w",
               label=f"good: {label}")  # fmt: skip
ax.set(xlabel=X.columns[0], ylabel=X.columns[1], title="Watermelons 3.0α")
ax.legend(loc="upper left")
plt.show()

# %%
# Convergence of the solvers
# --------------------------
# The plot shows the difference between the loss and its minimum after each iteration.
# Near the minimum, Newton's method doubles the number of correct digits in each
# iteration; BFGS and L-BFGS estimate the curvature from previous iterations; gradient
# descent reduces the difference by about the same factor each time. The maximum entropy
# model (最大熵模型) with the same columns is the same model, so improved iterative
# scaling (改进的迭代尺度法) converges to the same minimum.
from sklearn_textbook.linear_model import MaxEntClassifier

solvers = ("newton", "bfgs", "lbfgs", "gradient")
models = {
    solver: LogisticRegression(solver=solver, max_iter=5000).fit(X, y)
    for solver in solvers
}
models["iis"] = MaxEntClassifier(solver="iis", max_iter=5000, tol=1e-8).fit(X, y)
least = min(model.loss_path_.min() for model in models.values())

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for solver, model in models.items():
    excess = np.maximum(model.loss_path_ - least, 1e-15)
    steps = np.arange(len(excess))
    ax.loglog(steps + 1, excess, marker=".", markevery=0.1, label=solver)
ax.set(xlabel="iterations + 1", ylabel="loss above its minimum")
ax.set_ylim(1e-13, None)
ax.legend()
plt.show()

# %%
# Separable classes
# -----------------
# Two species of iris are linearly separable. The steeper the curve of the probability,
# the larger the likelihood, so the coefficients grow with every iteration, and a
# warning is issued.
import warnings

from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

iris = load_iris()
rows, is_setosa = iris.data[:100, [2]], iris.target[:100] == 0
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
lengths = np.linspace(0.5, 5.5, 300).reshape(-1, 1)
for n_iterations in (1, 2, 4, 8, 16):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(max_iter=n_iterations).fit(rows, is_setosa)
    slope = model.coef_[0, 0]
    shares = model.predict_proba(lengths)[:, 1]
    unit = "iteration" if n_iterations == 1 else "iterations"
    ax.plot(lengths, shares, label=f"{n_iterations} {unit}, slope {slope:.1f}")
ax.scatter(rows, is_setosa, marker="|", color="k")
ax.set(xlabel=iris.feature_names[2], ylabel="probability of setosa")
ax.legend()
plt.show()
print("separation:", model.separation_)
