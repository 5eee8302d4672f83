"""
What stacking gains
===================

Stacking (学习法) learns how to combine its members, from their predictions for rows
that they were not fitted to. How much is gained over the best member and over a vote
depends on how the members differ (周志华《机器学习》, section 8.4.3).
"""

# %%
# Three tables
# ------------
# All members and combinations are compared on the same ten folds.
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

tables = {
    "breast cancer": load_breast_cancer(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "digits, 600 rows": tuple(part[:600] for part in load_digits(return_X_y=True)),
}
folds = StratifiedKFold(10, shuffle=True, random_state=0)

# %%
# Members and combinations
# ------------------------
# The default second learner is a linear regression for each class on all probabilities;
# in StackingC, each regression uses only the probabilities of its own class.
from sklearn_textbook.ensemble import (
    MultiResponseLinearRegression,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn_textbook.tree import C45Classifier

members = [
    ("C4.5", C45Classifier()),
    ("naive Bayes", GaussianNB()),
    ("neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier())),
    ("forest", RandomForestClassifier(25, random_state=0)),
]
models = {
    **dict(members),
    "vote": VotingClassifier(members),
    "mean probability": VotingClassifier(members, voting="soft"),
    "stacking": StackingClassifier(members),
    "StackingC": StackingClassifier(
        members, MultiResponseLinearRegression(inputs="class", positive=True)
    ),
}
errors = {
    (name, title): 1 - cross_val_score(model, *table, cv=folds)
    for title, table in tables.items()
    for name, model in models.items()
}
print(f"{'error':17}" + "".join(f"{title:>18}" for title in tables))
for name in models:
    cells = (f"{errors[name, title].mean():18.3f}" for title in tables)
    print(f"{name:17}" + "".join(cells))

# %%
# Errors and their spread over the folds
# --------------------------------------
import matplotlib.pyplot as plt

figure, axes = plt.subplots(
    1, len(tables), figsize=(10, 4), sharey=True, layout="constrained"
)
for ax, title in zip(axes, tables, strict=True):
    means = [errors[name, title].mean() for name in models]
    spread = [errors[name, title].std() / np.sqrt(10) for name in models]
    colors = ["#0072B2" if name in dict(members) else "#D55E00" for name in models]
    ax.barh(list(models), means, xerr=spread, color=colors)
    ax.set_title(title, fontsize="medium")
    ax.set_xlabel("cross-validated error")
axes[0].invert_yaxis()
plt.show()
