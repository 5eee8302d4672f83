"""
The best small tree
===================

CART chooses the best test of each node, one after the other. A search finds the tree of
a given depth with the fewest training errors, and proves that there is none better
(:doc:`/user_guide/optimal_trees`).
"""

# %%
# Errors at depth 2
# -----------------
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sklearn_textbook.tree import CARTClassifier, OptimalTreeClassifier, plot_tree

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
trees = {
    "CART": CARTClassifier(max_depth=2),
    "optimal": OptimalTreeClassifier(max_depth=2),
}
for name, tree in trees.items():
    errors = (tree.fit(X, y).predict(X) != y).sum()
    print(
        f"{name}: {errors} training errors of {len(y)}, "
        f"accuracy {tree.score(X_test, y_test):.3f} on {len(y_test)} other rows"
    )
print("proven:", trees["optimal"].is_optimal_)

# %%
figure, axes = plt.subplots(2, 1, figsize=(9, 8), layout="constrained")
for ax, (name, tree) in zip(axes, trees.items(), strict=True):
    plot_tree(tree, ax=ax)
    ax.set_title(name)
plt.show()

# %%
# A price for each leaf
# ---------------------
# With ``complexity``, a leaf must save more errors than it costs.
for complexity in (0.0, 0.005, 0.02, 0.5):
    tree = OptimalTreeClassifier(max_depth=2, complexity=complexity).fit(X, y)
    errors = (tree.predict(X) != y).sum()
    print(f"{complexity:5.3f}: {tree.get_n_leaves()} leaves, {errors} errors")
