"""What every node costs as a leaf, in plain Python."""

from fractions import Fraction


def list_node_risks(tree, risk="impurity", number=Fraction):
    """The risk of every node: impurity or share of errors, times weight over total."""
    weights = [number(float(weight)) for weight in tree.nodes["weight"]]
    if risk == "impurity":
        impurities = [number(float(impurity)) for impurity in tree.nodes["impurity"]]
        costs = [w * i for w, i in zip(weights, impurities, strict=True)]
    else:
        costs = [
            count_errors(outputs) if weight else 0
            for weight, outputs in zip(weights, tree.statistics.tolist(), strict=True)
        ]
    return [cost / weights[0] for cost in costs]


def count_errors(outputs):
    """Weight outside the largest class, the mean over the outputs."""
    errors = [
        sum(map(Fraction, classes)) - Fraction(max(classes)) for classes in outputs
    ]
    return sum(errors) / len(errors)
