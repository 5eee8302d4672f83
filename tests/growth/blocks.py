"""The list of cases, block by block: pairs of values, sizes, large tables."""

from functools import cache, partial

from tests.growth.cases import DEFAULTS, name_case
from tests.growth.covering import cover_pairs
from tests.growth.tables import NUMERIC_TABLES, TABLES

#: Rows on both sides of every switch between kernels, up to some thousands.
SWITCHES = (1, 2, 3, 8, 9, 12, 13, 16, 17, 31, 32, 33, 63, 64, 65, 128, 129, 160, 161)
SWITCHES += (256, 257, 300, 301, 1000, 1024, 4096, 5000)
SMALL_SIZES = (1, 2, 8, 32, 64, 65)
LARGE_SIZE = 70_000
#: Lists of all pairs, each from another seed, in the long list; those of plain tables
#: have all pairs in large trees three times each.
N_LONG = 3

CLASSES = ("2-classes", "3-classes", "10-classes", "15-classes", "70-classes")
VALUES = ("values", "distant-values", "counts")
CART_MISSING = (
    "none",
    *("one-column/learned", "one-column/branch", "one-column/surrogate"),
    *("everywhere/learned", "everywhere/branch", "everywhere/surrogate"),
    "whole-column/learned",
)
FRACTIONAL = ("one-column/fractional", "everywhere/fractional")
WEIGHTS = ("none", "whole", "large", "floats", "zeros", "float-zeros")
DRAWN = ("all", "sqrt", "third", "one")
LIMITS = ("none", "leaf", "share", "depth", "leaves", "decrease", "split")
OPTIONS = ("none", "random-ties", "three-best")
LEVELS = ("default", "subset", "one_vs_rest", "multiway")

_TREES = {
    "table": tuple(TABLES),
    "weights": WEIGHTS,
    "drawn": DRAWN,
    "limit": (*LIMITS, "monotonic"),
    "option": OPTIONS,
    "levels": LEVELS,
}
_PLAIN = {
    "table": (*NUMERIC_TABLES, "ordinal"),
    "splitter": ("best", "random"),
    "limit": ("none", "leaf", "depth", "leaves", "decrease", "split"),
    "option": ("none", "random-ties"),
}
_PLAIN_FORESTS = {
    **_PLAIN,
    "drawn": ("sqrt", "third", "one"),
    "rows": ("bootstrap", "all", "half", "out_of_bag"),
    "weights": ("none", "whole", "zeros"),
    "splitter": ("best",),
}
_SMOOTHED = {
    **_TREES,
    "table": ("nominal", "many-levels", "mixed"),
    "smoothing": ("auto", 5.0),
    "rows": ("default", "bootstrap"),
    "option": ("none", "three-best"),
}
#: Axes of the blocks of pairs, but for the sizes.
AXES = {
    "classes": {
        "target": (*CLASSES, "two-class-outputs"),
        "criterion": ("gini", "entropy", "log_loss", "error"),
        "missing": CART_MISSING,
        "splitter": ("best", "random"),
        **_TREES,
        "weights": (*WEIGHTS, "balanced"),
    },
    "values": {
        "target": (*VALUES, "two-value-outputs"),
        "criterion": ("squared_error", "absolute_error", "poisson"),
        "missing": CART_MISSING,
        "splitter": ("best", "random"),
        **_TREES,
    },
    "gain": {
        "estimator": ("id3", "c45", "c45-plain", "c45-pruned"),
        "target": CLASSES,
        "missing": ("none", *FRACTIONAL),
        **_TREES,
        "weights": (*WEIGHTS, "balanced"),
        "limit": LIMITS,
    },
    "class-forests": {
        "estimator": ("forest", "extra"),
        "target": (*CLASSES, "two-class-outputs"),
        "criterion": ("gini", "entropy", "log_loss", "error", "gain_ratio"),
        "missing": (*CART_MISSING, *FRACTIONAL),
        "rows": ("bootstrap", "all", "half", "out_of_bag"),
        "bins": (None, 16, 255),
        **_TREES,
        "weights": (*WEIGHTS, "balanced", "balanced_subsample"),
    },
    "value-forests": {
        "estimator": ("forest", "extra"),
        "target": (*VALUES, "two-value-outputs"),
        "criterion": ("squared_error", "absolute_error", "poisson"),
        "missing": CART_MISSING,
        "rows": ("bootstrap", "all", "half", "out_of_bag"),
        "bins": (None, 16, 255),
        **_TREES,
    },
    "bags": {
        "estimator": tuple(
            f"{bag}+{template}"
            for bag in ("bagging", "subspace")
            for template in ("cart", "id3", "c45", "c45-pruned")
        ),
        "target": ("2-classes", "3-classes", "10-classes", "values", "counts"),
        "missing": ("none", *CART_MISSING[1:4], *FRACTIONAL),
        "rows": ("default", "bootstrap", "all", "half", "out_of_bag"),
        "columns": ("all", "half", "repeated"),
        "splitter": ("best", "random"),
        **_TREES,
        "limit": LIMITS,
    },
    # Numbers alone, whole weights: what there are kernels of its own for.
    "plain-classes": {
        "target": CLASSES,
        "criterion": ("gini", "entropy", "error"),
        "weights": (*WEIGHTS, "balanced"),
        "drawn": ("all", "third"),
        **_PLAIN,
    },
    "plain-values": {
        "target": VALUES,
        "criterion": ("squared_error", "absolute_error"),
        "weights": WEIGHTS,
        "drawn": ("all", "third"),
        **_PLAIN,
    },
    "plain-class-forests": {
        "estimator": ("forest", "extra", "bagging+cart"),
        "target": CLASSES,
        "criterion": ("gini", "entropy"),
        "bins": (None, 16, 255),
        **_PLAIN_FORESTS,
    },
    "plain-value-forests": {
        "estimator": ("forest", "extra", "bagging+cart"),
        "target": VALUES,
        "criterion": ("squared_error",),
        "bins": (None, 16, 255),
        **_PLAIN_FORESTS,
    },
    # Nominal columns of many levels, which are smoothed.
    "smoothed-classes": {
        "estimator": ("cart", "forest"),
        "target": (*CLASSES, "two-class-outputs"),
        "criterion": ("gini", "entropy", "error"),
        "missing": CART_MISSING,
        **_SMOOTHED,
    },
    "smoothed-values": {
        "estimator": ("cart", "forest"),
        "target": (*VALUES, "two-value-outputs"),
        "criterion": ("squared_error", "absolute_error", "poisson"),
        "missing": CART_MISSING,
        **_SMOOTHED,
    },
}


