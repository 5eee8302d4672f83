"""
AdaBoost round by round
=======================

This example follows example 8.1 of 李航《统计学习方法》: three stumps (决策树桩) are
fitted to ten rows with a single column, and the plots show the sample weights in each
round.
"""

# %%
# Three rounds
# ------------
# The default base estimator of :class:`~sklearn_textbook.ensemble.AdaBoostClassifier`
# is the stump with the smallest weighted error. ``store_weights=True`` stores the
# sample weights :math:`D_1, D_2, \ldots`.
import numpy as np

from sklearn_textbook.datasets import load_adaboost_example
from sklearn_textbook.ensemble import AdaBoostClassifier

X, y = load_adaboost_example(return_X_y=True)
x = np.ravel(X)
model = AdaBoostClassifier(n_estimators=3, store_weights=True).fit(X, y)
for number, stump in enumerate(model, start=1):
    error = model.estimator_errors_[number - 1]
    alpha = model.estimator_weights_[number - 1]
    threshold = stump.tree_.threshold[0]
    print(f"G_{number}: x < {threshold}, e = {error:.4f}, alpha = {alpha:.4f}")

# %%
# The area of a marker is the weight of its row. The dashed line is the threshold of the
# stump, which predicts +1 on the shaded side; rings mark misclassified rows. For the
# next round, their weights are increased to half of the total weight, so that the same
# stump would be no better than chance.
import matplotlib.pyplot as plt

POSITIVE, NEGATIVE = "#0072B2", "#D55E00"
styles = {1: ("y = +1", POSITIVE, "P"), -1: ("y = −1", NEGATIVE, "X")}
grid = np.linspace(-0.7, 9.7, 1041)


def draw_rows(ax, heights, sizes, wrong):
    """Draw the rows, with rings around those that are wrong."""
    for sign, (label, color, marker) in styles.items():
        rows = y == sign
        ax.scatter(
            x[rows],
            heights[rows],
            s=sizes[rows],
            marker=marker,
            color=color,
            linewidth=0,
            label=label,
            zorder=3,
        )
    ax.scatter(
        x[wrong],
        heights[wrong],
        s=sizes[wrong] + 260,
        facecolor="none",
        edgecolor="black",
        label="misclassified",
        zorder=2,
    )


figure, axes = plt.subplots(3, 1, figsize=(8, 5.2), layout="constrained", sharex=True)
for number, (ax, stump) in enumerate(zip(axes, model, strict=True)):
    weights = model.sample_weights_[number]
    wrong = stump.predict(X) != y
    ax.fill_between(
        grid,
        -1,
        1,
        where=stump.predict(grid[:, np.newaxis]) == 1,
        color=POSITIVE,
        alpha=0.12,
        linewidth=0,
    )
    ax.axvline(stump.tree_.threshold[0], color="black", linestyle="--", linewidth=1)
    draw_rows(ax, np.full(len(x), 0.25), 2_000 * weights, wrong)
    for place, weight in zip(x, weights, strict=True):
        ax.text(place, -0.7, f"{weight:.4f}", ha="center", fontsize="small")
    ax.set(xlim=grid[[0, -1]], ylim=(-1, 1))
    ax.set_yticks([])
    error, alpha = model.estimator_errors_[number], model.estimator_weights_[number]
    ax.set_title(
        rf"$G_{number + 1}$: weighted error {error:.4f}, $\alpha$ = {alpha:.4f}",
        fontsize="medium",
    )
axes[-1].set_xticks(x)
axes[-1].set_xlabel("x")
figure.legend(*ax.get_legend_handles_labels(), loc="outside right", markerscale=0.7)
plt.show()

# %%
# Weighted sum of the stumps
# --------------------------
# The sign of :math:`f_3 = \alpha_1 G_1 + \alpha_2 G_2 + \alpha_3 G_3` classifies all
# rows correctly. The distance of :math:`f_3` from 0, divided by the sum of the
# :math:`\alpha_m`, is the margin (间隔) of a row.
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
ax.plot(grid, model.decision_function(grid[:, np.newaxis]), color="black", zorder=1)
ax.axhline(0, color="#5F6368", linewidth=0.6, zorder=1)
scores = model.decision_function(X)
draw_rows(ax, scores, np.full(len(x), 90), model.predict(X) != y)
ax.set_xticks(x)
ax.set_xlabel("x")
ax.set_ylabel("$f_3(x)$")
handles, labels = ax.get_legend_handles_labels()
ax.legend(handles[:2], labels[:2], loc="upper right")
plt.show()

print("margins", model.margins(X, y).round(3))

# %%
# The bound on the training error
# -------------------------------
# The training error is at most :math:`\prod_m Z_m` (训练误差界, theorem 8.1), which
# decreases with every round, even when the error itself does not.
from sklearn_textbook.inspection import LearningRoundsDisplay

LearningRoundsDisplay.from_estimator(model, X, y)
plt.show()

# %%
# On a larger table, the test error continues to decrease after the training error has
# reached 0: small margins become larger, at the expense of very large ones. The second
# plot shows the cumulative distribution of the margins of the training rows after 5, 20
# and 200 rounds.
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

parts = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
X_train, X_test, y_train, y_test = parts
model = AdaBoostClassifier(n_estimators=200).fit(X_train, y_train)
display = LearningRoundsDisplay.from_estimator(
    model, X_train, y_train, X_test=X_test, y_test=y_test, margin_rounds=(5, 20, 200)
)
plt.show()

# %%
display.plot(kind="margins")
plt.show()
