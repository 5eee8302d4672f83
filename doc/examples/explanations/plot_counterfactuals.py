"""
Counterfactual explanations of a tree
=====================================

A counterfactual explanation says what would have to change for another prediction.
:func:`~sklearn_textbook.inspection.find_counterfactuals` finds the cheapest change for
each row (:doc:`/user_guide/explaining`).
"""

# %%
# From poor to good melons
# ------------------------
# A tree separates good from poor melons by two measurements. Every melon that it calls
# poor is moved to the nearest place at which it would be called good.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.inspection import find_counterfactuals
from sklearn_textbook.tree import CARTClassifier

melons = load_watermelon("3.0alpha", language="en", as_frame=True)
X, is_good = melons.data, melons.target
tree = CARTClassifier(max_depth=3).fit(X, is_good)
poor = X[tree.predict(X) == "no"]
changes = find_counterfactuals(tree, poor, target="yes", cost="distance", reference=X)

display = DecisionBoundaryDisplay.from_estimator(
    tree,
    X,
    response_method="predict_proba",
    plot_method="pcolormesh",
    cmap="RdYlGn",
    alpha=0.4,
    grid_resolution=300,
    eps=0.05,
)
ax = display.ax_
for label, marker in {"yes": "o", "no": "x"}.items():
    ax.scatter(*X[is_good == label].to_numpy().T, marker=marker, color="black")
for row, change in zip(poor.to_dict("records"), changes, strict=True):
    start = np.array([row["density"], row["sugar"]])
    end = np.array([{**row, **change.values}[name] for name in X.columns])
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->"})
ax.set_title("melons called poor, and the nearest place of a good one")
plt.show()

# %%
# As text:
print(changes[0])

# %%
# What can change
# ---------------
# Of fifteen applicants for a loan, six are refused. ``fixed`` names columns that cannot
# change, ``directions`` columns that change in one direction only.
from sklearn_textbook.datasets import load_loan

loans = load_loan(language="en", as_frame=True)
grown = CARTClassifier().fit(loans.data, loans.target)
refused = loans.data[grown.predict(loans.data) == "no"]
print(refused)

# %%
print(find_counterfactuals(grown, refused[:1], reference=loans.data))

# %%
# Who cannot find a job needs a house:
print(find_counterfactuals(grown, refused[:1], fixed=["has_job"], reference=loans.data))

# %%
# A number as the target
# ----------------------
# In regression, the target is an interval of values. This tree predicts the progression
# of diabetes. Age and sex are fixed, and the body mass index may only fall. By default,
# as few columns as possible change; with ``cost="distance"``, the sum of the changes is
# as small as possible, relative to the ranges of the columns.
from sklearn.datasets import load_diabetes

from sklearn_textbook.tree import CARTRegressor

patients, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = CARTRegressor(max_leaf_nodes=12).fit(patients, progression)
predicted = model.predict(patients)
print(f"predictions from {predicted.min():.0f} to {predicted.max():.0f}")
for cost in ("changes", "distance"):
    found = find_counterfactuals(
        model,
        patients.iloc[[predicted.argmax()]],
        target=(0, 150),
        fixed=["age", "sex"],
        directions={"bmi": "decrease"},
        cost=cost,
        reference=patients,
    )
    print(cost, found, sep="\n")