# ------------------------------------------------------------- what cannot be combined
def _takes_cart_only(missing):
    return missing != "none" and not missing.endswith("fractional")


#: What must hold: names of axes and a function of their values.
RULES = (
    # Poisson's deviance needs values that are not negative.
    (
        ("criterion", "target"),
        lambda criterion, target: (
            criterion != "poisson" or target in ("counts", "two-value-outputs")
        ),
    ),
    # Constraints need one output, and no more than two classes.
    (
        ("limit", "target"),
        lambda limit, target: limit != "monotonic" or target in ("2-classes", *VALUES),
    ),
    # How levels are divided is of no interest where there are none.
    (
        ("table", "levels"),
        lambda table, levels: levels == "default" or table not in NUMERIC_TABLES,
    ),
    # The gain ratio divides cases, and has no constraints, drawn thresholds or outputs.
    (
        ("criterion", "missing"),
        lambda criterion, missing: (
            missing == "none"
            or criterion == "default"
            or (criterion == "gain_ratio") != _takes_cart_only(missing)
        ),
    ),
    (
        ("criterion", "limit"),
        lambda criterion, limit: criterion != "gain_ratio" or limit != "monotonic",
    ),
    (
        ("criterion", "estimator"),
        lambda criterion, estimator: criterion != "gain_ratio" or estimator != "extra",
    ),
    (
        ("criterion", "target"),
        lambda criterion, target: (
            criterion != "gain_ratio" or target != "two-class-outputs"
        ),
    ),
    # ID3 does not group levels.
    (
        ("estimator", "levels"),
        lambda estimator, levels: not estimator.endswith("id3") or levels != "subset",
    ),
    # Bags have no bins.
    (
        ("estimator", "bins"),
        lambda estimator, bins: bins is None or "+" not in estimator,
    ),
    # Templates of bags: values, drawn thresholds and stand-ins for CART alone.
    (
        ("estimator", "target"),
        lambda estimator, target: (
            "+" not in estimator or "class" in target or estimator.endswith("cart")
        ),
    ),
    (
        ("estimator", "splitter"),
        lambda estimator, splitter: splitter == "best" or estimator.endswith("cart"),
    ),
    (
        ("estimator", "missing"),
        lambda estimator, missing: (
            "+" not in estimator
            or missing == "none"
            or _takes_cart_only(missing) == estimator.endswith("cart")
        ),
    ),
    # Out-of-bag scores need some rows, and one output where there are classes.
    (
        ("rows", "target"),
        lambda rows, target: rows != "out_of_bag" or target != "two-class-outputs",
    ),
    (("rows", "size"), lambda rows, size: rows != "out_of_bag" or size >= 8),
    # Bags that draw as many rows without replacement need as many that weigh something.
    (
        ("estimator", "rows", "weights"),
        lambda estimator, rows, weights: (
            not (estimator.startswith("bagging") and rows == "all")
            or weights not in ("zeros", "float-zeros")
        ),
    ),
    # Half of a large total weight would be millions of draws.
    (
        ("rows", "weights"),
        lambda rows, weights: rows != "half" or weights != "large",
    ),
    # All divisions of many levels by the absolute error take long.
    (
        ("criterion", "table", "size"),
        lambda criterion, table, size: (
            criterion != "absolute_error"
            or table not in ("many-levels", "mixed")
            or size <= 1000
        ),
    ),
    # Subspaces draw no rows.
    (
        ("estimator", "rows"),
        lambda estimator, rows: (
            not estimator.startswith("subspace") or rows == "default"
        ),
    ),
    (
        ("estimator", "columns"),
        lambda estimator, columns: (
            not estimator.startswith("subspace") or columns == "half"
        ),
    ),
)


