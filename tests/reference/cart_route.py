"""CART in plain Python: the way of a new row down a grown tree."""

from tests.reference.cart_splits import MISSING


class UnseenLevelError(ValueError):
    """A level that the node has not seen, where that is to be an error."""


def find_shares(nodes, row, number=0, handle_unknown="parent"):
    """Which nodes the row ends in: pairs of a node's number and the row's share."""
    node = nodes[number]
    children = node["children"]
    if not children:
        return [(number, 1.0)]
    branch = find_branch(node, row)
    if branch == "unseen":
        if handle_unknown == "error":
            raise UnseenLevelError(f"column {node['feature']}: {row[node['feature']]}")
        branch = "fractional" if handle_unknown == "fractional" else "stay"
    if branch == "stay":
        return [(number, 1.0)]
    if branch == "fractional":
        total = sum(nodes[child]["weight"] for child in children)
        return [
            (end, share * nodes[child]["weight"] / total)
            for child in children
            if nodes[child]["weight"] > 0
            for end, share in find_shares(nodes, row, child, handle_unknown)
        ]
    return find_shares(nodes, row, children[branch], handle_unknown)


def find_branch(node, row):
    """The child's number, or "stay", "fractional" or "unseen"."""
    value = row[node["feature"]]
    if value is not MISSING:
        return judge_value(node, value, low_branch=0)
    for surrogate in node["surrogates"]:
        value = row[surrogate["feature"]]
        if value is MISSING:
            continue
        branch = judge_value(surrogate, value, surrogate["low_branch"])
        if branch != "unseen":
            return branch
    return {-1: "stay", -2: "fractional"}.get(
        node["missing_branch"], node["missing_branch"]
    )


def judge_value(test, value, low_branch):
    """Where a split or a surrogate sends a value that is present."""
    if test["kind"] == "nominal":
        return test["level_map"].get(value, "unseen")
    if test["kind"] == "ordinal" and value < 0:
        return "unseen"
    return low_branch if value <= test["threshold"] else 1 - low_branch


def predict_row(nodes, row, task, handle_unknown="parent"):
    """Class shares, or values, of every output: the mean over the row's parts."""
    ends = find_shares(nodes, row, handle_unknown=handle_unknown)
    n_outputs = len(nodes[0]["statistics"])
    predicted = []
    for output in range(n_outputs):
        total = [0.0] * len(nodes[0]["statistics"][output])
        for number, share in ends:
            statistics = nodes[number]["statistics"][output]
            weight = sum(statistics) if task == "classifier" else 1.0
            for k, value in enumerate(statistics):
                total[k] += share * value / weight
        predicted.append(total)
    return predicted
