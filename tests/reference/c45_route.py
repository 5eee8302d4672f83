"""C4.5 in plain Python: class shares of a new row, and the class predicted."""

from tests.reference.c45_measures import is_greater
from tests.reference.cart_route import find_shares


def predict_shares(nodes, row, handle_unknown="parent", laplace=False):
    """Class shares of the nodes in which the row ends, by its share in each."""
    total = [0.0] * len(nodes[0]["statistics"][0])
    one = 1 if laplace else 0  # an extra case of every class in every leaf
    for number, share in find_shares(nodes, row, handle_unknown=handle_unknown):
        (class_weights,) = nodes[number]["statistics"]
        weight = sum(class_weights) + one * len(class_weights)
        for label, class_weight in enumerate(class_weights):
            total[label] += share * (class_weight + one) / weight
    return total


def predict_class(shares):
    """The class of largest share without Laplace's extra cases; the first of equals."""
    best, predicted = -1, 0
    for label, share in enumerate(shares):
        if is_greater(share, best):
            best, predicted = share, label
    return predicted
