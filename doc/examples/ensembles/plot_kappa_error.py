"""
Kappa-error diagrams of bagging, a random forest and AdaBoost
=============================================================

Every point of a kappa-error diagram (κ-误差图) is a pair of members of an ensemble. It
shows how much they agree beyond chance (κ), and the mean of their errors
(周志华《机器学习》, section 8.5.2 and figure 8.10). The more accurate members are, the
more they agree, so there is a trade-off between accuracy and diversity.
"""

# %%
# Three ensembles of 50 trees
# ---------------------------
# Half of the rows is used for testing: on the training rows, trees are nearly always
# right and therefore agree.
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
)
from sklearn_textbook.tree import CARTClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
ensembles = {
    "bagging": BaggingClassifier(n_estimators=50, random_state=0),
    "random forest": RandomForestClassifier(n_estimators=50, random_state=0),
    "AdaBoost": AdaBoostClassifier(
        CARTClassifier(max_depth=6, random_state=0), n_estimators=50
    ),
}

# %%
# The diagrams
# ------------
# A random forest draws columns in every node, so its trees differ more than those of
# bagging, and each is less accurate. The trees of AdaBoost differ most, since each is
# fitted mainly to the rows that the previous ones have misclassified.
import matplotlib.pyplot as plt

from sklearn_textbook.ensemble.diversity import diversity_report
from sklearn_textbook.inspection import KappaErrorDisplay

figure, axes = plt.subplots(
    1, 3, figsize=(11, 3.8), layout="constrained", sharex=True, sharey=True
)
for ax, (name, ensemble) in zip(axes, ensembles.items(), strict=True):
    ensemble.fit(X_train, y_train)
    KappaErrorDisplay.from_estimator(
        ensemble, X_test, y_test, name=name, hull=True, ax=ax
    )
    ax.set_title(f"error of the ensemble {1 - ensemble.score(X_test, y_test):.1%}")
for ax in axes[1:]:
    ax.set_ylabel("")
plt.show()

# %%
# In numbers
# ----------
# The table shows the means over the pairs. If members made their errors independently
# of each other, the double fault would be about the square of the error. It is hardly
# larger for AdaBoost, whose members are the least accurate, and more than twice as
# large for bagging.
print(f"{'':14} {'error':>6} {'kappa':>6} {'disagreement':>13} {'double fault':>13}")
for name, ensemble in ensembles.items():
    pairs = diversity_report(ensemble, X_test, y_test).pairwise
    columns = [pairs[key].mean() for key in ("error", "kappa")]
    others = [pairs[key].mean() for key in ("disagreement", "double_fault")]
    print(
        f"{name:14} {columns[0]:6.3f} {columns[1]:6.3f} "
        f"{others[0]:13.3f} {others[1]:13.3f}"
    )
