"""Costs of errors: cost matrices, and the classes and weights that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.parameters import is_real, show_value

#: Largest cost: its square is within float64.
LARGEST = 1e100
#: Expected costs that differ by at most this fraction of the largest cost are equal.
SAME_COST = 1e-12

#: The type of the parameter ``cost_matrix``.
CostMatrix = Mapping[Any, Mapping[Any, float]] | ArrayLike


def read_cost_matrix(
    cost_matrix: CostMatrix,
    classes: np.ndarray | Sequence[Any],
    name: str = "cost_matrix",
) -> np.ndarray:
    """Read costs as an array; its rows are true classes, its columns predicted ones."""
    if isinstance(classes, list) and len(classes) and np.ndim(classes[0]):
        raise ValueError(
            f"The '{name}' parameter requires a single output, but y has "
            f"{len(classes)}; set {name}=None."
        )
    labels = np.asarray(classes).tolist()
    is_mapping = isinstance(cost_matrix, Mapping)
    read = _read_mapping if is_mapping else _read_array
    costs = read(cost_matrix, labels, name)
    is_wrong = ~((costs >= 0.0) & (costs <= LARGEST))
    _refuse(costs, is_wrong, labels, f"costs from 0 to {LARGEST:g}", name)
    is_wrong = np.eye(len(costs), dtype=bool) & (costs != 0.0)
    _refuse(costs, is_wrong, labels, "0 for right predictions", name)
    is_free = ~costs.any(axis=1)
    if len(labels) > 1 and is_free.any():
        raise ValueError(
            f"The '{name}' parameter must have a cost above 0 for some error of each "
            f"class; all are 0 for true class {labels[int(is_free.argmax())]!r}."
        )
    return costs


def _refuse(costs, is_wrong, labels, what, name) -> None:
    """Raise ValueError for the first wrong cost."""
    if is_wrong.any():
        true, predicted = np.argwhere(is_wrong)[0]
        raise ValueError(
            f"The '{name}' parameter must have {what}; got {costs[true, predicted]} "
            f"for true class {labels[true]!r}, predicted {labels[predicted]!r}."
        )


def _read_array(cost_matrix, labels, name):
    n = len(labels)
    try:
        costs = np.array(cost_matrix, dtype=np.float64)
        shown = f"an array of shape {costs.shape}"
    except (TypeError, ValueError, OverflowError):
        costs, shown = np.empty(0), show_value(cost_matrix)
    if isinstance(cost_matrix, str) or costs.shape != (n, n):
        raise ValueError(
            f"The '{name}' parameter must be None, a dict of dicts {{true class: "
            f"{{predicted class: cost}}}} or an array of shape {(n, n)} for the "
            f"classes {labels}; got {shown}."
        )
    return costs


def _read_mapping(cost_matrix, labels, name):
    number_of = {label: number for number, label in enumerate(labels)}
    costs = np.zeros((len(labels), len(labels)))
    is_given = np.eye(len(labels), dtype=bool)
    for true, row in cost_matrix.items():
        if not isinstance(row, Mapping):
            raise ValueError(
                f"The '{name}' parameter must be a dict of dicts {{true class: "
                f"{{predicted class: cost}}}}; got {show_value(row)} for true class "
                f"{true!r}."
            )
        for label in (true, *row):
            if label not in number_of:
                raise ValueError(
                    f"The '{name}' parameter has the unknown class {label!r}; the "
                    f"classes of y are {labels}."
                )
        for predicted, cost in row.items():
            place = number_of[true], number_of[predicted]
            if not is_real(cost):
                raise ValueError(
                    f"The '{name}' parameter must have finite numbers; got "
                    f"{show_value(cost)} for true class {true!r}, predicted "
                    f"{predicted!r}."
                )
            costs[place], is_given[place] = cost, True
    if not is_given.all():
        true, predicted = np.argwhere(~is_given)[0]
        raise ValueError(
            f"The '{name}' parameter must have a cost for every pair of classes; there "
            f"is none for true class {labels[true]!r}, predicted "
            f"{labels[predicted]!r}."
        )
    return costs


def get_costs(model: Any) -> np.ndarray | None:
    """Return the costs of a model that knows its classes.

    None if it has no ``cost_matrix``, or if all errors cost the same, which decides as
    no costs do.
    """
    given = getattr(model, "cost_matrix", None)
    if given is None:
        return None
    costs = read_cost_matrix(given, model.classes_)
    others = costs[~np.eye(len(costs), dtype=bool)]
    return None if (others == others[:1]).all() else costs


def require_no_votes(model: Any) -> None:
    """Raise ValueError for costs of a model whose members vote."""
    if model.cost_matrix is not None and model.voting == "hard":
        raise ValueError(
            "The 'cost_matrix' parameter requires voting='soft', since fractions of "
            "votes are no probabilities; got voting='hard'."
        )


def choose_classes(
    probabilities: np.ndarray, costs: np.ndarray | None, tolerance: float = 0.0
) -> np.ndarray:
    """Choose the class of least expected cost for each row; ties go to the first.

    Without costs it is the most probable class.
    """
    if costs is None:
        return probabilities.argmax(axis=1)
    expected = probabilities @ costs
    slack = max(tolerance, SAME_COST) * costs.max()
    best = np.zeros(len(expected), dtype=np.intp)
    least = expected[:, 0].copy()
    for number in range(1, expected.shape[1]):
        is_less = expected[:, number] < least - slack
        best[is_less] = number
        least[is_less] = expected[is_less, number]
    return best


def find_altered_priors(costs: np.ndarray | None, totals: np.ndarray):
    r"""Find the factors of the classes' weights with which a tree is grown.

    That of class i is :math:`C_i W / \sum_j C_j W_j`, where :math:`C_i` is the sum of
    the costs of its errors, :math:`W_i` its weight in training and W their sum. None
    if all are 1.
    """
    if costs is None:
        return None
    of_class = costs.sum(axis=1)
    if (of_class == of_class[0]).all():
        return None
    return of_class * (totals.sum() / (of_class @ totals))


def weigh_rows(weight: np.ndarray | None, codes: np.ndarray, of_class: np.ndarray):
    """Multiply the weights of rows by the factors of their classes."""
    of_row = of_class.take(codes)
    return of_row if weight is None else weight * of_row


def refuse_costs(model: Any) -> None:
    """Raise ValueError for a form of models that predicts the most probable class."""
    if hasattr(model, "classes_") and get_costs(model) is not None:
        raise ValueError(
            f"{type(model).__name__} predicts by cost_matrix, which this format cannot "
            "express: it would predict the most probable class. Export "
            "model.set_params(cost_matrix=None), whose probabilities are the same, and "
            "apply the costs to its probabilities."
        )
