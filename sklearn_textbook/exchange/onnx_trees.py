"""Grown trees as operators of ONNX.

An ONNX tree ensemble finds the leaf of every row in each tree; a table has the values
of the leaves. A test that one ONNX node cannot represent becomes a separate column: the
weighted sum of an oblique test; the branch chosen by surrogates; and, in trees that
divide rows, the branch at every node, from which the fractions of a row at all nodes
are computed level by level.
"""

from __future__ import annotations

import numpy as np

from sklearn_textbook.exchange.onnx_graph import LEQ, LOWEST, MEMBER, EnsembleWriter
from sklearn_textbook.tree.grow.layout import (
    FRACTIONAL,
    NOMINAL,
    OBLIQUE,
    ORDINAL,
    STAY,
)

#: Branches beside the children, STAY and FRACTIONAL: the model raises an error; a level
#: the test does not know.
REFUSED = -3
UNKNOWN = -4
UNSEEN_BRANCHES = {"parent": STAY, "fractional": FRACTIONAL, "error": REFUSED}
#: Their codes in a column of branches, counted from the number of children.
AFTER_CHILDREN = {STAY: 0, FRACTIONAL: 1, REFUSED: 2}


def divides_rows(tree, allows_missing: bool) -> int | None:
    """Find the first node that divides rows, or None."""
    divides = np.zeros(tree.node_count, dtype=bool)
    if allows_missing:
        divides = ~tree.is_leaf & (tree.nodes["missing_branch"] == FRACTIONAL)
    if tree.handle_unknown == "fractional":
        divides |= np.isin(tree.nodes["kind"], (ORDINAL, NOMINAL))
        is_level = tree.n_levels[tree.terms["feature"]] > 0
        divides[tree.terms["node"][is_level]] = True
    return int(divides.argmax()) if divides.any() else None


def list_surrogates(tree, node):
    """Take the surrogates of a node from a table sorted by node."""
    nodes = tree.surrogates["node"]
    if len(nodes) == 0:
        return tree.surrogates
    return tree.surrogates[slice(*np.searchsorted(nodes, [node, node + 1]))]


def add_value_test(
    writer: EnsembleWriter,
    place: tuple | None,
    tree,
    test,
    column: int,
    low_branch: int,
    missing: int,
) -> list[tuple]:
    """Write the test of one value; list places, and the branches that belong there.

    ``UNKNOWN`` is one of these.
    """
    if test["kind"] == NOMINAL:
        return _add_level_test(writer, place, tree, test, column, missing)
    found = []
    if test["kind"] == ORDINAL:
        # The code of an unknown level is -1.
        unknown, place = writer.test(place, LEQ, column, -0.5, missing == UNKNOWN)
        found.append((unknown, UNKNOWN))
    threshold, high_branch = float(test["threshold"]), 1 - low_branch
    low, high = writer.test(place, LEQ, column, threshold, missing == low_branch)
    found.append((low, low_branch))
    is_open = missing not in (low_branch, high_branch)
    if is_open and not (test["kind"] == ORDINAL and missing == UNKNOWN):
        absent, high = writer.test(high, LEQ, column, LOWEST, True)
        found.append((absent, missing))
    return [*found, (high, high_branch)]


def _add_level_test(writer, place, tree, test, column, missing):
    """Write a chain of tests, one for the levels of each branch."""
    branches = tree.read_level_map(test)
    found = []
    for branch in np.unique(branches[branches >= 0]).tolist():
        levels = np.flatnonzero(branches == branch).tolist()
        inside, place = writer.test(place, MEMBER, column, levels, missing == branch)
        found.append((inside, branch))
    if missing != UNKNOWN and all(branch != missing for _, branch in found):
        absent, place = writer.test(place, LEQ, column, LOWEST, True)
        found.append((absent, missing))
    return [*found, (place, UNKNOWN)]


