"""Checking constructor parameters, with messages that name the allowed values."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.closest_name import find_closest, spell

LARGEST_INTEGER = 2**63 - 1  # no count of rows or columns is larger
LONGEST_VALUE = 100  # number of characters of a value that messages show


def name_some(values, most: int = 10):
    """Join values in a list; only the first ones if there are many."""
    text = ", ".join(map(repr, values[:most]))
    more = len(values) - most
    return f"{text} and {more} more" if more > 0 else text


def show_value(value):
    """Format a value for a message, truncated if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not format integers of thousands of digits
        text = f"an int of {value.bit_length()} bits"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _fail(name, value, allowed, choices=()):
    raise ValueError(
        f"The {name!r} parameter must be {allowed}; got {show_value(value)} of type "
        f"{type(value).__name__}.{suggest(value, choices)}"
    )


def suggest(value: object, choices: Iterable[str]) -> str:
    """Suggest the allowed word that is closest to a wrong one."""
    if not isinstance(value, str):
        return ""
    words = [choice for choice in choices if isinstance(choice, str)]
    near = [find_closest(value, words)]
    # Beginnings, and first letters: "cc" and "ccp" of "cost_complexity".
    given = spell(value)
    for word in words:
        spelled = spell(word)
        initials = "".join(part[0] for part in spelled.split("_") if part)
        is_short = len(initials) > 1 and len(given) <= len(initials) + 1
        is_start = len(given) > 1 and spelled.startswith(given)
        if is_start or (is_short and given.startswith(initials)):
            near.append(word)
    closest = next(filter(None, near), None)
    return "" if closest is None else f" Did you mean {closest!r}?"


def read_feature_names(
    feature_names: Sequence[str] | None, n_names: int, each: str = "column"
) -> list[str] | None:
    """Read the names that a caller gives to columns."""
    if feature_names is None:
        return None
    is_text = isinstance(feature_names, str)
    names = [] if is_text else [str(name) for name in feature_names]
    if len(names) != n_names:
        got = show_value(feature_names) if is_text else len(names)
        raise ValueError(
            f"feature_names must have {n_names} names, one per {each}, got {got}."
        )
    return names


def find_column(parameter: str, key: object, names: Sequence[str]) -> int:
    """Return the position of a column that a caller gives by name or index."""
    names = list(names)
    if isinstance(key, str) and key in names:
        return names.index(key)
    if is_integer(key) and 0 <= key < len(names):
        return int(key)
    raise ValueError(
        f"{parameter} must be column names, [{name_some(names)}], or indices from 0 to "
        f"{len(names) - 1}; got {show_value(key)}."
    )


def is_checked() -> bool:
    """Whether parameters are to be checked (scikit-learn's global setting)."""
    from sklearn import get_config  # slow to import, and not needed to print a tree

    return not get_config()["skip_parameter_validation"]


def is_integer(value):
    """Return whether a value is an integer but not a bool."""
    return isinstance(value, numbers.Integral) and not isinstance(
        value, (bool, np.bool_)
    )


def is_real(value) -> bool:
    """Whether a value is a number in the range of floats, but not a bool or NaN."""
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:  # an integer beyond float64
        return False


def check_choice(name, value, choices, *, accepts_none: bool = False) -> None:
    """Require one of some words."""
    if not is_checked() or (value is None and accepts_none):
        return
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        allowed = f"one of {words}" + (" or None" if accepts_none else "")
        _fail(name, value, allowed, choices)


def check_deprecated(
    name: str,
    value: object,
    choices: Iterable[str],
    advice: str,
    *,
    accepts_none: bool = False,
) -> None:
    """Check a parameter deprecated by scikit-learn; its default is "deprecated"."""
    if isinstance(value, str) and value == "deprecated":
        return
    check_choice(name, value, choices, accepts_none=accepts_none)
    warn_caller(f"{name!r} was deprecated in scikit-learn {advice}", FutureWarning)


