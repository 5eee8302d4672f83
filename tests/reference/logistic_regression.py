"""Logistic regression by its formulas, row by row: meant to be read first.

周志华《机器学习》, section 3.3; 李航《统计学习方法》, section 6.1. Columns include the
ones of the intercept; classes are numbered from 0. A coefficient vector is there for
each class but the last (of two classes: for class 1), and those of all classes stand in
one row of numbers.
"""

import numpy as np


def compute_probabilities(row, coefficients, n_classes):
    """P(y = k | x) of all classes (3.23, 3.24; 6.7, 6.8)."""
    scores = [float(row @ vector) for vector in coefficients]
    scores = [0.0, *scores] if n_classes == 2 else [*scores, 0.0]
    top = max(scores)
    powers = np.exp([score - top for score in scores])
    return powers / powers.sum()


def compute_loss(X, y, weight, theta, n_classes):
    """Negative log-likelihood (3.27)."""
    coefficients = theta.reshape(n_classes - 1, -1)
    return -sum(
        w * np.log(compute_probabilities(row, coefficients, n_classes)[label])
        for row, label, w in zip(X, y, weight, strict=True)
    )


def compute_derivatives(X, y, weight, theta, n_classes):
    """Gradient (3.30) and Hessian (3.31) of the loss."""
    coefficients = theta.reshape(n_classes - 1, -1)
    gradient = np.zeros(len(theta))
    hessian = np.zeros((len(theta), len(theta)))
    free = slice(1, 2) if n_classes == 2 else slice(0, n_classes - 1)
    for row, label, w in zip(X, y, weight, strict=True):
        shares = compute_probabilities(row, coefficients, n_classes)
        residual = shares - np.eye(n_classes)[label]
        curvature = np.diag(shares) - np.outer(shares, shares)
        gradient += w * np.kron(residual[free], row)
        hessian += w * np.kron(curvature[free, free], np.outer(row, row))
    return gradient, hessian


def take_newton_steps(X, y, weight, n_classes, n_steps):
    """Coefficients after each of the first Newton steps from zero (3.29)."""
    theta = np.zeros((n_classes - 1) * X.shape[1])
    path = [theta]
    for _ in range(n_steps):
        gradient, hessian = compute_derivatives(X, y, weight, theta, n_classes)
        theta = theta - np.linalg.solve(hessian, gradient)
        path.append(theta)
    return path


def take_gradient_steps(X, y, weight, n_classes, n_steps):
    """Coefficients after each of the first steps of gradient descent from zero.

    Columns are divided by their root mean square. A step begins with twice the last,
    and is halved until the loss falls by half of the squared gradient times the step.
    """
    units = np.sqrt(weight @ X**2 / weight.sum())
    X = X / units
    theta = np.zeros((n_classes - 1) * X.shape[1])
    share = 0.25 if n_classes == 2 else 0.5
    length = 0.5 / (share * float(weight @ (X**2).sum(axis=1)))
    path = [theta]
    for _ in range(n_steps):
        gradient, _ = compute_derivatives(X, y, weight, theta, n_classes)
        loss = compute_loss(X, y, weight, theta, n_classes)
        length *= 2.0
        while (
            compute_loss(X, y, weight, theta - length * gradient, n_classes)
            > loss - 0.5 * length * gradient @ gradient
        ):
            length /= 2.0
        theta = theta - length * gradient
        path.append(theta)
    return [theta / np.tile(units, n_classes - 1) for theta in path]


def take_bfgs_steps(X, y, weight, n_classes, n_steps):
    """Coefficients after each of the first steps of BFGS from zero (李航, 附录B)."""
    theta = np.zeros((n_classes - 1) * X.shape[1])
    share = 0.25 if n_classes == 2 else 0.5
    squares = np.tile(weight @ X**2 / weight.sum(), n_classes - 1)
    inverse = np.diag(1.0 / squares) / (share * weight.sum())
    path = [theta]
    for number in range(n_steps):
        gradient, _ = compute_derivatives(X, y, weight, theta, n_classes)
        loss = compute_loss(X, y, weight, theta, n_classes)
        step = -inverse @ gradient
        while (
            compute_loss(X, y, weight, theta + step, n_classes)
            > loss + 1e-4 * step @ gradient
        ):
            step = step / 2.0
        theta = theta + step
        path.append(theta)
        change = compute_derivatives(X, y, weight, theta, n_classes)[0] - gradient
        if number == 0:
            inverse = np.diag(1.0 / squares)
            inverse *= (step @ change) / (change @ (change / squares))
        left = np.eye(len(theta)) - np.outer(step, change) / (step @ change)
        inverse = left @ inverse @ left.T + np.outer(step, step) / (step @ change)
    return path
