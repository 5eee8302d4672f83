"""
Pruning a tree
==============

A tree that is grown in full learns the noise of its table. Cost-complexity pruning
takes back what other rows do not confirm, and cross-validation, inside ``fit``, says
how far.
"""

# %%
# A table with noise
# ------------------
# Eight rules made the labels, and one label in ten is wrong. No tree can be right about
# new rows more often than in 90 of 100 cases.
from sklearn.model_selection import train_test_split

from sklearn_textbook.datasets import make_mixed_table

X, y = make_mixed_table(3_000, label_noise=0.1, as_frame=True, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=1_000, random_state=0)

# %%
# Grown in full, and pruned
# -------------------------
from sklearn_textbook.tree import CARTClassifier, CostComplexityPruning

trees = {
    "grown": CARTClassifier(),
    "pruned": CARTClassifier(pruning="cost_complexity"),
    "pruned, 1se": CARTClassifier(pruning=CostComplexityPruning(rule="1se")),
}
for name, tree in trees.items():
    tree.fit(X, y)
    accuracy = tree.score(X_test, y_test)
    print(f"{name:12} {tree.get_n_leaves():4} leaves, accuracy {accuracy:.3f}")

# %%
# How alpha was chosen
# --------------------
# Each step is a subtree, from the full tree at the left to the root at the right. On
# the training rows the full tree is best; in cross-validation it is a much smaller one.
# Those below the dotted line are about as good, and the rule of one standard error
# takes the smallest of them.
import matplotlib.pyplot as plt

from sklearn_textbook.inspection import PruningPathDisplay

PruningPathDisplay.from_estimator(trees["pruned, 1se"])
plt.show()

# %%
# The same over the number of leaves:
PruningPathDisplay.from_estimator(trees["pruned, 1se"], x="n_leaves")
plt.show()

# %%
# What fell
# ---------
# The largest of the branches that are now leaves:
from sklearn_textbook.tree import export_pruning_report

print(export_pruning_report(trees["pruned, 1se"], max_rows=5))

# %%
# What is left can be read:
from sklearn_textbook.tree import plot_tree

plot_tree(trees["pruned, 1se"], ax="new", max_depth=3)
plt.show()

# %%
# Other methods on the same tree
# ------------------------------
# A fitted tree can be pruned without growing it again, here by rows it has not seen, by
# a price for each leaf, and by an estimate of the errors on new rows.
import numpy as np

from sklearn_textbook.tree import ErrorBasedPruning, LossPruning, ReducedErrorPruning

X_val, X_test, y_val, y_test = train_test_split(
    X_test, y_test, test_size=500, random_state=0
)
loss = LossPruning(alpha=np.log(len(X)), criterion="entropy")
pruned = {
    "reduced_error": ReducedErrorPruning().prune(trees["grown"], X_val, y_val),
    "loss": loss.prune(trees["grown"]),
    "error_based": ErrorBasedPruning().prune(trees["grown"], X=X, y=y),
}
for name, tree in pruned.items():
    accuracy = tree.score(X_test, y_test)
    print(f"{name:13} {tree.get_n_leaves():4} leaves, accuracy {accuracy:.3f}")