def check_truth(name, value) -> None:
    """Require True or False."""
    if is_checked() and not isinstance(value, (bool, np.bool_)):
        _fail(name, value, "True or False")


def check_integer(
    name, value, smallest, largest=None, *, accepts_none: bool = False
) -> None:
    """Require an integer of a closed range."""
    if not is_checked() or (value is None and accepts_none):
        return
    if largest is None and is_integer(value) and value > LARGEST_INTEGER:
        largest = LARGEST_INTEGER
    if (
        not is_integer(value)
        or value < smallest
        or (largest is not None and value > largest)
    ):
        end = "inf)" if largest is None else f"{largest}]"
        allowed = f"an int in the range [{smallest}, {end}"
        _fail(name, value, allowed + (" or None" if accepts_none else ""))


def check_verbose(value) -> None:
    """Require an integer of at least 0, or True or False, as scikit-learn does."""
    if not isinstance(value, (bool, np.bool_)):
        check_integer("verbose", value, 0)


def check_real(name, value, smallest, largest=math.inf):
    """Require a number of a closed range."""
    if not is_checked():
        return
    if not is_real(value) or not smallest <= value <= largest:
        end = "inf)" if largest == math.inf else f"{largest}]"
        _fail(name, value, f"a float in the range [{smallest}, {end}")


def check_smoothing(value) -> None:
    """Raise ValueError unless ``categorical_smoothing`` is "auto" or a number >= 0."""
    if isinstance(value, str):
        check_choice("categorical_smoothing", value, ("auto",))
    else:
        check_real("categorical_smoothing", value, 0.0)


def check_count_or_fraction(
    name, value, smallest, *, words=(), includes_one: bool = True
) -> None:
    """Require a count (int), a fraction of all (float), or one of some words."""
    if not is_checked():
        return
    if isinstance(value, str) or value is None:
        if value in words:
            return
    elif is_integer(value):
        if smallest <= value <= LARGEST_INTEGER:
            return
    elif is_real(value) and (0.0 < value < 1.0 or (includes_one and value == 1.0)):
        return
    end = "1.0]" if includes_one else "1.0)"
    is_huge = is_integer(value) and value > LARGEST_INTEGER
    largest = f"{LARGEST_INTEGER}]" if is_huge else "inf)"
    allowed = (
        f"an int in the range [{smallest}, {largest} or a float in the range "
        f"(0.0, {end}"
    )
    for word in words:
        allowed += f" or {word!r}"
    _fail(name, value, allowed, words)


def check_estimator(
    name: str,
    value: object,
    methods: Sequence[str],
    is_kind: Callable | None = None,
    kind: str = "an estimator",
) -> None:
    """Require an estimator, not its class; None is left to the caller."""
    if value is None or not is_checked():
        return
    wanted = [*methods, "get_params"]
    lacks = [method for method in wanted if not hasattr(value, method)]
    if isinstance(value, type):
        why = ", which is a class: pass an instance"
    elif lacks:
        why = f", which has no {lacks[0]!r}"
    elif is_kind is None or (hasattr(value, "__sklearn_tags__") and is_kind(value)):
        return
    else:
        why = ""
    raise ValueError(
        f"The {name!r} parameter must be None or {kind} with the methods "
        f"{', '.join(map(repr, wanted))}; got {show_value(value)}{why}."
    )


def check_random_seed(name, value):
    """Require a value that ``check_random_state`` accepts."""
    if not is_checked() or value is None or isinstance(value, np.random.RandomState):
        return
    if value is np.random or (is_integer(value) and 0 <= value <= 2**32 - 1):
        return
    _fail(name, value, "None, an int in the range [0, 4294967295] or a RandomState")


def resolve_count(value, n_all):
    """Return a count unchanged, a fraction as a count rounded up."""
    return int(value) if is_integer(value) else math.ceil(value * n_all)


def resolve_max_features(max_features, n_features: int) -> int:
    """Count the columns to try at each node."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if is_integer(max_features):
        return int(max_features)
    return max(1, int(max_features * n_features))
