"""
A tree for a mixed table
========================

In this example, a tree is fitted to a table with numeric, nominal and ordinal columns
and missing values, without encoding. The rules that generated the labels are known and
can be compared with the tree.
"""

# %%
# The table
# ---------
# The table has ten columns of three kinds; 10 % of the values are missing and 5 % of
# the labels are wrong.
from sklearn_textbook.datasets import make_mixed_table

X, y, rules = make_mixed_table(
    2_000,
    n_rules=4,
    label_noise=0.05,
    missing_fraction=0.1,
    as_frame=True,
    return_rules=True,
    random_state=0,
)
X.head()

# %%
# These rules generated the labels:
for rule in rules:
    tests = (f"{c['feature']} {c['operator']} {c['value']}" for c in rule["conditions"])
    print(f"class {rule['class']} if", " and ".join(tests))

# %%
# The tree
# --------
# No encoding or imputation is needed. Cost-complexity pruning, chosen by
# cross-validation inside ``fit``, removes the splits that only fit the noise.
from sklearn.model_selection import cross_val_score

from sklearn_textbook.tree import CARTClassifier

grown = CARTClassifier().fit(X, y)
tree = CARTClassifier(pruning="cost_complexity").fit(X, y)
for name, model in {"grown": grown, "pruned": tree}.items():
    accuracy = cross_val_score(model, X, y, cv=5).mean()
    print(f"{name:6} {model.get_n_leaves():3} leaves, accuracy {accuracy:.3f}")

# %%
# In a plot, nodes show the column they split on or the class they predict, and edges
# show the values that go to each child, including missing values.
import matplotlib.pyplot as plt

from sklearn_textbook.tree import plot_tree

plot_tree(tree, ax="new")
plt.show()

# %%
# The same tree as rules:
from sklearn_textbook.tree import export_rules

print(export_rules(tree))

# %%
# ``to_html`` makes a page for a browser, in which the tree can be zoomed, collapsed and
# searched, and which highlights the path of a row that is typed in. It can also be
# written to a file.
from sklearn_textbook.tree import to_html

to_html(tree, title="A tree for a mixed table")

# %%
# Treatments of missing values
# ----------------------------
# The cross-validated accuracy shows which value of ``missing`` suits the table.
for missing in ["learned", "branch", "surrogate"]:
    estimator = CARTClassifier(missing=missing, pruning="cost_complexity")
    accuracy = cross_val_score(estimator, X, y, cv=5).mean()
    print(f"{missing:10} {accuracy:.3f}")
