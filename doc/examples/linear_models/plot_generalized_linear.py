"""
Generalised linear models
=========================

In a generalised linear model, a function of the mean is linear in the columns, and the
family determines the variance about the mean (广义线性模型, 周志华《机器学习》,
formula 3.15). This example fits counts, positive amounts and proportions.
"""

# %%
# Counts
# ------
# The variance of counts increases with their mean. Least squares assumes a constant
# variance, and its line becomes negative; a Poisson model with log link avoids both.
# The band is the confidence interval of the mean.
import matplotlib.pyplot as plt
import numpy as np

from sklearn_textbook.linear_model import GeneralizedLinearRegressor

random = np.random.default_rng(3)
hours = np.sort(random.uniform(0, 10, 60))[:, np.newaxis]
calls = random.poisson(np.exp(-1.5 + 0.42 * hours[:, 0]))
grid = np.linspace(0, 10, 200)[:, np.newaxis]

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
axes[0].plot(hours, calls, "o", color="0.6", markersize=4, label="rows")
for family, color in (("gaussian", "#D55E00"), ("poisson", "#0072B2")):
    model = GeneralizedLinearRegressor(family).fit(hours, calls)
    name = f"{family}, {model.link_.describe()}"
    axes[0].plot(grid, model.predict(grid), color=color, label=name)
    low, high = model.predict_interval(grid).T
    axes[0].fill_between(grid[:, 0], low, high, color=color, alpha=0.2, linewidth=0)
    residuals = model.residuals(hours, calls)
    axes[1].plot(model.predict(hours), residuals, "o", color=color, markersize=4)
axes[0].axhline(0, color="0.8", linewidth=0.8, zorder=0)
axes[0].set(xlabel="hour", ylabel="calls", title="means")
axes[0].legend()
axes[1].axhline(0, color="0.8", linewidth=0.8, zorder=0)
axes[1].set(xlabel="fitted mean", ylabel="residual", title="deviance residuals")
plt.show()
print(model.summary())

# %%
# Two forms of log-linear regression
# ----------------------------------
# The logarithm of y can be regressed (对数线性回归, formula 3.14), or the logarithm of
# the mean can be modelled as linear. The first model predicts medians; converted to
# means by the smearing estimate, its curve agrees with the second. A smaller value of
# Akaike's criterion (AIC) indicates that a family fits these rows better.
X = np.sort(random.uniform(0, 3, 150))[:, np.newaxis]
y = np.exp(0.3 + 0.8 * X[:, 0] + random.normal(0, 0.6, 150))
grid = np.linspace(0, 3, 200)[:, np.newaxis]
models = {
    "ln y, median": GeneralizedLinearRegressor(transform_y="log"),
    "ln y, smeared mean": GeneralizedLinearRegressor(
        transform_y="log", retransform="smearing"
    ),
    "link log, gamma": GeneralizedLinearRegressor("gamma", "log"),
    "link log, normal": GeneralizedLinearRegressor("gaussian", "log"),
}
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.plot(X, y, "o", color="0.75", markersize=4)
colors = ("#0072B2", "#56B4E9", "#009E73", "#D55E00")
for (name, model), color in zip(models.items(), colors, strict=True):
    model.fit(X, y)
    label = f"{name}: AIC {model.aic_:.0f}"
    style = "--" if "median" in name else "-"
    ax.plot(grid, model.predict(grid), style, color=color, label=label)
ax.set(xlabel="x", ylabel="y", ylim=(0, None))
ax.legend()
plt.show()

# %%
# Links for proportions
# ---------------------
# The target is the proportion of beetles that died after five hours of carbon
# disulphide (Bliss 1935), the column is the dose. The complementary log-log link rises
# slowly and saturates quickly, as these proportions do; the deviance, with six degrees
# of freedom, measures the fit of each link.
dose = np.array([1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839])
beetles = np.array([59, 60, 62, 56, 63, 59, 62, 60])
dead = np.array([6, 13, 18, 28, 52, 53, 61, 60])
grid = np.linspace(1.67, 1.9, 200)[:, np.newaxis]
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
axes[0].plot(dose, dead / beetles, "o", color="0.4")
for link, color in (
    ("logit", "#0072B2"),
    ("probit", "#009E73"),
    ("cloglog", "#D55E00"),
):
    model = GeneralizedLinearRegressor(
        "binomial", link, weight_type="variance", tol=1e-14
    )
    model.fit(dose[:, np.newaxis], dead / beetles, sample_weight=beetles)
    label = f"{link}: deviance {model.deviance_:.2f}"
    axes[0].plot(grid, model.predict(grid), color=color, label=label)
    rest = model.deviance_path_[:-1] - model.deviance_
    rest = rest[rest > 1e-12]  # smaller ones are rounding errors
    steps = np.arange(1, len(rest) + 1)
    axes[1].semilogy(steps, rest, "o-", color=color, label=link)
axes[0].set(xlabel="log dose", ylabel="proportion of dead beetles", title="fit")
axes[0].legend()
axes[1].set(
    xlabel="iteration", ylabel="deviance above the minimum", title="convergence"
)
axes[1].xaxis.get_major_locator().set_params(integer=True)
axes[1].legend()
plt.show()