class TreeOperators:
    """Operators that compute the sums of the values of trees."""

    def __init__(self, graph, trees, allows_missing: bool) -> None:
        self.graph, self.trees, self.allows_missing = graph, trees, allows_missing
        self.n_columns = trees[0].n_features
        self.divides = any(
            divides_rows(tree, allows_missing) is not None for tree in trees
        )
        #: (tree, node) -> column of the weighted sum, of the branch
        self.sums, self.branches = {}, {}

    def add(self, matrix: str, values) -> str:
        """Add the operators, and return the name of the sums.

        One more column counts the trees that refuse the row.
        """
        matrix = self._add_sums(matrix)
        branches = self._add_branches(matrix)
        # The last value is 1 where the model raises an error.
        padded = [np.pad(value, ((0, 0), (0, 1))) for value in values]
        if self.divides:
            means = self._add_means(branches, padded)
        else:
            columns = [matrix] if branches is None else [matrix, branches]
            means = self._add_choice(self.graph.join(columns), padded)
        # In the order of the trees, so that equal sums stay equal.
        axis = self.graph.constant(1, np.int64)
        running = self.graph.add("CumSum", means, axis)
        last = self.graph.constant(-1, np.int64)
        return self.graph.add("Gather", running, last, axis=1)

    # ------------------------------------------------------------- oblique tests
    def _add_sums(self, matrix):
        """Add the weighted sums of oblique tests to the columns."""
        tests = [
            (number, node)
            for number, tree in enumerate(self.trees)
            for node in np.flatnonzero(tree.nodes["kind"] == OBLIQUE).tolist()
        ]
        if not tests:
            return matrix
        self.sums = {test: self.n_columns + i for i, test in enumerate(tests)}
        self.n_columns += len(tests)
        columns = [self._list_terms(*test) for test in tests]
        total = None
        for place in range(max(map(len, columns))):
            active = [i for i, terms in enumerate(columns) if len(terms) > place]
            summands = self._add_summands(matrix, [columns[i][place] for i in active])
            if len(active) < len(tests):
                # Tests with fewer terms stay as they are: -0.0 changes no sum.
                rest = self.graph.constant([-0.0])
                position = np.full(len(tests), len(active))
                position[active] = np.arange(len(active))
                shape = self.graph.add("Shape", summands, end=1)
                one = self.graph.constant([1], np.int64)
                shape = self.graph.add("Concat", shape, one, axis=0)
                rest = self.graph.add("Expand", rest, shape)
                summands = self.graph.take(self.graph.join([summands, rest]), position)
            total = (
                summands if total is None else self.graph.add("Add", total, summands)
            )
        return self.graph.join([matrix, total])

    def _list_terms(self, number, node):
        """List the terms of a test, those of the levels of a column as one."""
        tree = self.trees[number]
        terms = tree.terms[tree.terms["node"] == node]
        ends = np.flatnonzero(np.diff(terms["feature"])) + 1
        groups = np.split(terms, ends)
        return [(tree, group) for group in groups]

    def _add_summands(self, matrix, terms):
        """Add the summands of terms, one of each test; NaN for an unknown level."""
        graph = self.graph
        values = graph.take(matrix, [group["feature"][0] for _, group in terms])
        fills = graph.constant([[group["fill"][0] for _, group in terms]])
        weights = [[group["weight"][0] for _, group in terms]]
        products = graph.add("Mul", values, graph.constant(weights))
        absent = graph.add("IsNaN", values)
        has_levels = [tree.n_levels[group["feature"][0]] > 0 for tree, group in terms]
        if any(has_levels):
            products = self._add_level_weights(values, products, absent, terms)
        return graph.add("Where", absent, fills, products)

    def _add_level_weights(self, values, products, absent, terms):
        """Replace the products of nominal columns, and of unknown levels."""
        graph = self.graph
        # One table for all: after NaN for the code -1 the weights of the levels.
        table, starts, is_nominal, is_ordinal = [], [], [], []
        for tree, group in terms:
            starts.append(len(table) + 1)
            n_levels = int(tree.n_levels[group["feature"][0]])
            nominal = group["level"][0] >= 0
            is_nominal.append(bool(nominal))
            is_ordinal.append(n_levels > 0 and not nominal)
            weights = np.full(1 + n_levels * bool(nominal), np.nan)
            if nominal:
                weights[1 + group["level"]] = group["weight"]
            table += weights.tolist()
        zero = graph.constant([0.0])
        unused = graph.add("Or", absent, graph.constant(~np.array([is_nominal]), bool))
        codes = graph.cast(graph.add("Where", unused, zero, values), np.int64)
        codes = graph.add("Add", codes, graph.constant([starts], np.int64))
        # The place of a term without a table may be the end of it.
        weights = graph.add("Gather", graph.constant([*table, np.nan]), codes, axis=0)
        nominal = graph.constant([is_nominal], bool)
        products = graph.add("Where", nominal, weights, products)
        unknown = graph.add("Less", values, zero)
        unknown = graph.add("And", unknown, graph.constant([is_ordinal], bool))
        return graph.add("Where", unknown, graph.constant([np.nan]), products)

    # ------------------------------------------------------------------ branches
    def _add_test(self, writer, place, number, node):
        """Write the test of a node without its surrogates; see add_value_test."""
        tree = self.trees[number]
        record = tree.nodes[node]
        if (number, node) in self.sums:
            column, threshold = self.sums[number, node], float(record["threshold"])
            low, high = writer.test(place, LEQ, column, threshold)
            unknown, high = writer.test(high, LEQ, column, LOWEST, True)
            return [(low, 0), (unknown, UNKNOWN), (high, 1)]
        missing = int(record["missing_branch"]) if self.allows_missing else 0
        if self._has_surrogates(number, node):
            missing = UNKNOWN - 1
        return add_value_test(
            writer, place, tree, record, int(record["feature"]), 0, missing
        )

    def _has_surrogates(self, number, node):
        return (
            self.allows_missing and len(list_surrogates(self.trees[number], node)) > 0
        )

    def _add_branches(self, matrix):
        """Add columns for the branches of the tests that one node cannot represent."""
        writer = EnsembleWriter()
        for number, tree in enumerate(self.trees):
            for node in np.flatnonzero(~tree.is_leaf).tolist():
                if not (self.divides or self._has_surrogates(number, node)):
                    continue
                self.branches[number, node] = self.n_columns + len(self.branches)
                writer.start()
                self._add_branch(writer, number, node)
        return writer.write(self.graph, matrix) if self.branches else None

    def _add_branch(self, writer, number, node) -> None:
        """Write the tree whose value is the branch of one node."""
        tree = self.trees[number]
        n_children = int(tree.nodes["n_children"][node])

        def end(place, branch):
            code = branch if branch >= 0 else n_children + AFTER_CHILDREN[branch]
            writer.leaf(place, code)

        unseen = UNSEEN_BRANCHES[tree.handle_unknown]
        for inside, branch in self._add_test(writer, None, number, node):
            if branch >= UNKNOWN:
                end(inside, unseen if branch == UNKNOWN else branch)
                continue
            surrogates = list_surrogates(tree, node)
            rest = inside
            for other in surrogates:
                column = int(other["feature"])
                low = max(int(other["low_branch"]), 0)
                found = add_value_test(writer, rest, tree, other, column, low, UNKNOWN)
                for known, chosen in found:
                    if chosen == UNKNOWN:
                        rest = known
                    else:
                        end(known, chosen)
            end(rest, int(tree.nodes["missing_branch"][node]))

    # --------------------------------------------------- trees that divide no row
    def _add_choice(self, matrix, values):
        """Add the values of the nodes in which rows end, of shape (rows, trees, n)."""
        writer, table = EnsembleWriter(), []
        for number, tree in enumerate(self.trees):
            writer.start()
            is_leaf, stack = tree.is_leaf, [(None, 0)]
            while stack:
                place, node = stack.pop()
                if is_leaf[node]:
                    writer.leaf(place, len(table))
                    table.append(values[number][node])
                    continue
                first = int(tree.nodes["first_child"][node])
                for inside, branch in self._list_branches(writer, place, number, node):
                    if branch >= 0:
                        stack.append((inside, first + branch))
                        continue
                    value = values[number][node].copy()
                    value[-1] = branch == REFUSED
                    writer.leaf(inside, len(table))
                    table.append(value)
        places = self.graph.cast(writer.write(self.graph, matrix), np.int64)
        return self.graph.add("Gather", self.graph.constant(table), places, axis=0)

    def _list_branches(self, writer, place, number, node):
        """Write the test of a node, by its column of branches if it has one."""
        tree = self.trees[number]
        unseen = UNSEEN_BRANCHES[tree.handle_unknown]
        if (number, node) not in self.branches:
            return [
                (inside, unseen if branch == UNKNOWN else branch)
                for inside, branch in self._add_test(writer, place, number, node)
            ]
        column = self.branches[number, node]
        n_children = int(tree.nodes["n_children"][node])
        found = []
        for branch in [*range(n_children), STAY]:
            code = branch if branch >= 0 else n_children
            inside, place = writer.test(place, LEQ, column, code + 0.5)
            found.append((inside, branch))
        return [*found, (place, REFUSED)]

    # ------------------------------------------------------ trees that divide rows
    def _add_means(self, branches, values):
        """Add the mean values of the nodes that rows reach, as _add_choice."""
        graph = self.graph
        codes = graph.cast(branches, np.int64)
        # Nodes where rows end, columns of the fractions of rows there, and values.
        ends = [[] for _ in self.trees]
        level = [(number, 0) for number in range(len(self.trees))]
        shape = graph.add("Shape", branches, end=1)
        width = graph.constant([len(level)], np.int64)
        shape = graph.add("Concat", shape, width, axis=0)
        fractions = graph.add("Expand", graph.constant([1.0]), shape)
        parts, n_columns = [fractions], 0
        is_leaf = [tree.is_leaf for tree in self.trees]
        while level:
            entered = []
            for place, (number, node) in enumerate(level):
                if is_leaf[number][node]:
                    ends[number].append((node, n_columns + place, values[number][node]))
                else:
                    entered += self._list_fractions(place, number, node)
            n_columns += len(level)
            stopped = [entry for entry in entered if entry[3] < 0]
            for place, (_, number, node, branch, _) in enumerate(stopped):
                value = values[number][node].copy()
                value[-1] = branch == REFUSED
                ends[number].append((node, n_columns + place, value))
            n_columns += len(stopped)
            entered = [entry for entry in entered if entry[3] >= 0]
            if stopped:
                parts.append(self._add_fractions(fractions, codes, stopped))
            if entered:
                fractions = self._add_fractions(fractions, codes, entered)
                parts.append(fractions)
            level = []
            for _, number, node, branch, _ in entered:
                first = int(self.trees[number].nodes["first_child"][node])
                level.append((number, first + branch))
        fractions = graph.join(parts)
        means = [
            self._add_mean(fractions, found, rank_nodes(tree))
            for found, tree in zip(ends, self.trees, strict=True)
        ]
        return graph.join(means)

    def _add_mean(self, fractions, ends, ranks):
        """Add the mean of the values of a tree, of shape (rows, 1, n).

        Products are added in the order in which the model adds them, which a product of
        matrices would not do.
        """
        graph = self.graph
        _, places, table = zip(*sorted(ends, key=lambda e: ranks[e[0]]), strict=True)
        fractions = graph.take(fractions, places)
        axis, last = graph.constant(1, np.int64), graph.constant([-1], np.int64)
        means = []
        for values in np.array(table).T:
            products = graph.add("Mul", fractions, graph.constant([values]))
            running = graph.add("CumSum", products, axis)
            means.append(graph.add("Gather", running, last, axis=1))
        axes = graph.constant([1], np.int64)
        return graph.add("Unsqueeze", graph.join(means), axes)

    def _list_fractions(self, place, number, node):
        """List where a row goes from a node, and the fraction of it for every branch.

        Shares are fractions: numerators and denominators.
        """
        nodes = self.trees[number].nodes
        first, n_children = nodes["first_child"][node], int(nodes["n_children"][node])
        weight = nodes["weight"][first : first + n_children].tolist()
        total = sum(weight)
        divided = n_children + AFTER_CHILDREN[FRACTIONAL]
        found = []
        for branch in [*range(n_children), STAY, REFUSED]:
            fraction = np.zeros((n_children + len(AFTER_CHILDREN), 2))
            fraction[:, 1] = 1.0
            code = branch if branch >= 0 else n_children + AFTER_CHILDREN[branch]
            fraction[code] = 1.0
            if branch >= 0 and total > 0:
                fraction[divided] = weight[branch], total
            elif branch == STAY and not total > 0:
                fraction[divided] = 1.0
            found.append((place, number, node, branch, fraction))
        return found

    def _add_fractions(self, fractions, codes, entered):
        """Multiply the fractions at nodes by the fractions of branches."""
        graph = self.graph
        columns = [
            self.branches[number, node] - self.n_columns
            for _, number, node, _, _ in entered
        ]
        sizes = [len(fraction) for *_, fraction in entered]
        starts = graph.constant([np.cumsum([0, *sizes[:-1]])], np.int64)
        index = graph.add("Add", graph.take(codes, columns), starts)
        fractions = graph.take(fractions, [place for place, *_ in entered])
        table = np.concatenate([fraction for *_, fraction in entered])
        for operator, terms in zip(("Mul", "Div"), table.T, strict=True):
            part = graph.add("Gather", graph.constant(terms), index, axis=0)
            fractions = graph.add(operator, fractions, part)
        return fractions


def rank_nodes(tree):
    """Rank nodes so that all nodes below a child come before the next child."""
    ranks = np.zeros(tree.node_count, dtype=np.int64)
    stack, rank = [0], 0
    while stack:
        node = stack.pop()
        ranks[node] = rank
        rank += 1
        first, number = tree.nodes["first_child"][node], tree.nodes["n_children"][node]
        stack += range(first + number - 1, first - 1, -1)
    return ranks
