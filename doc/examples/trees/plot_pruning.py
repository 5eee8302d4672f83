"""
Pruning a tree
==============

A fully grown tree also fits the noise in its table. Cost-complexity pruning removes
splits that do not generalise; cross-validation inside ``fit`` chooses how many.
"""

# %%
# A table with noise
# ------------------
# Eight rules generated the labels, of which 10 % were then changed, so no tree can have
# an expected accuracy above 90 % on new rows.
from sklearn.model_selection import train_test_split

from sklearn_textbook.datasets import make_mixed_table

X, y = make_mixed_table(3_000, label_noise=0.1, as_frame=True, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=1_000, random_state=0)

# %%
# Full and pruned tree
# --------------------
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
# Each step is a subtree, from the full tree on the left to the root on the right. The
# full tree has the smallest training risk; the cross-validated risk is smallest for a
# much smaller tree. The subtrees below the dotted line are within one standard error of
# the minimum, and ``rule="1se"`` selects the smallest of them.
import matplotlib.pyplot as plt

from sklearn_textbook.inspection import PruningPathDisplay

PruningPathDisplay.from_estimator(trees["pruned, 1se"])
plt.show()

# %%
# The same path by number of leaves:
PruningPathDisplay.from_estimator(trees["pruned, 1se"], x="n_leaves")
plt.show()

# %%
# Pruning report
# --------------
# The report lists the pruned branches, here the five largest:
from sklearn_textbook.tree import export_pruning_report

print(export_pruning_report(trees["pruned, 1se"], max_rows=5))

# %%
# The pruned tree is small enough to read:
from sklearn_textbook.tree import plot_tree

plot_tree(trees["pruned, 1se"], ax="new", max_depth=3)
plt.show()

# %%
# Other methods on the same tree
# ------------------------------
# A fitted tree can be pruned without growing it again. Here it is pruned with
# validation rows, with a penalty for each leaf, and with an estimate of the errors on
# new rows.
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
