"""
Interpreting a linear regression
================================

The table has ten measurements of 442 people with diabetes and the progression of the
disease after a year. This example shows which measurements are related to the
progression, how certain this is, and what the residuals reveal about the model
(线性回归, 周志华《机器学习》, section 3.2).
"""

# %%
# The summary
# -----------
# Sex is a nominal column, the others are numeric. Each coefficient is compared with its
# standard error (标准误差): t is their ratio, and p is the probability of a ratio of at
# least this size if the true coefficient is zero.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from sklearn_textbook.inspection import ResidualsDisplay
from sklearn_textbook.linear_model import LinearRegression

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"].map({1.0: "one", 2.0: "other"})
model = LinearRegression().fit(X, y)
print(model.summary(X, y))

# %%
# Collinear columns
# -----------------
# None of the coefficients of the blood values s1 to s4 is clearly different from zero,
# but this does not mean that these values have no effect. The variance of a coefficient
# increases with the correlation between its column and the others (方差膨胀因子): that
# of s1 is 59 times as large as if its column were uncorrelated with the others.
inflation = dict(zip(model.coef_names_, model.variance_inflation_, strict=True))
print({name: round(float(factor), 1) for name, factor in inflation.items()})

# %%
# A penalty (岭回归) adds a small bias and removes most of this variance. The columns
# are standardized first, so that the penalty does not depend on their units.
numbers = X.drop(columns="sex")
Z = (numbers - numbers.mean()) / numbers.std()
alphas = np.logspace(-1, 4, 30)
fits = [LinearRegression(alpha=alpha).fit(Z, y) for alpha in alphas]
_, ax = plt.subplots(layout="constrained")
lines = ax.plot(alphas, [fit.coef_ for fit in fits])
ax.set_xscale("log")
ax.set_xlabel("alpha")
ax.set_ylabel("coefficient of the standardized column")
ax.legend(lines, Z.columns, ncols=2, fontsize="small")
plt.show()

# %%
# Residuals
# ---------
# The residuals spread more in the middle than on the left, because the target cannot be
# negative. In the Q-Q plot they follow the line of the normal distribution. No Cook's
# distance (库克距离) is near one half, so no single row determines the model.
ResidualsDisplay.from_estimator(model, X, y)
plt.show()

# %%
# A new patient
# -------------
# For people like the first one, the mean is known to within 14 units, and the value of
# a single person to within 107.
print(model.predict(X[:1]).round(0))
print(model.predict_interval(X[:1], kind="confidence").round(0))
print(model.predict_interval(X[:1]).round(0))
