"""
Partial dependence of forests and boosting
==========================================

The partial dependence of a model on a column is its mean prediction as a function of
this column. This example draws it for numeric and nominal columns, for pairs of
columns, and for different models of the same table.
"""

# %%
# Curves and bars
# ---------------
# The table has numeric, ordinal and nominal columns with missing values. A numeric
# column has a curve, a nominal one a bar for each level. The marks on the axes are the
# deciles of the column.
import matplotlib.pyplot as plt

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import GradientBoostingClassifier
from sklearn_textbook.inspection import PartialDependenceDisplay

X, y, rules = make_mixed_table(
    2_000,
    n_rules=4,
    label_noise=0.05,
    missing_fraction=0.1,
    as_frame=True,
    return_rules=True,
    random_state=0,
)
boosting = GradientBoostingClassifier(max_leaf_nodes=8).fit(X, y)
columns = ["numeric_1", "nominal_1", "nominal_2"]
display = PartialDependenceDisplay.from_estimator(boosting, X, columns)
display.figure_.set_size_inches(11, 3.5)
plt.show()

# %%
# The curve has a step at 70, and the levels have two heights. These are the tests of
# the rules that generated the table:
for rule in rules:
    tests = (f"{c['feature']} {c['operator']} {c['value']}" for c in rule["conditions"])
    print(f"class {rule['class']} if", " and ".join(tests))

# %%
# Two columns together
# --------------------
# A curve is a mean over all other columns. Whether two columns act together shows the
# partial dependence on the pair: here, the step of one column exists only for small
# values of the other.
from sklearn.datasets import make_friedman1

from sklearn_textbook.ensemble import GradientBoostingRegressor, RandomForestRegressor

rows, values = make_friedman1(1_000, noise=1.0, random_state=0)
forest = RandomForestRegressor(100, min_samples_leaf=3, random_state=0)
forest.fit(rows, values)
display = PartialDependenceDisplay.from_estimator(forest, rows, [(0, 1), (2, 3)])
display.figure_.set_size_inches(9, 4)
plt.show()

# %%
# Two models on the same axes
# ---------------------------
# The target is :math:`10 \sin(\pi x_0 x_1) + 20 (x_2 - 0.5)^2 + 10 x_3 + 5 x_4` plus
# noise. The curves of boosting are closer to the square and the two straight lines than
# those of the forest.
boosted = GradientBoostingRegressor(n_estimators=200, max_leaf_nodes=6).fit(
    rows, values
)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), sharey=True, layout="constrained")
for model, color in ((forest, "#0072B2"), (boosted, "#D55E00")):
    PartialDependenceDisplay.from_estimator(
        model,
        rows,
        [2, 3, 4],
        ax=axes,
        line_kw={"label": type(model).__name__, "color": color},
    )
plt.show()

# %%
# The numbers
# -----------
# :func:`~sklearn_textbook.inspection.partial_dependence` returns the grids and means.
from sklearn_textbook.inspection import partial_dependence

for model in (forest, boosted):
    result = partial_dependence(model, rows, 2, grid_resolution=5)
    print(type(model).__name__, result.average[0].round(1))
