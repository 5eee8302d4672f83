"""
Bagging and random forests by number of trees
=============================================

Bagging fits every tree to a different sample of the rows (样本扰动). A random forest
(随机森林) also draws random columns in every node (属性扰动). Its single trees are less
accurate than those of bagging but differ more, and with many trees the forest is more
accurate (周志华《机器学习》, section 8.3.2 and figure 8.7, 随机森林与 Bagging
的收敛性).
"""

# %%
# Two tables
# ----------
# A third of the rows is used for testing.
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

tables = {
    "breast cancer": load_breast_cancer(return_X_y=True),
    "handwritten digits": load_digits(return_X_y=True),
}

# %%
# The error after 1, 2, 4, ... trees
# ----------------------------------
# ``estimators_`` lists the trees in the order in which they were drawn, so the first
# ones are a smaller ensemble, and nothing has to be refitted. A forest with
# ``max_features=None`` is a bagging ensemble of trees. ``oob_curve_`` is the out-of-bag
# estimate (包外估计) of the same error, which needs no test rows.
from sklearn_textbook.ensemble import RandomForestClassifier

N_TREES, N_REPEATS = 100, 5


def compute_error_curve(forest, X, y):
    """Error on new rows of the first 1, 2, ... trees."""
    proba = np.cumsum([tree.predict_proba(X) for tree in forest], axis=0)
    return (forest.classes_[proba.argmax(axis=2)] != np.asarray(y)).mean(axis=1)


curves = {}
for title, (X, y) in tables.items():
    for seed in range(N_REPEATS):
        parts = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
        X_train, X_test, y_train, y_test = parts
        for name, max_features in (("bagging", None), ("random forest", "sqrt")):
            forest = RandomForestClassifier(
                N_TREES, max_features=max_features, oob_score=True, random_state=seed
            ).fit(X_train, y_train)
            error = compute_error_curve(forest, X_test, y_test)
            curves.setdefault((title, name), []).append((error, forest.oob_curve_))

for (title, name), found in curves.items():
    first, last = np.mean([error[[0, -1]] for error, _ in found], axis=0)
    print(f"{title:18} {name:13} one tree {first:.3f}, {N_TREES} trees {last:.3f}")

# %%
# As in the figure of the book, the curve of the forest starts above that of bagging and
# ends below it. The dotted lines are the out-of-bag estimates. They start high, because
# with few trees a row is out of bag for hardly any tree.
import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
colors = {"bagging": "#D55E00", "random forest": "#0072B2"}
n_trees = np.arange(1, N_TREES + 1)
for ax, title in zip(axes, tables, strict=True):
    for name, color in colors.items():
        test, out_of_bag = np.mean(curves[title, name], axis=0)
        ax.plot(n_trees, test, color=color, label=name)
        ax.plot(n_trees, out_of_bag, ":", color=color, label=f"{name}, out of bag")
    ax.set_xscale("log")
    ax.set_xticks([1, 10, 100], ["1", "10", "100"])
    ax.set_xlabel("number of trees")
    ax.set_title(title)
axes[0].set_ylabel("error")
axes[0].legend()
plt.show()

# %%
# The decision boundary of bagging
# --------------------------------
# Figure 8.6 of the book shows three, five and eleven trees of depth one on the
# watermelon data set 3.0α. Every tree splits the plane once, parallel to one of the
# axes; the decision boundary of the ensemble is a step function.
from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.ensemble import BaggingClassifier
from sklearn_textbook.tree import CARTClassifier

X, y = load_watermelon(version="3.0alpha", language="en", return_X_y=True)
X, y = np.asarray(X, dtype=float), np.asarray(y)
is_good = y == "yes"
grid = np.meshgrid(np.linspace(0.2, 0.8, 300), np.linspace(0, 0.5, 300))
points = np.column_stack([part.ravel() for part in grid])

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
for ax, n_members in zip(axes, (3, 5, 11), strict=True):
    stumps = CARTClassifier(criterion="entropy", max_depth=1)
    bagging = BaggingClassifier(stumps, n_members, random_state=0).fit(X, y)
    answers = bagging.predict(points) == "yes"
    ax.contourf(*grid, answers.reshape(grid[0].shape), levels=1, cmap="Pastel1_r")
    for marks, rows, label in (("P", is_good, "good"), ("_", ~is_good, "poor")):
        ax.scatter(*X[rows].T, marker=marks, color="black", label=label)
    ax.set_title(f"{n_members} members, accuracy {bagging.score(X, y):.0%}")
    ax.set_xlabel("density")
axes[0].set_ylabel("sugar content")
axes[0].legend(loc="upper left")
plt.show()
