"""Input of a generalised linear model: parameters, targets, offsets."""

from __future__ import annotations

import math

import numpy as np
from sklearn.utils import check_array, column_or_1d

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_truth,
    is_checked,
    is_real,
    show_value,
)
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.generalized.families import FAMILIES, make_family
from sklearn_textbook.linear_model.generalized.links import LINKS, make_link
from sklearn_textbook.linear_model.generalized.retransformation import RETRANSFORMATIONS
from sklearn_textbook.linear_model.least_squares.targets import read_numeric_targets

WEIGHT_TYPES = ("frequency", "variance")
DEPENDENT_COLUMNS = ("minimum_norm", "drop")


class GeneralizedInput(BaseLinearModel):
    """Reads and checks the input of a generalised linear model."""

    def _check_parameters(self):
        """Check the parameters, and return the family and the link."""
        self._check_table_parameters()
        self._refuse_quasi_family()
        check_choice("family", self.family, FAMILIES)
        check_choice("link", self.link, ("auto", *LINKS))
        check_real("alpha", self.alpha, 0.0)
        check_truth("fit_intercept", self.fit_intercept)
        check_choice("transform_y", self.transform_y, ("log",), accepts_none=True)
        check_choice("retransform", self.retransform, RETRANSFORMATIONS)
        check_choice("weight_type", self.weight_type, WEIGHT_TYPES)
        check_choice("dependent_columns", self.dependent_columns, DEPENDENT_COLUMNS)
        check_real("tol", self.tol, 0.0)
        check_integer("max_iter", self.max_iter, 1)
        check_truth("warm_start", self.warm_start)
        check_n_jobs(self.n_jobs)
        if is_checked():
            self._check_numbers()
        family = make_family(self.family, self.power)
        link = self._choose_link(family)
        if self.transform_y and (self.family, link.name) != ("gaussian", "identity"):
            raise ValueError(
                "transform_y='log' requires family='gaussian' and link='identity', "
                "since ln y is fitted by least squares; got family="
                f"{self.family!r}, link={self.link!r}."
            )
        return family, link

    def _refuse_quasi_family(self):
        """Raise ValueError for R's name of a quasi-likelihood."""
        family = self.family
        if is_checked() and isinstance(family, str) and family.startswith("quasi"):
            raise ValueError(
                f"The 'family' parameter must not be a quasi-likelihood; got {family!r}"
                f". Use family={family.removeprefix('quasi') or 'gaussian'!r} with "
                "dispersion='pearson'."
            )

    def _check_numbers(self):
        """Check the parameters that are numbers or words."""
        power = self.power
        if not _is_finite(power) or 0.0 < power < 1.0:
            raise ValueError(
                "The 'power' parameter must be a float outside (0, 1), where there is "
                f"no distribution; got {show_value(power)}."
            )
        exponent = self.link_power
        if exponent is not None and not _is_finite(exponent):
            raise ValueError(
                f"The 'link_power' parameter must be a float or None; got "
                f"{show_value(exponent)}."
            )
        if self.link == "power" and exponent is None:
            raise ValueError("link='power' requires the 'link_power' parameter.")
        dispersion = self.dispersion
        is_word = isinstance(dispersion, str) and dispersion in (
            "auto",
            "pearson",
            "deviance",
        )
        if not is_word and not (is_real(dispersion) and 0.0 < dispersion < np.inf):
            raise ValueError(
                "The 'dispersion' parameter must be 'auto', 'pearson', 'deviance' or a "
                f"float above 0; got {dispersion!r}."
            )

    def _choose_link(self, family):
        """Choose the requested link, or the canonical one."""
        if self.link == "auto":
            return make_link(*family.canonical_link)
        if self.link not in family.links:
            raise ValueError(
                "The 'link' parameter must be one of 'auto', "
                f"{', '.join(map(repr, family.links))} for the family {self.family!r}; "
                f"got {self.link!r}."
            )
        return make_link(self.link, self.link_power)

    def _read_target(self, X, y, is_present=None):
        """Read y: one finite number for each row with weight."""
        Y = read_numeric_targets(y, X, self, is_present)
        return column_or_1d(Y, warn=True)

    def _read_offset(self, offset, exposure, n_rows):
        """Read the offset of the predictors, or None."""
        total = None
        if offset is not None:
            total = _read_vector("offset", offset, n_rows)
        if exposure is not None:
            link = self._choose_link(make_family(self.family, self.power))
            if link.name != "log":
                raise ValueError(
                    "exposure requires the link 'log', with which means are "
                    f"proportional to it; got {link.name!r}. Use an offset instead."
                )
            exposure = _read_vector("exposure", exposure, n_rows)
            if (exposure <= 0.0).any():
                row = int(np.argmax(exposure <= 0.0))
                raise ValueError(
                    f"exposure must be above 0, got {exposure[row]} in row {row}."
                )
            total = np.log(exposure) + (0.0 if total is None else total)
        return total


def require_range(family, y, is_present):
    """Raise ValueError with the first target that is invalid for the family."""
    is_wrong = family.find_wrong(y)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        row = place if is_present is None else int(np.flatnonzero(is_present)[place])
        raise ValueError(
            "Some value(s) of y are out of the valid range of the loss: y must be "
            f"{family.describe_range()} for the family {family.name!r}; got "
            f"{y[place]} in row {row}."
        )


def _read_vector(name, values, n_rows):
    """Read one finite number for each row, or a single one for all rows."""
    if np.isscalar(values):
        values = np.full(n_rows, values, dtype=np.float64)
    values = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name} must have shape ({n_rows},), one number per row, got "
            f"{values.shape}."
        )
    return values


def _is_finite(value):
    return is_real(value) and math.isfinite(value)
