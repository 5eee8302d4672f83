"""
Reading a linear regression
===========================

Ten measurements of 442 people with diabetes, and how far their disease had come a year
later: which measurements tell, how sure that is, and what the residuals say about the
model (线性回归, 周志华《机器学习》, section 3.2).
"""

# %%
# The summary
# -----------
# The sex is a nominal column, the others are numbers. A coefficient is compared with
# its standard error (标准误差): t is their ratio, p how often chance alone makes one as
# large.
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
# Columns that say the same
# -------------------------
# The blood values s1 to s4 hardly tell one by one, and that is not because they did not
# matter. The variance of a coefficient grows with what the other columns say of its own
# (方差膨胀因子): that of s1 is 59 times what it were alone.
inflation = dict(zip(model.coef_names_, model.variance_inflation_, strict=True))
print({name: round(float(factor), 1) for name, factor in inflation.items()})

# %%
# A penalty (岭回归) gives up a little bias and takes off most of that variance. All
# columns get the same unit first, since the penalty compares their coefficients.
numbers = X.drop(columns="sex")
Z = (numbers - numbers.mean()) / numbers.std()
alphas = np.logspace(-1, 4, 30)
fits = [LinearRegression(alpha=alpha).fit(Z, y) for alpha in alphas]
_, ax = plt.subplots(layout="constrained")
lines = ax.plot(alphas, [fit.coef_ for fit in fits])
ax.set_xscale("log")
ax.set_xlabel("alpha")
ax.set_ylabel("coefficient of a column with deviation 1")
ax.legend(lines, Z.columns, ncols=2, fontsize="small")
plt.show()

# %%
# Residuals
# ---------
# The residuals spread more in the middle than at the left: the target cannot be
# negative. In the Q-Q picture they follow the line of the normal distribution, and no
# row comes near a Cook's distance (库克距离) of one half: none decides the model alone.
ResidualsDisplay.from_estimator(model, X, y)
plt.show()

# %%
# A new patient
# -------------
# The mean of people like the first one is known to within 14 units, the single one to
# within 107.
print(model.predict(X[:1]).round(0))
print(model.predict_interval(X[:1], kind="confidence").round(0))
print(model.predict_interval(X[:1]).round(0))
