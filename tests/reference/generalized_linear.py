"""Reweighted least squares by its formulas, row by row: meant to be read first.

周志华《机器学习》, formula 3.15: y = g⁻¹(wᵀx + b). No halving of steps, no penalty;
every matrix has an inverse.
"""

import math
from statistics import NormalDist

import numpy as np

NORMAL = NormalDist()

#: g, its inverse, and dμ/dη at η.
LINKS = {
    "identity": (lambda m: m, lambda e: e, lambda e: 1.0),
    "log": (math.log, math.exp, math.exp),
    "logit": (
        lambda m: math.log(m / (1 - m)),
        lambda e: 1 / (1 + math.exp(-e)),
        lambda e: math.exp(-e) / (1 + math.exp(-e)) ** 2,
    ),
    "probit": (NORMAL.inv_cdf, NORMAL.cdf, NORMAL.pdf),
    "inverse": (lambda m: 1 / m, lambda e: 1 / e, lambda e: -1 / e**2),
    "cloglog": (
        lambda m: math.log(-math.log(1 - m)),
        lambda e: 1 - math.exp(-math.exp(e)),
        lambda e: math.exp(e - math.exp(e)),
    ),
    "square root": (math.sqrt, lambda e: e**2, lambda e: 2 * e),
}

#: The variance V(μ).
VARIANCES = {
    "gaussian": lambda m: 1.0,
    "poisson": lambda m: m,
    "gamma": lambda m: m**2,
    "inverse_gaussian": lambda m: m**3,
    "binomial": lambda m: m * (1 - m),
    "tweedie 1.5": lambda m: m**1.5,
}


def times_log(y, x):
    """y ln x, and 0 where y is."""
    return y * math.log(x) if y else 0.0


#: The unit deviance d(y, μ).
DEVIANCES = {
    "gaussian": lambda y, m: (y - m) ** 2,
    "poisson": lambda y, m: 2 * (times_log(y, y / m) - (y - m)),
    "gamma": lambda y, m: 2 * (-math.log(y / m) + (y - m) / m),
    "inverse_gaussian": lambda y, m: (y - m) ** 2 / (y * m**2),
    "binomial": lambda y, m: (
        2 * (times_log(y, y / m) + times_log(1 - y, (1 - y) / (1 - m)))
    ),
    "tweedie 1.5": lambda y, m: 4 * (math.sqrt(y) - math.sqrt(m)) ** 2 / math.sqrt(m),
}


def choose_start(family, y):
    """R's mean to start from; of shares that of one trial."""
    if family == "binomial":
        return (y + 0.5) / 2
    return y + 0.1 if family in ("poisson", "tweedie 1.5") else y


def fit(X, y, weight, offset, family, link, n_iter):
    """Coefficients, the intercept first, and the deviance after every iteration."""
    apply, invert, differentiate = LINKS[link]
    variance, deviance = VARIANCES[family], DEVIANCES[family]
    rows = [np.array([1.0, *row]) for row in X]
    predictors = [apply(choose_start(family, t)) for t in y]
    history = []
    for _ in range(n_iter):
        left, right = np.zeros((len(rows[0]),) * 2), np.zeros(len(rows[0]))
        for z, t, w, o, e in zip(rows, y, weight, offset, predictors, strict=True):
            mean, slope = invert(e), differentiate(e)
            share = w * slope**2 / variance(mean)
            left += share * np.outer(z, z)
            right += share * (e - o + (t - mean) / slope) * z
        coef = np.linalg.solve(left, right)
        predictors = [z @ coef + o for z, o in zip(rows, offset, strict=True)]
        triples = zip(y, predictors, weight, strict=True)
        total = sum(w * deviance(t, invert(e)) for t, e, w in triples)
        history.append((coef, total))
    return history


def describe(X, y, weight, offset, coef, family, link):
    """Standard errors with the dispersion 1, Pearson's statistic, leverages."""
    _, invert, differentiate = LINKS[link]
    rows = [np.array([1.0, *row]) for row in X]
    predictors = [z @ coef + o for z, o in zip(rows, offset, strict=True)]
    means = [invert(e) for e in predictors]
    shares = [
        w * differentiate(e) ** 2 / VARIANCES[family](m)
        for w, e, m in zip(weight, predictors, means, strict=True)
    ]
    information = sum(
        s * np.outer(z, z) for s, z in zip(shares, rows, strict=True)
    )  # fmt: skip
    inverse = np.linalg.inv(information)
    pearson = sum(
        w * (t - m) ** 2 / VARIANCES[family](m)
        for w, t, m in zip(weight, y, means, strict=True)
    )
    leverages = [s * (z @ inverse @ z) for s, z in zip(shares, rows, strict=True)]
    return np.sqrt(np.diag(inverse)), pearson, np.array(leverages)
