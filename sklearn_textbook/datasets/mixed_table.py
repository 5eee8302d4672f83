"""A generator of mixed tables with planted if-then rules."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.utils import Bunch, check_random_state, check_scalar

from sklearn_textbook.datasets._planted_rules import describe_rule, plant_rules
from sklearn_textbook.datasets._random_columns import make_columns
from sklearn_textbook.datasets._table import check_choice, import_pandas

MECHANISMS = ("completely_at_random", "at_random", "not_at_random")
# The rules are planted in a separate sample of this size, so that they do not depend
# on n_samples.
_PILOT_SIZE = 20_000
_GROUP_SIZE = 4


def make_mixed_table(
    n_samples: int = 100,
    *,
    n_numeric: int = 5,
    n_nominal: int = 3,
    n_ordinal: int = 2,
    n_levels: int | Sequence[int] = (3, 12),
    n_ordinal_levels: int | Sequence[int] = (3, 6),
    decimals: int | Sequence[int] | None = (1, 4),
    correlation: float = 0.5,
    task: str = "classification",
    n_classes: int = 2,
    class_weights: ArrayLike | None = None,
    n_rules: int = 8,
    label_noise: float = 0.0,
    noise: float = 0.0,
    missing_fraction: float = 0.0,
    missing_mechanism: str = "completely_at_random",
    as_frame: bool = False,
    return_X_y: bool = True,
    return_rules: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    r"""Generate a mixed table whose target follows planted if-then rules.

    Numeric columns differ in shape, scale and number of ties; nominal columns have
    levels with very unequal frequencies; ordinal columns have ordered levels. The
    target of a row is that of the only rule satisfied by its values, plus noise.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_numeric : int, default=5
        Number of numeric columns. Their distributions are, in turn: normal, lognormal,
        uniform, exponential, left-skewed, and half zeros with a long tail; their scales
        are random powers of ten.
    n_nominal : int, default=3
        Number of nominal columns. The frequencies of the k levels are proportional to
        1, 1/2, ..., 1/k (Zipf's law), in random order.
    n_ordinal : int, default=2
        Number of ordinal columns. Their levels have similar frequencies.
    n_levels : int, tuple (low, high) or list of int, default=(3, 12)
        Number of levels of the nominal columns: the same for all, random in the
        inclusive range, or one number per column. At least 2.
    n_ordinal_levels : int, tuple (low, high) or list of int, default=(3, 6)
        Number of levels of the ordinal columns, in the same form.
    decimals : int, tuple (low, high), list of int or None, default=(1, 4)
        Number of decimals to which the numeric columns are rounded before they are
        scaled, in the same form; this creates ties. A normal column has about 10
        distinct values with 0 decimals, and ten times as many with each additional
        decimal. None: no rounding.
    correlation : float in [0, 1), default=0.5
        Correlation of the latent values in a group of columns; see Notes.
    task : {"classification", "regression"}, default="classification"
        Kind of target: class numbers 0, 1, ..., or numbers.
    n_classes : int, default=2
        Number of classes, from 2 to n_rules. Ignored in regression.
    class_weights : array-like of shape (n_classes,), default=None
        Positive proportions of the classes, which are scaled to sum to 1. None: all
        equal. The actual proportions are approximate because of nominal and tied
        columns.
    n_rules : int, default=8
        Number of rules, at least 2. Each row satisfies exactly one.
    label_noise : float in [0, 1], default=0.0
        Probability that the class of a row is replaced by one of the others, with equal
        probabilities. (``flip_y`` of scikit-learn's ``make_classification`` draws from
        all classes.) Only for classification.
    noise : float, default=0.0
        Standard deviation of the normal noise added to the target. Only for regression.
    missing_fraction : float in [0, 1), default=0.0
        Expected fraction of missing values per column.
    missing_mechanism : str, default="completely_at_random"
        "completely_at_random", "at_random" or "not_at_random": the quantity on which
        missingness depends; see Notes.
    as_frame : bool, default=False
        Whether to return pandas objects: nominal and ordinal columns are then (ordered)
        categoricals with all levels declared. Otherwise, X is a float array in which
        nominal and ordinal columns contain the codes 0, 1, ... of the levels, and NaN
        represents missing values.
    return_X_y : bool, default=True
        Whether to return a tuple. If False, return a Bunch with all results.
    return_rules : bool, default=False
        Whether to add the rules to the tuple.
    random_state : int, RandomState instance or None, default=None
        Seed. The same integer gives the same table on every platform, up to the last
        digit of unrounded numbers, and the same rules for every n_samples.

    Returns
    -------
    X : ndarray or DataFrame of shape (n_samples, n_columns)
        Columns named numeric_0, ..., nominal_0, ..., ordinal_0, ..., in this order.
    y : ndarray or Series of shape (n_samples,)
        The target, including noise.
    rules : list of dict
        Only with ``return_rules=True``: a dict of ``conditions`` and ``class`` (in
        regression, ``value``) for each rule. A condition has ``feature`` (name),
        ``column`` (index), ``operator`` (``"<="``, ``">"``, ``"in"``, ``"not in"``) and
        ``value``: a number, level or list of levels; without ``as_frame``, codes of
        levels. Conditions refer to the values before some were made missing.
    data : :class:`~sklearn.utils.Bunch`
        Only with ``return_X_y=False``: X, y, rules and

        y_without_noise : ndarray of shape (n_samples,)
            The target of the rule that each row satisfies.
        rule_indices : ndarray of shape (n_samples,)
            The index of that rule in ``rules``.
        feature_names, feature_kinds : list of str
            Kinds are "numeric", "nominal" and "ordinal".
        categorical_features : list of int
            Indices of the nominal columns.
        levels : dict
            The labels of the levels of each nominal and ordinal column, by name.
        parameters : dict
            The arguments.

    Raises
    ------
    ValueError
        If a parameter is out of range, if the table has no columns, if a parameter
        belongs to the other task, or if the table is too small for the rules.
    TypeError
        If a parameter is of the wrong type.
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    Notes
    -----
    Columns are assigned to groups of up to four. Column j of group g is an increasing
    function (nominal: any function) of its latent value

    .. math:: z_j = \sqrt{c}\, f_g + \sqrt{1 - c}\, e_j

    where :math:`f_g` and :math:`e_j` are independent standard normal variables and c is
    the ``correlation``. Columns of a group can therefore replace each other in
    surrogate splits.

    Probability that a value of column j is missing, where m is ``missing_fraction``:

    - completely at random: m.
    - at random: :math:`m (1 + k (2 r - 1))` with :math:`k = \min(1, 1/m - 1)` and the
      mean rank r (0 to 1) of the row's value in the first column, which has no missing
      values (so the fraction m is that of the other columns).
    - not at random: the same with :math:`r = \Phi(z_j)`, the rank of the value itself:
      large values are missing more often.

    The rules are the leaves of a random binary tree. Leaves of different classes
    alternate, and the leaves of a class all receive the same fraction of its rows.

    Time is proportional to the number of cells; in addition to the table, a few arrays
    with ``n_samples`` and ``n_rules`` bytes per row are needed.

    Examples
    --------
    >>> from sklearn_textbook.datasets import make_mixed_table
    >>> X, y, rules = make_mixed_table(
    ...     200, n_rules=3, as_frame=True, return_rules=True, random_state=1
    ... )
    >>> X.shape
    (200, 10)
    >>> for condition in rules[0]["conditions"]:
    ...     print(condition["feature"], condition["operator"], condition["value"])
    numeric_1 <= 17000.0
    nominal_2 in ['level_03', 'level_05']
    >>> rules[0]["class"]
    1
    """
    parameters = dict(locals())
    _check_parameters(parameters)
    design_seed, pilot_seed, table_seed, target_seed = _draw_seeds(random_state, 4)
    design = np.random.RandomState(design_seed)
    columns = make_columns(
        n_numeric,
        n_nominal,
        n_ordinal,
        levels=n_levels,
        grades=n_ordinal_levels,
        decimals=decimals,
        rng=design,
    )
    planted = _plant_rules(parameters, columns, design, pilot_seed)
    values, rule_indices = _generate_table(
        n_samples,
        columns,
        planted,
        correlation,
        (missing_fraction, missing_mechanism),
        table_seed,
        as_frame,
    )
    y_without_noise = np.array([rule.target for rule in planted])[rule_indices]
    y = _make_target(y_without_noise, parameters, target_seed)
    rules = [describe_rule(rule, columns, task, as_frame) for rule in planted]
    if return_X_y:
        return (values, y, rules) if return_rules else (values, y)
    return Bunch(
        X=values,
        y=y,
        rules=rules,
        y_without_noise=y_without_noise,
        rule_indices=rule_indices,
        **_describe_columns(columns),
        parameters=parameters,
    )


def _draw_seeds(random_state, n_seeds):
    """Independent 32-bit seeds, the same on every platform."""
    rng = check_random_state(random_state)
    return rng.randint(0, 2**32, size=n_seeds, dtype=np.uint64).tolist()


def _generate_latent(n_rows, n_columns, correlation, seed):
    """Yield (column index, its latent normal values), group by group."""
    n_groups = -(-n_columns // _GROUP_SIZE)
    seeds = _draw_seeds(seed, n_groups + n_columns)
    for group in range(n_groups):
        factor = np.random.RandomState(seeds[group]).standard_normal(n_rows)
        factor *= np.sqrt(correlation)
        for i in range(group, n_columns, n_groups):
            latent = np.random.RandomState(seeds[n_groups + i]).standard_normal(n_rows)
            latent *= np.sqrt(1.0 - correlation)
            latent += factor
            yield i, latent


def _generate_pilot(columns, correlation, seed):
    """Return a complete sample of the table, one contiguous array per column."""
    pilot = np.empty((_PILOT_SIZE, len(columns)), order="F")
    for i, latent in _generate_latent(*pilot.shape, correlation, seed):
        pilot[:, i] = columns[i].compute_values(latent)
    return pilot


def _plant_rules(parameters, columns, design, pilot_seed):
    """Plant the rules in the sample, which is not kept."""
    p = parameters
    targets, fractions = _assign_targets(
        p["task"], p["n_classes"], p["class_weights"], p["n_rules"], design
    )
    pilot = _generate_pilot(columns, p["correlation"], pilot_seed)
    return plant_rules(pilot, columns, targets, fractions, design)


def _assign_targets(task, n_classes, class_weights, n_rules, rng):
    """Return the target of each rule, and the fraction of rows to cover."""
    if task == "regression":
        targets = (10.0 * rng.permutation(n_rules)).tolist()
        return targets, np.full(n_rules, 1.0 / n_rules)
    weights = np.ones(n_classes) if class_weights is None else np.array(class_weights)
    order = rng.permutation(n_classes)
    targets = [int(order[i % n_classes]) for i in range(n_rules)]
    fractions = (weights / weights.sum() / np.bincount(targets))[targets]
    return targets, fractions


def _generate_table(n_rows, columns, rules, correlation, missing, seed, as_frame):
    """Return the table and the index of the rule that each row satisfies."""
    missing_fraction, mechanism = missing
    latent_seed, *seeds = _draw_seeds(seed, 1 + len(columns))
    matches = np.ones((len(rules), n_rows), dtype=bool)
    series = {}
    table = None if as_frame else np.empty((n_rows, len(columns)))
    ranks = None  # of the first column, which comes first
    for i, latent in _generate_latent(n_rows, len(columns), correlation, latent_seed):
        values = columns[i].compute_values(latent)
        for match, rule in zip(matches, rules, strict=True):
            if i in rule.regions:
                match &= rule.matches(i, values)
        if missing_fraction > 0:
            if mechanism == "at_random" and i == 0:
                ranks = _compute_mean_ranks(values)
            elif mechanism == "not_at_random":
                ranks = ndtr(latent)
            if mechanism != "at_random" or i > 0:
                probability = _compute_missing_probability(missing_fraction, ranks)
                draws = np.random.RandomState(seeds[i]).random_sample(n_rows)
                values[draws < probability] = np.nan
        if as_frame:
            series[i] = _make_series(columns[i], values)
        else:
            table[:, i] = values
    rule_indices = matches.argmax(axis=0)
    if as_frame:
        named = {column.name: series[i] for i, column in enumerate(columns)}
        table = import_pandas("make_mixed_table").DataFrame(named)
    return table, rule_indices


def _compute_mean_ranks(values):
    """Ranks scaled to (0, 1), equal values sharing their mean; the mean is 1/2."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return ((np.cumsum(counts) - 0.5 * counts) / len(values))[inverse]


def _compute_missing_probability(fraction, ranks):
    if ranks is None:
        return fraction
    slope = min(1.0, 1.0 / fraction - 1.0)
    return fraction * (1.0 + slope * (2.0 * ranks - 1.0))


def _make_series(column, values):
    """Return a pandas column made of numbers or level codes, NaN being missing."""
    if column.kind == "numeric":
        return values
    pandas = import_pandas("make_mixed_table")
    codes = np.where(np.isnan(values), -1, values).astype(np.intp)
    return pandas.Categorical.from_codes(
        codes, categories=column.labels, ordered=column.kind == "ordinal"
    )


def _describe_columns(columns):
    kinds = [column.kind for column in columns]
    return {
        "feature_names": [column.name for column in columns],
        "feature_kinds": kinds,
        "categorical_features": [i for i, k in enumerate(kinds) if k == "nominal"],
        "levels": {c.name: c.labels for c in columns if c.kind != "numeric"},
    }


def _make_target(targets, parameters, seed):
    """Add the noise to the targets of the rules."""
    p = parameters
    rng = np.random.RandomState(seed)
    if p["task"] == "regression":
        y = targets + p["noise"] * rng.standard_normal(len(targets))
    else:
        is_flipped = rng.random_sample(len(targets)) < p["label_noise"]
        draws = rng.random_sample(len(targets)) * (p["n_classes"] - 1)
        steps = 1 + draws.astype(np.int64)
        y = np.where(is_flipped, (targets + steps) % p["n_classes"], targets)
    if p["as_frame"]:
        return import_pandas("make_mixed_table").Series(y, name="target")
    return y


def _check_parameters(parameters) -> None:
    """Raise TypeError or ValueError for a parameter that is out of its range."""
    p = parameters
    for name, lowest in (
        ("n_samples", 1),
        ("n_numeric", 0),
        ("n_nominal", 0),
        ("n_ordinal", 0),
        ("n_rules", 2),
    ):
        check_scalar(p[name], name, Integral, min_val=lowest)
    n_columns = p["n_numeric"] + p["n_nominal"] + p["n_ordinal"]
    if n_columns == 0:
        raise ValueError(
            "at least one of n_numeric, n_nominal and n_ordinal must be > 0"
        )
    _check_per_column(p["n_levels"], "n_levels", p["n_nominal"], 2)
    _check_per_column(p["n_ordinal_levels"], "n_ordinal_levels", p["n_ordinal"], 2)
    if p["decimals"] is not None:
        _check_per_column(p["decimals"], "decimals", p["n_numeric"], 0)
    for name in ("correlation", "missing_fraction"):
        _check_number(p[name], name, max_val=1, include_boundaries="left")
    _check_number(p["label_noise"], "label_noise", max_val=1)
    _check_number(p["noise"], "noise")
    check_choice("task", p["task"], ("classification", "regression"))
    check_choice("missing_mechanism", p["missing_mechanism"], MECHANISMS)
    needs_driver = p["missing_fraction"] > 0 and p["missing_mechanism"] == "at_random"
    if needs_driver and n_columns == 1:
        raise ValueError("missing_mechanism='at_random' requires at least two columns")
    if p["task"] == "classification":
        _check_classes(p)
    else:
        for name, neutral in (("label_noise", 0), ("class_weights", None)):
            if p[name] != neutral:
                raise ValueError(f"{name} is not allowed with task='regression'")
    if p["as_frame"]:
        import_pandas("make_mixed_table")


def _check_classes(p) -> None:
    n_classes = p["n_classes"]
    check_scalar(n_classes, "n_classes", Integral, min_val=2)
    if n_classes > p["n_rules"]:
        raise ValueError(
            f"n_rules must be at least n_classes={n_classes}; got {p['n_rules']}"
        )
    if p["noise"] != 0:
        raise ValueError("noise is not allowed with task='classification'")
    if p["class_weights"] is not None:
        weights = np.asarray(p["class_weights"], dtype=np.float64)
        if weights.shape != (n_classes,) or not np.all(weights > 0):
            raise ValueError(
                f"class_weights must be {n_classes} positive numbers; got "
                f"{p['class_weights']!r}"
            )


def _check_number(value, name, **limits) -> None:
    check_scalar(value, name, Real, min_val=0, **limits)
    if not np.isfinite(value):
        raise ValueError(f"{name} must be finite; got {value!r}")


def _check_per_column(setting, name, n_columns, lowest) -> None:
    """Check an int, a tuple (low, high) or a list of one int per column."""
    entries = setting if isinstance(setting, tuple | list) else [setting]
    for entry in entries:
        check_scalar(entry, name, Integral, min_val=lowest)
    if isinstance(setting, tuple) and (len(setting) != 2 or setting[0] > setting[1]):
        raise ValueError(f"{name} as a tuple must be (low, high); got {setting!r}")
    if isinstance(setting, list) and len(setting) != n_columns:
        raise ValueError(
            f"{name} as a list must have one number for each of {n_columns} columns; "
            f"got {setting!r}"
        )
