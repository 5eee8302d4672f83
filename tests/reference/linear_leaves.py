"""Linear equations in the nodes of a regression tree, in plain Python.

The tree is a grown tree of the package, of which only the splits are read; rows are
told by their decision paths.
"""

import math

import numpy as np

PENALTY = 2.0


def estimate_error(rss, n, v):
    """The squared error on other rows, times n."""
    return math.inf if n <= v else rss * (n + PENALTY * v) / (n - v)


def solve(Z, y, w):
    """Least squares without a constant: slopes, RSS and the diagonal of the inverse."""
    if Z.shape[1] == 0:
        return np.empty(0), float((w * y**2).sum()), np.empty(0)
    scale = np.sqrt((w[:, None] * Z**2).sum(axis=0))
    root = np.sqrt(w)
    slopes, *_ = np.linalg.lstsq(root[:, None] * Z / scale, root * y, rcond=None)
    slopes = slopes / scale
    products = (Z / scale).T @ (w[:, None] * (Z / scale))
    inverse = np.diag(np.linalg.inv(products)) / scale**2
    return slopes, float((w * (y - Z @ slopes) ** 2).sum()), inverse


def find_mean(x, w):
    """The mean of the values present."""
    is_present = ~np.isnan(x)
    total = w[is_present].sum()
    return (w[is_present] * x[is_present]).sum() / total if total > 0 else 0.0


class Equation:
    """Least squares in one node, with the columns of forward selection."""

    def __init__(self, X, y, w, candidates):
        self.n, self.level = w.sum(), find_mean(y, w)
        self.centers = {j: find_mean(X[:, j], w) for j in candidates}
        Z = np.nan_to_num(X - [self.centers.get(j, 0.0) for j in range(X.shape[1])])
        z = y - self.level
        total = (w * z**2).sum()
        chosen, best, self.risk = [], [], estimate_error(total, self.n, 1)
        rss = total
        while self.n >= 3.0 * (len(chosen) + 2) and rss >= 1e-14 * total > 0.0:
            found = []
            for j in candidates:
                _, rest, _ = solve(Z[:, chosen], Z[:, j], w)
                whole = (w * Z[:, j] ** 2).sum()
                if whole > 0.0 and rest > 1e-9 * whole and j not in chosen:
                    found.append((solve(Z[:, [*chosen, j]], z, w)[1], j))
            if not found:
                break
            rss, j = min(found)
            chosen = [*chosen, j]
            risk = estimate_error(rss, self.n, 1 + len(chosen))
            if risk < self.risk:
                self.risk, best = risk, chosen
        self.factor = 1.0
        if self.n > 1 + len(best):
            self.factor = estimate_error(1.0, self.n, 1 + len(best))
        slopes, rss, inverse = solve(Z[:, best], z, w)
        variance = rss / (self.n - 1 - len(best)) if best else 0.0
        self.slopes = dict(zip(best, slopes, strict=True))
        self.errors = dict(zip(best, np.sqrt(variance * inverse), strict=True))
        self.low, self.high = (y.min(), y.max()) if len(y) else (0.0, 0.0)

    def predict(self, X):
        """The sums, without bounds."""
        values = np.full(len(X), self.level)
        for j, slope in self.slopes.items():
            values += slope * np.nan_to_num(X[:, j] - self.centers[j])
        return values

    def average(self, above, part):
        """Average with the equation of the parent."""
        rest = 1.0 - part
        others = above.slopes if rest > 0.0 else {}
        self.level = part * self.level + rest * above.level
        slopes, errors = {}, {}
        for j in {**self.slopes, **others}:
            if j not in self.slopes:
                self.centers[j] = above.centers[j]
            elif j in others:
                moved = self.centers[j] - above.centers[j]
                self.level += rest * above.slopes[j] * moved
            if part == 0.0 and j not in others:
                continue
            for own, other, into in (
                (self.slopes, above.slopes, slopes),
                (self.errors, above.errors, errors),
            ):
                into[j] = part * own.get(j, 0.0) + rest * other.get(j, 0.0)
        self.slopes, self.errors = slopes, errors


def fit_equations(tree, X, y, w, columns, shrinkage):
    """The equations of all nodes, averaged with those of the parents."""
    inside = tree.decision_path(X).toarray().astype(bool)
    equations, fitted = [], np.zeros(len(y))
    for node in range(tree.node_count):
        rows = inside[:, node] & (w > 0)
        one = Equation(X[rows], y[rows], w[rows], columns)
        equations.append(one)
        parent = tree.nodes["parent"][node]
        own = one.predict(X[rows])
        if parent >= 0:
            part = find_part(one, y[rows], w[rows], own, fitted[rows], shrinkage)
            above = equations[parent].factor
            one.factor = part * one.factor + (1.0 - part) * above
            own = part * own + (1.0 - part) * fitted[rows]
            one.average(equations[parent], part)
        # Nodes are numbered breadth first: children come after all of this level.
        fitted[rows] = own
        rss = (w[rows] * (y[rows] - own) ** 2).sum()
        whole = (w[rows] * (y[rows] - find_mean(y[rows], w[rows])) ** 2).sum()
        one.risk = one.factor * rss if rss >= 1e-14 * whole else 0.0
    return equations


def find_part(equation, y, w, own, above, shrinkage):
    """The weight of the equation of a node itself."""
    rss, rss_above = ((w * (y - f) ** 2).sum() for f in (own, above))
    v, n = 1 + len(equation.slopes), equation.n
    if shrinkage == 0.0:
        return 1.0 if n > 0 else 0.0
    if not (n > v and rss_above > rss):
        return 0.0
    return 1.0 - min(1.0, shrinkage * v * rss_above / n / (rss_above - rss))


def choose_leaves(tree, equations):
    """The nodes that are leaves of the subtree with the least risk."""
    slack = 1e-12 * equations[0].risk

    def visit(node):
        first, count = tree.nodes["first_child"][node], tree.nodes["n_children"][node]
        if count == 0:
            return equations[node].risk, [node]
        parts = [visit(child) for child in range(first, first + count)]
        below = sum(risk for risk, _ in parts)
        if equations[node].risk <= below + slack:
            return equations[node].risk, [node]
        return below, [leaf for _, leaves in parts for leaf in leaves]

    return visit(0)[1]


def predict(tree, equations, leaves, X):
    """Predictions of a tree that ends in some of its nodes."""
    values = np.empty(len(X))
    for row, path in enumerate(tree.decision_path(X).toarray().astype(bool)):
        nodes = np.flatnonzero(path)
        node = next((n for n in nodes if n in leaves), nodes[-1])
        one = equations[node]
        value = one.predict(X[row : row + 1])[0]
        values[row] = min(max(value, one.low), one.high) if one.slopes else value
    return values
