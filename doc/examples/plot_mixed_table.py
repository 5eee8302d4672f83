"""
A tree of a mixed table
=======================

A table with numbers, categories, ordered categories and missing values goes into a tree
as it is. Since the rules behind this table are known, we can see what the tree finds of
them.
"""

# %%
# The table
# ---------
# Ten columns of three kinds; one value in ten is missing, and one label in twenty is
# wrong.
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
# The rules that made the labels:
for rule in rules:
    tests = (f"{c['feature']} {c['operator']} {c['value']}" for c in rule["conditions"])
    print(f"class {rule['class']} if", " and ".join(tests))

# %%
# The tree
# --------
# No column is encoded, no missing value filled in. Pruning by cost complexity takes
# away what only follows the noise.
from sklearn.model_selection import GridSearchCV

from sklearn_textbook.tree import CARTClassifier

search = GridSearchCV(
    CARTClassifier(), {"ccp_alpha": [0.0, 0.001, 0.002, 0.005, 0.01, 0.02]}, cv=5
).fit(X, y)
tree = search.best_estimator_
print(search.best_params_)
print(f"accuracy in cross-validation: {search.best_score_:.3f}")
print(f"{tree.get_n_leaves()} leaves")

# %%
# As a picture: boxes name the column they test or the class they predict, edges say
# which values go there, and where missing values go.
import matplotlib.pyplot as plt

from sklearn_textbook.tree import plot_tree

plot_tree(tree, ax="new")
plt.show()

# %%
# As rules:
from sklearn_textbook.tree import export_rules

print(export_rules(tree))

# %%
# Ways to treat missing values
# ----------------------------
from sklearn.model_selection import cross_val_score

for missing in ["learned", "branch", "surrogate"]:
    estimator = CARTClassifier(missing=missing, **search.best_params_)
    accuracy = cross_val_score(estimator, X, y, cv=5).mean()
    print(f"{missing:10} {accuracy:.3f}")
