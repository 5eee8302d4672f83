"""What every node costs as a leaf, in plain Python."""

from fractions import Fraction


def list_node_risks(tree, risk="impurity", number=Fraction, costs=None):
    """The risk of every node: impurity or share of errors, times weight over total.

    With costs of errors, errors are the least cost of one prediction for all rows.
    """
    weights = [number(float(weight)) for weight in tree.nodes["weight"]]
    if risk == "impurity":
        impurities = [number(float(impurity)) for impurity in tree.nodes["impurity"]]
        costs = [w * i for w, i in zip(weights, impurities, strict=True)]
    else:
        costs = [
            count_errors(outputs, costs) if weight else 0
            for weight, outputs in zip(weights, tree.statistics.tolist(), strict=True)
        ]
    return [cost / weights[0] for cost in costs]


def count_errors(outputs, costs=None):
    """Weight outside the largest class, the mean over the outputs; or its cost."""
    if costs is not None:
        (counts,) = outputs
        return min(
            sum(
                Fraction(n) * Fraction(row[k])
                for n, row in zip(counts, costs, strict=True)
            )
            for k in range(len(counts))
        )
    errors = [
        sum(map(Fraction, classes)) - Fraction(max(classes)) for classes in outputs
    ]
    return sum(errors) / len(errors)