# --------------------------------------------------------------------------- the lists
def _cover(axes, sizes, seed):
    """List cases with all pairs; the place in the list is the seed of the data."""
    cases = cover_pairs({**axes, "size": sizes}, RULES, seed)
    return [{**case, "seed": 1000 * seed + n} for n, case in enumerate(cases)]


def _cover_body(axes, seed):
    """Trees with many nodes, of which digests tell most."""
    return _cover(axes, (300, 1000, 2500, 5000), seed)


def _cover_small(axes, seed):
    """Tables of a few rows, with fewer of the other values."""
    return _cover(axes, SMALL_SIZES, seed)


#: Ways through the engines, at every size.
WAYS = (
    {},
    {"table": "ties", "weights": "floats"},
    {"table": "continuous", "criterion": "entropy", "target": "3-classes"},
    {"target": "values"},
    {"target": "values", "weights": "floats"},
    {"table": "mixed", "missing": "everywhere/surrogate"},
    {"estimator": "c45", "table": "mixed", "missing": "everywhere/fractional"},
    {"estimator": "forest", "drawn": "sqrt"},
    {"estimator": "forest", "drawn": "sqrt", "target": "3-classes"},
    {"estimator": "forest", "drawn": "sqrt", "criterion": "entropy", "table": "ties"},
    {"estimator": "forest", "drawn": "third", "target": "values"},
    {"estimator": "forest", "drawn": "sqrt", "missing": "everywhere/learned"},
    {"estimator": "extra", "drawn": "sqrt"},
    {"estimator": "extra", "drawn": "sqrt", "target": "10-classes"},
    {"estimator": "extra", "target": "values"},
)
#: What is grown on large tables, where threads share the columns of a node.
LARGE_WAYS = (
    {},
    {"weights": "floats", "target": "10-classes", "limit": "leaf"},
    {"criterion": "entropy", "table": "ties", "weights": "whole"},
    {"target": "values"},
    {"table": "mixed", "missing": "everywhere/learned", "limit": "leaf"},
    {"estimator": "c45-pruned", "missing": "one-column/fractional"},
    {"estimator": "forest", "drawn": "sqrt"},
    {"estimator": "forest", "drawn": "sqrt", "target": "10-classes", "bins": 255},
    {"estimator": "forest", "drawn": "third", "target": "values"},
    {"estimator": "extra", "drawn": "sqrt"},
    {"estimator": "extra", "target": "counts"},
)
LONG_LARGE_WAYS = tuple(
    {**way, **change}
    for way in LARGE_WAYS
    for change in ({"weights": "zeros"}, {"table": "ties"}, {"drawn": "one"})
)


def _at_sizes(ways, sizes):
    return [
        {**way, "size": size, "seed": n} for n, way in enumerate(ways) for size in sizes
    ]


def _without_repeats(cases):
    return list({name_case(case): DEFAULTS | case for case in cases}.values())


def _list_pairs(name, seed, n_times=1):
    """All pairs in large trees, some times, and all in small ones."""
    cases = _cover_small(AXES[name], seed)
    for n in range(n_times):
        cases += _cover_body(AXES[name], seed + 1 + n)
    return cases


#: name -> function that lists the cases of the block.
BLOCKS = {
    **{name: partial(_list_pairs, name, 10 * n) for n, name in enumerate(AXES)},
    "sizes": partial(_at_sizes, WAYS, SWITCHES),
    "large": partial(_at_sizes, LARGE_WAYS, (LARGE_SIZE,)),
}
#: The same for the long list, which has other cases than the short one.
LONG_BLOCKS = {
    **{
        f"{name}-{part}": partial(
            _list_pairs,
            name,
            1000 + 100 * n + 10 * part,
            n_times=3 if name.startswith("plain") else 1,
        )
        for n, name in enumerate(AXES)
        for part in range(N_LONG)
    },
    "sizes-long": partial(_at_sizes, WAYS, (400, 2000, 16_384, 16_385, 20_000)),
    "large-long": partial(_at_sizes, LONG_LARGE_WAYS, (LARGE_SIZE,)),
}


@cache
def list_cases(block):
    """List the cases of a block, of either list.

    Parameters
    ----------
    block : str
        Its name.

    Returns
    -------
    cases : list of dict
        With a value for every axis.
    """
    return _without_repeats((BLOCKS | LONG_BLOCKS)[block]())
