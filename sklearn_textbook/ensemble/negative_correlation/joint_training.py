"""Training the members of negative correlation learning by one loss of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

#: Pairs of steps that the L-BFGS method remembers.
N_CORRECTIONS = 20


class StopTrainingError(Exception):
    """Ends a minimisation from inside."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows in the units of training.

    Parameters
    ----------
    matrix : ndarray of float64, shape (n_rows, n_columns)
        Standardised columns.
    target : ndarray of float64, shape (n_rows,)
        Standardised targets.
    fraction : ndarray of float64, shape (n_rows,)
        Weights of the rows, which sum to 1.
    """

    matrix: np.ndarray
    target: np.ndarray
    fraction: np.ndarray

    def compute_error(self, members) -> float:
        """Compute the mean squared error of the mean of all members."""
        mean = members.predict_blocks(self.matrix).mean(axis=1)
        return float(self.fraction @ (mean - self.target) ** 2)


def compute_output_loss(
    outputs: np.ndarray, target: np.ndarray, fraction: np.ndarray, penalty: float
) -> tuple[float, np.ndarray]:
    r"""Compute the joint loss of some rows, and its derivatives by the outputs."""
    errors = outputs - target[:, np.newaxis]
    deviations = outputs - outputs.mean(axis=1, keepdims=True)
    of_rows = (errors**2 - penalty * deviations**2).sum(axis=1)
    slopes = fraction[:, np.newaxis] * (errors - penalty * deviations)
    return 0.5 * float(fraction @ of_rows), slopes


def compute_joint_loss(
    members, rows: TrainingRows, penalty: float, run: Callable = map
) -> tuple[float, np.ndarray]:
    """Compute the joint loss of all rows, and its derivatives by the parameters."""

    def compute_block(first):
        block = slice(first, first + step)
        matrix = rows.matrix[block]
        units = members.activate(matrix)
        loss, slopes = compute_output_loss(
            members.predict(matrix, units),
            rows.target[block],
            rows.fraction[block],
            penalty,
        )
        return loss, members.compute_gradient(matrix, units, slopes).to_vector()

    step = members.count_block_rows()
    blocks = run(compute_block, range(0, len(rows.target), step))
    losses, gradients = zip(*blocks, strict=True)
    return sum(losses), sum(gradients)


@dataclass(frozen=True)
class TrainingRules:
    """When training ends, and what is minimised.

    Parameters
    ----------
    penalty : float
        How much members are pushed apart.
    alpha : float
        Strength of the L2 penalty.
    max_iter : int
        Number of iterations, at most.
    tol : float
        Largest derivative that is taken for zero.
    patience : int or None, default=None
        Iterations in which the error on the validation rows may fail to fall; None:
        there are no such rows.
    run : callable, default=map
        Applies a function to blocks of rows.
    """

    penalty: float
    alpha: float
    max_iter: int
    tol: float
    patience: int | None = None
    run: Callable = map


@dataclass
class TrainedMembers:
    """Members and how they were trained.

    Parameters
    ----------
    members : NetworkMembers or LinearMembers
        The members.
    losses, errors : list of float
        The loss before the first and after each iteration; the errors on validation
        rows, if there are any.
    n_iter : int
        Number of iterations.
    is_converged : bool
        Whether training ended by itself.
    """

    members: object
    losses: list
    errors: list
    n_iter: int
    is_converged: bool


class JointTraining:
    """A minimisation of the joint loss by the L-BFGS method.

    Parameters
    ----------
    members : NetworkMembers or LinearMembers
        The members to begin with.
    free : ndarray of float64, shape (n_parameters,)
        1 for parameters that are trained, 0 for others.
    rows, validation : TrainingRows
        The training rows, and the validation rows for early stopping, if any.
    rules : TrainingRules
        What is minimised, and how long.
    report : callable, default=None
        Called after each iteration with the members; True ends the training.
    """

    def __init__(self, members, free, rows, validation, rules, report=None) -> None:
        self.members, self.free, self.rows = members, free, rows
        self.validation, self.rules, self.report = validation, rules, report
        self.decay = rules.alpha * members.mark_weights() * free
        self.best, self.n_worse = (np.inf, None), 0
        self.losses, self.errors, self.latest = [], [], (None, None)

    def compute(self, vector):
        """Compute the loss with its L2 penalty, and the derivatives."""
        members = self.members.read_vector(vector)
        rules = self.rules
        loss, gradient = compute_joint_loss(
            members, self.rows, rules.penalty, rules.run
        )
        loss += 0.5 * float(self.decay @ vector**2)
        gradient = (gradient + self.decay * vector) * self.free
        self.latest = vector.copy(), loss
        return loss, gradient

    def record(self, vector) -> None:
        """Record the loss of an iteration; raises ``StopTrainingError`` to end."""
        if self.latest[0] is None or not np.array_equal(self.latest[0], vector):
            self.compute(vector)
        self.losses.append(self.latest[1])
        members = self.members.read_vector(vector.copy())
        is_late = self.validation is not None and self._is_late(members)
        is_first = len(self.losses) == 1
        if self.report is not None and not is_first and self.report(members):
            raise StopTrainingError
        if is_late:
            raise StopTrainingError

    def _is_late(self, members):
        """Whether the error on the validation rows has not fallen for too long."""
        error = self.validation.compute_error(members)
        self.errors.append(error)
        if error < self.best[0]:
            self.best, self.n_worse = (error, members), 0
        else:
            self.n_worse += 1
        return self.n_worse >= self.rules.patience

    def run(self):
        """Train the members; a TrainedMembers."""
        start, rules = self.members.to_vector(), self.rules
        is_converged = True
        try:
            self.record(start)
            result = minimize(
                self.compute,
                start,
                jac=True,
                method="L-BFGS-B",
                callback=self.record,
                options={
                    "maxiter": rules.max_iter,
                    "maxfun": 20 * rules.max_iter,
                    "maxcor": N_CORRECTIONS,
                    "gtol": rules.tol,
                    "ftol": rules.tol**2,
                },
            )
            vector, is_converged = result.x, result.status != 1
        except StopTrainingError:
            vector = self.latest[0]
        members = self.members.read_vector(vector)
        if self.best[1] is not None:
            members = self.best[1]
        n_iter = len(self.losses) - 1
        return TrainedMembers(members, self.losses, self.errors, n_iter, is_converged)


def train_members(
    members,
    sees: np.ndarray,
    rows: TrainingRows,
    validation: TrainingRows,
    rules: TrainingRules,
    report: Callable | None = None,
) -> TrainedMembers:
    """Train members together, or each by itself where nothing connects them."""
    groups = [np.arange(len(members))]
    if rules.penalty == 0:
        groups = [np.array([number]) for number in range(len(members))]
    parts = []
    for place, numbers in enumerate(groups):
        own = members.take(numbers)
        free = own.mark_free(sees[numbers])
        report_all = report
        if report is not None and len(groups) > 1:
            done = [part.members for part in parts]
            rest = [members.take(later) for later in groups[place + 1 :]]

            def report_all(trained, done=done, rest=rest):
                return report(type(members).join([*done, trained, *rest]))

        training = JointTraining(own, free, rows, validation, rules, report_all)
        parts.append(training.run())
    if len(parts) == 1:
        return parts[0]
    return TrainedMembers(
        type(members).join([part.members for part in parts]),
        _add_up([part.losses for part in parts]),
        _average([part.errors for part in parts]),
        max(part.n_iter for part in parts),
        all(part.is_converged for part in parts),
    )


def _add_up(curves):
    """Add curves of several lengths, which stay at their last values."""
    length = max(map(len, curves))
    if not length:
        return []
    full = [curve + curve[-1:] * (length - len(curve)) for curve in curves]
    return np.sum(full, axis=0).tolist()


def _average(curves):
    return [total / len(curves) for total in _add_up(curves)]
