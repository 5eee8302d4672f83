"""
Costs of errors
===============

A bad loan that was granted costs more than a good one that was refused. ``cost_matrix``
tells trees so (:doc:`/user_guide/costs`).
"""

# %%
# What a bad loan costs
# ---------------------
# The costs of a bad loan are from 1 to 10 times those of a good one that was refused.
# Trees that were trained without costs may predict by them; or costs are used in
# training and pruning as well. The mean costs are those of other rows, of ten divisions
# of the table.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import ShuffleSplit

from sklearn_textbook.criteria import expected_cost
from sklearn_textbook.datasets import load_credit
from sklearn_textbook.tree import CARTClassifier

X, y = load_credit(return_X_y=True, as_frame=True)
ratios = [1, 2, 3, 5, 7, 10]
names = ["no costs", "costs in predictions", "costs in training, too"]
found = np.zeros((len(names), len(ratios)))
folds = list(ShuffleSplit(10, test_size=1 / 3, random_state=0).split(X))
for train, test in folds:
    fitted = CARTClassifier(pruning="cost_complexity", random_state=0)
    fitted.fit(X.iloc[train], y.iloc[train])
    plain = fitted.predict(X.iloc[test])
    for place, ratio in enumerate(ratios):
        costs = {"bad": {"good": ratio}, "good": {"bad": 1}}
        fitted.set_params(cost_matrix=costs)
        trained = CARTClassifier(
            pruning="cost_complexity", random_state=0, cost_matrix=costs
        ).fit(X.iloc[train], y.iloc[train])
        predicted = [plain, fitted.predict(X.iloc[test]), trained.predict(X.iloc[test])]
        for number, classes in enumerate(predicted):
            found[number, place] += expected_cost(y.iloc[test], classes, costs)
        fitted.set_params(cost_matrix=None)
found /= len(folds)

# %%
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, costs in zip(names, found, strict=True):
    ax.plot(ratios, costs, marker="o", label=name)
is_bad = np.mean(y == "bad")
ax.plot(ratios, [1 - is_bad] * len(ratios), "k:", label="refuse all")
ax.plot(ratios, is_bad * np.array(ratios), "k--", label="grant all")
ax.set(xlabel="cost of a bad loan", ylabel="mean cost of a loan", ylim=(0, 1.5))
ax.legend()
plt.show()
