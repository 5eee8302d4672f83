"""
Decision boundaries of oblique trees
====================================

A tree that tests one column at a time has boundaries parallel to the axes (轴平行).
An oblique tree (多变量决策树) also tests weighted sums of columns, and separates the
classes with fewer tests (周志华《机器学习》, section 4.5).
"""

# %%
# The watermelon data set 3.0α
# ----------------------------
# The table has seventeen melons and two columns. A tree that tests single columns has
# five leaves.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap

from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.tree import CARTClassifier, ObliqueTreeClassifier, export_text

X, y = load_watermelon(
    version="3.0alpha", language="en", return_X_y=True, as_frame=True
)
parallel = CARTClassifier().fit(X, y)
print(export_text(parallel))

# %%
# With ``direction="oc1"``, a search for the best weights finds a tree with three
# leaves.
oblique = ObliqueTreeClassifier(direction="oc1", random_state=0).fit(X, y)
print(export_text(oblique))

# %%
# The tree of the book
# --------------------
# Figure 4.13 also shows an oblique tree with three leaves. This function has its two
# tests:


def predict_printed(X):
    """Predict with the tree of figure 4.13."""
    density, sugar = X["density"], X["sugar"]
    first = -0.800 * density - 0.044 * sugar <= -0.313
    second = -0.365 * density + 0.366 * sugar <= -0.158
    return np.where(first & ~second, "yes", "no")


print("correct", (predict_printed(X) == y).sum(), "of", len(y))

# %%
# The regions
# -----------
# The boundaries of both oblique trees are two straight lines. The fitted tree uses a
# sum in one test and a single column in the other: a single column is tested where no
# sum is better.
COLORS = {"no": "#D55E00", "yes": "#0072B2"}


def draw_regions(ax, axes_of_grid, predicted, X, y):
    """Draw the predicted classes as areas, and the melons as points."""
    areas = (predicted == "yes").reshape(axes_of_grid[0].shape)
    colors = ListedColormap(COLORS.values())
    ax.pcolormesh(*axes_of_grid, areas, cmap=colors, alpha=0.25)
    for (name, color), marker in zip(COLORS.items(), "xo", strict=True):
        ax.scatter(*X[y == name].to_numpy().T, color=color, marker=marker, label=name)


density, sugar = np.meshgrid(np.linspace(0.2, 0.8, 400), np.linspace(0.0, 0.6, 400))
grid = pd.DataFrame({"density": density.ravel(), "sugar": sugar.ravel()})

figure, axes = plt.subplots(
    1, 3, figsize=(12, 4), sharex=True, sharey=True, layout="constrained"
)
for ax, title, predict in zip(
    axes,
    ("axis-parallel, 5 leaves", "figure 4.13, 3 leaves", "oc1, 3 leaves"),
    (parallel.predict, predict_printed, oblique.predict),
    strict=True,
):
    draw_regions(ax, (density, sugar), predict(grid), X, y)
    ax.set(title=title, xlabel="density")
axes[0].set_ylabel("sugar")
axes[0].legend(title="good melon", loc="upper left")
plt.show()

# %%
# More rows, more columns
# -----------------------
# If the classes differ in a sum of columns, tests of single columns approximate a plane
# by many steps. In this example, pruned trees are fitted to two normally distributed
# classes in 20 columns, whose best boundary is perpendicular to the diagonal:
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(0)
labels = rng.integers(2, size=1_500)
rows = rng.normal(size=(1_500, 20)) + 2 / np.sqrt(20) * (2 * labels[:, np.newaxis] - 1)
train, test, y_train, y_test = train_test_split(rows, labels, random_state=0)
for model in (
    CARTClassifier(pruning="cost_complexity"),
    ObliqueTreeClassifier(pruning="cost_complexity"),
):
    model.fit(train, y_train)
    print(
        f"{type(model).__name__:21} {model.get_n_leaves():3} leaves, "
        f"accuracy {model.score(test, y_test):.3f}"
    )

# %%
# If the classes follow rules on single columns, sums that mix the columns of several
# rules are worse. ``prefer_axis`` sets how much better than a test of a single column a
# sum must be, here by 30 per cent for each column after the first.
from sklearn_textbook.datasets import make_mixed_table

table, labels = make_mixed_table(
    1_500, n_classes=5, n_rules=12, label_noise=0.1, as_frame=True, random_state=0
)
train, test, y_train, y_test = train_test_split(table, labels, random_state=0)
for name, model in (
    ("CART", CARTClassifier(pruning="cost_complexity")),
    ("oblique", ObliqueTreeClassifier(pruning="cost_complexity")),
    (
        "oblique, prefer_axis=0.3",
        ObliqueTreeClassifier(pruning="cost_complexity", prefer_axis=0.3),
    ),
):
    model.fit(train, y_train)
    print(
        f"{name:24} {model.get_n_leaves():3} leaves, "
        f"accuracy {model.score(test, y_test):.3f}"
    )
