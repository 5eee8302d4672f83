"""
Voting that may reject a row
============================

An absolute majority vote (绝对多数投票法) rejects a row if no class has more than half
of the votes; a threshold on the fraction of the votes rejects more. The rows that are
kept are predicted more accurately (周志华《机器学习》, section 8.4.2).
"""

# %%
# Members of different kinds
# --------------------------
# Half of the rows is used for testing.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble import VotingClassifier
from sklearn_textbook.tree import C45Classifier, CARTClassifier

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(
    X[:, X.std(axis=0) > 0], y, test_size=0.5, stratify=y, random_state=0
)
members = [
    ("C4.5", C45Classifier()),
    ("CART", CARTClassifier()),
    ("LDA", LinearDiscriminantAnalysis(shrinkage="auto", solver="lsqr")),
    ("naive Bayes", GaussianNB()),
    ("nearest neighbours", KNeighborsClassifier(15)),
]

# %%
# Three rules
# -----------
# Members are fitted to the original labels; rejected rows are predicted as
# ``reject_label``.
for rule in ("plurality", "majority", "unanimity"):
    voting = VotingClassifier(members, rule=rule, reject_label=-1).fit(X, y)
    kept = ~voting.rejected(X_test)
    right = (voting.predict(X_test) == y_test)[kept]
    print(f"{rule:10} keeps {kept.mean():.3f}, accuracy on these {right.mean():.3f}")

# %%
# Accuracy by coverage
# --------------------
# Every point of a curve belongs to a threshold. The votes of five members allow only a
# few thresholds; probabilities allow any coverage. The mean of calibrated probabilities
# orders the rows best.
from sklearn_textbook.inspection import AccuracyRejectionDisplay

models = {
    "hard voting": VotingClassifier(members),
    "soft voting": VotingClassifier(members, voting="soft"),
    "soft voting, calibrated": VotingClassifier(
        members, voting="soft", calibration="sigmoid", cv=3
    ),
    "CART alone": CARTClassifier(pruning="cost_complexity"),
}
_, ax = plt.subplots(layout="constrained")
for name, model in models.items():
    AccuracyRejectionDisplay.from_estimator(
        model.fit(X, y), X_test, y_test, name=name, ax=ax
    )
ax.set_ylim(0.8, 1.005)
plt.show()
