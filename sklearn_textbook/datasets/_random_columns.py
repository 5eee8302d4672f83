"""Random columns for the mixed table: each a function of one latent normal value."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

# Increasing functions of a standard normal value: symmetric, bounded, skewed to
# either side, and half zeros with a long tail, as amounts of money have.
SHAPES = {
    "normal": lambda z: z,
    "lognormal": lambda z: np.exp(0.8 * z),
    "uniform": lambda z: 10.0 * ndtr(z),
    "exponential": lambda z: -log_ndtr(-z),
    "left_skewed": lambda z: -np.exp(-0.6 * z),
    "half_zero": lambda z: np.expm1(np.maximum(z, 0.0)),
}


@dataclass(frozen=True)
class NumericColumn:
    """``(shape(z) + shift) * 10**exponent``, rounded to ``decimals`` before scaling."""

    name: str
    shape: str
    shift: int
    exponent: int
    decimals: int | None
    kind: str = "numeric"

    def compute_values(self, latent):
        values = SHAPES[self.shape](latent) + self.shift
        if self.decimals is None:
            return values * 10.0**self.exponent
        # Integers times or over a power of ten: the nearest float of a short decimal.
        digits = np.rint(values * 10.0**self.decimals)
        power = self.exponent - self.decimals
        values = digits * 10.0**power if power >= 0 else digits / 10.0**-power
        return values + 0.0  # no negative zero


@dataclass(frozen=True)
class LevelColumn:
    """Level codes: the latent normal value falls into one of the levels' intervals."""

    name: str
    kind: str
    upper_bounds: np.ndarray  # cumulated probabilities without the last, 1
    codes: np.ndarray  # the code of each interval
    labels: list

    @property
    def n_levels(self) -> int:
        return len(self.codes)

    def compute_values(self, latent):
        interval = np.searchsorted(self.upper_bounds, ndtr(latent), side="right")
        return self.codes[interval].astype(np.float64)


def _draw_integers(setting, n_columns, rng):
    """One integer per column from an int, an inclusive range or a list."""
    if isinstance(setting, tuple):
        low, high = setting
        return rng.randint(low, high + 1, n_columns, dtype=np.int64).tolist()
    if isinstance(setting, list):
        return list(setting)
    return [setting] * n_columns


def _make_level_column(name, kind, n_levels, rng):
    if kind == "nominal":  # Zipf's law; codes, frequencies, latent value unrelated
        weights = rng.permutation(1.0 / np.arange(1, n_levels + 1))
        codes = rng.permutation(n_levels)
    else:
        weights = rng.uniform(0.5, 1.5, n_levels)
        codes = np.arange(n_levels)
    bounds = np.cumsum(weights / weights.sum())[:-1]
    width = len(str(n_levels - 1))
    prefix = "level" if kind == "nominal" else "grade"
    labels = [f"{prefix}_{code:0{width}d}" for code in range(n_levels)]
    return LevelColumn(name, kind, bounds, codes, labels)


def make_columns(n_numeric, n_nominal, n_ordinal, *, levels, grades, decimals, rng):
    """Return the specifications of all columns: numeric, nominal, ordinal."""
    columns = []
    column_decimals = _draw_integers(decimals, n_numeric, rng)
    for i in range(n_numeric):
        shape = list(SHAPES)[i % len(SHAPES)]
        shift = int(rng.randint(0, 20, dtype=np.int64)) if shape == "normal" else 0
        exponent = int(rng.randint(-2, 5, dtype=np.int64))
        columns.append(
            NumericColumn(f"numeric_{i}", shape, shift, exponent, column_decimals[i])
        )
    for kind, setting, n_columns in (
        ("nominal", levels, n_nominal),
        ("ordinal", grades, n_ordinal),
    ):
        for i, n_levels in enumerate(_draw_integers(setting, n_columns, rng)):
            columns.append(_make_level_column(f"{kind}_{i}", kind, n_levels, rng))
    return columns
