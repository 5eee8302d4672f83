"""Reference and kernel brought to one form, and their first difference."""

import math

import numpy as np

from sklearn_textbook.tree.grow import layout

KIND_NAMES = {
    layout.LEAF: "leaf",
    layout.NUMERIC: "numeric",
    layout.ORDINAL: "ordinal",
    layout.NOMINAL: "nominal",
    layout.OBLIQUE: "oblique",
}


def read_grown_tree(tree):
    """The nodes of a GrownTree as the references write them."""

    def level_map(record):
        if record["map_start"] < 0:
            return None
        branches = tree.read_level_map(record).tolist()
        return {code: branch for code, branch in enumerate(branches) if branch >= 0}

    surrogates = [[] for _ in tree.nodes]
    for record in tree.surrogates:
        surrogates[record["node"]].append(
            {
                "feature": int(record["feature"]),
                "kind": KIND_NAMES[int(record["kind"])],
                "threshold": float(record["threshold"]),
                "low_branch": int(record["low_branch"]),
                "level_map": level_map(record),
                "agreement": float(record["agreement"]),
                "adjusted_agreement": float(record["adjusted_agreement"]),
                "n_used": int(record["n_used"]),
            }
        )
    nodes = []
    for number, record in enumerate(tree.nodes):
        first, count = int(record["first_child"]), int(record["n_children"])
        statistics = [
            tree.statistics[number, output, : tree.n_classes[output]].tolist()
            for output in range(tree.n_outputs)
        ]
        nodes.append(
            {
                "parent": int(record["parent"]),
                "children": list(range(first, first + count)),
                "feature": int(record["feature"]),
                "kind": KIND_NAMES[int(record["kind"])],
                "threshold": float(record["threshold"]),
                "level_map": level_map(record),
                "missing_branch": int(record["missing_branch"]),
                "impurity": float(record["impurity"]),
                "improvement": float(record["improvement"]),
                "n_samples": int(record["n_samples"]),
                "weight": float(record["weight"]),
                "statistics": statistics,
                "surrogates": surrogates[number],
            }
        )
    return nodes


def assert_same_nodes(got, expected):
    """Raise an AssertionError if lists of nodes differ; NaN is the same as NaN."""
    # numpy's comparison says where they differ, but takes long.
    if got != expected:
        np.testing.assert_equal(got, expected)


def find_difference(reference, kernel):
    """What differs first between two lists of nodes, in words; None if nothing."""
    for number, (expected, got) in enumerate(zip(reference, kernel, strict=False)):
        for name in got:
            if not is_same(name, expected[name], got[name]):
                return (
                    f"node {number}, {name}: reference {show(expected[name])}, "
                    f"kernel {show(got[name])}\n  reference {show(expected)}"
                    f"\n  kernel    {show(got)}"
                )
    if len(reference) != len(kernel):
        return f"{len(reference)} nodes in the reference, {len(kernel)} in the kernel"
    return None


def is_same(name, expected, got):
    """Equal, numbers that were computed within 1e-9 of their size."""
    if name == "surrogates":
        return len(expected) == len(got) and all(
            is_same(key, one[key], other[key])
            for one, other in zip(expected, got, strict=True)
            for key in other
        )
    if name == "statistics":
        return [len(row) for row in expected] == [len(row) for row in got] and all(
            is_close(one, other)
            for row, other_row in zip(expected, got, strict=True)
            for one, other in zip(row, other_row, strict=True)
        )
    if isinstance(got, float):
        return is_close(float(expected), got)
    return expected == got


def is_close(expected, got):
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    return math.isclose(expected, got, rel_tol=1e-9, abs_tol=1e-9)


def show(value):
    """A short form of a node's field or of a whole node."""
    if isinstance(value, dict) and "rows" in value:
        hidden = {"rows", "split", "path", "bounds"}
        value = {key: item for key, item in value.items() if key not in hidden}
    return repr(value)


def to_numpy_column(values):
    """A column of numbers with NaN for missing."""
    return np.array([math.nan if value is None else value for value in values])
