"""Families, links and rows for tests of generalized linear models."""

import numpy as np

from sklearn_textbook.linear_model import GeneralizedLinearRegressor

#: Name for the reference, family, link and their exponents for ours.
PAIRS = [
    ("gaussian", "identity", {}),
    ("gaussian", "log", {}),
    ("gaussian", "inverse", {}),
    ("poisson", "log", {}),
    ("poisson", "identity", {}),
    ("poisson", "square root", {"link": "power", "link_power": 0.5}),
    ("gamma", "inverse", {}),
    ("gamma", "log", {}),
    ("inverse_gaussian", "log", {}),
    ("binomial", "logit", {}),
    ("binomial", "probit", {}),
    ("binomial", "cloglog", {}),
    ("tweedie 1.5", "log", {"family": "tweedie", "power": 1.5}),
]
IDS = [f"{family}-{link}" for family, link, _ in PAIRS]


def make_ours(family, link, options, **more):
    return GeneralizedLinearRegressor(
        **({"family": family, "link": link} | options | more)
    )


def make_rows(family, seed=0, n_rows=60):
    """Rows of two columns, a target of a family, weights."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (n_rows, 2))
    mean = np.exp(1 + X @ [0.6, -0.4])
    y = {
        "poisson": lambda: random.poisson(mean),
        "binomial": lambda: random.binomial(1, mean / (4 + mean)),
        "gaussian": lambda: mean + random.normal(0, 0.1, n_rows),
        "tweedie 1.5": lambda: random.poisson(mean) * random.gamma(2, 0.5, n_rows),
    }.get(family, lambda: mean * random.gamma(5, 0.2, n_rows))()
    return X, y.astype(float), random.integers(1, 4, n_rows).astype(float)
