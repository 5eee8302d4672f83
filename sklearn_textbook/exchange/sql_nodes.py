"""Source code in SQL as tables of nodes and a view with a recursive query.

A step is the test of a node, of a surrogate or of one column of a sum. It leads to
another step or to an end, a node in which rows end. Ends have negative numbers, which
descend in the order in which the parts of a divided row are added.
"""

from __future__ import annotations

import numpy as np

from sklearn_textbook.exchange.score_program import find_stops
from sklearn_textbook.exchange.source_parts import render
from sklearn_textbook.exchange.sql_source import (
    Query,
    list_trees,
    write_choice,
    write_real,
)
from sklearn_textbook.tree.encode.columns import BOOLEAN, TEMPORAL
from sklearn_textbook.tree.explain.conditions import read_terms
from sklearn_textbook.tree.explain.rule_code import REFUSED, UNSEEN
from sklearn_textbook.tree.explain.rule_sql import (
    list_level_literals,
    quote_identifier,
    refuse_seconds,
    write_seconds,
)
from sklearn_textbook.tree.grow.layout import FRACTIONAL, NOMINAL, NUMERIC, OBLIQUE

#: Names of the tables and what they contain.
ABOUT = {
    "trees": "The first step of every tree.",
    "steps": "Value <= threshold leads to low, another value to high.",
    "levels": "Where levels lead instead; code -1 is a level not seen in training.",
    "divisions": "Steps that divide a row among others, by weight / total.",
    "ends": "The values of the nodes in which rows end.",
}
#: Number of columns that identify a row.
N_KEYS = {"trees": 1, "steps": 1, "levels": 2, "divisions": 2, "ends": 1}
REALS = {"threshold", "weight", "total", "fill"}
LARGEST = float(np.finfo(np.float64).max)


class NodeTables:
    """The rows of the tables for all trees of a program.

    Attributes
    ----------
    thresholds : dict of ndarray
        For columns of dates, times of day and durations: the thresholds, ascending,
        among which the query ranks values.
    trees, steps, levels, divisions : list of tuple
        Rows.
    ends : list of tuple
        Number of the end and its tree and node; None for rows that are refused.
    """

    def __init__(self, program) -> None:
        self.trees, self.steps, self.levels = [], [], []
        self.divisions, self.ends = [], []
        trees = [part.tree for part in program.parts]
        refuse_sums_of_seconds(program.total, trees)
        self.thresholds = collect_thresholds(program.total.schema, trees)
        for tree in trees:
            TreeSteps(self, tree).add_tree()

    def add_end(self, tree, node):
        """Add an end, and return its number."""
        self.ends.append((-len(self.ends) - 1, tree, node))
        return -len(self.ends)


def refuse_sums_of_seconds(total, trees) -> None:
    """Raise ValueError if an oblique test has a column of dates or times."""
    for tree in trees:
        for node, feature, level in tree.terms[["node", "feature", "level"]].tolist():
            column = total.schema.columns[feature]
            if level < 0 and column.levels is None:
                refuse_seconds(node, column.source, total.feature_names[feature])


def collect_thresholds(schema, trees):
    """Collect the thresholds of columns of dates, times of day and durations."""
    thresholds = {}
    for feature, column in enumerate(schema.columns):
        if column.source in TEMPORAL and column.levels is None:
            found = [
                records["threshold"][records["feature"] == feature]
                for tree in trees
                for records in (tree.nodes, tree.surrogates)
            ]
            found = np.unique(np.concatenate(found))
            thresholds[feature] = found[np.isfinite(found)]
    return thresholds


class TreeSteps:
    """The rows of one tree."""

    def __init__(self, tables: NodeTables, tree) -> None:
        self.tables, self.tree, self.number = tables, tree, len(tables.trees)
        self.first = tree.nodes["first_child"].tolist()
        self.count = tree.nodes["n_children"].tolist()
        self.weight = tree.nodes["weight"].tolist()
        self.is_leaf = tree.is_leaf.tolist()
        self.unseen = UNSEEN[tree.handle_unknown]
        self.refused, self.divisions = None, {}
        stops, stack, self.ends = find_stops(tree).tolist(), [0], {}
        while stack:
            node = stack.pop()
            if stops[node]:
                self.ends[node] = tables.add_end(self.number, node)
            stack += reversed(self.list_children(node))
        # A node has a step for itself, or for every column of a sum, and for each
        # surrogate. Divisions come after all of these.
        places = np.arange(tree.node_count + 1)
        self.surrogates = np.searchsorted(tree.surrogates["node"], places).tolist()
        n_steps = np.where(tree.is_leaf, 0, 1 + np.diff(self.surrogates))
        is_sum = tree.nodes["kind"] == OBLIQUE
        self.terms = {n: read_terms(tree, n) for n in np.flatnonzero(is_sum).tolist()}
        n_steps[is_sum] = [len(terms) for terms in self.terms.values()]
        starts = len(tables.steps) + np.cumsum(n_steps) - n_steps
        self.starts, self.next_step = starts.tolist(), int(starts[-1] + n_steps[-1])

    def list_children(self, node):
        """List the children of a node."""
        return range(self.first[node], self.first[node] + self.count[node])

    def find_entry(self, node):
        """Find the first step of a node, or its end."""
        return self.ends[node] if self.is_leaf[node] else self.starts[node]

    def find_target(self, node, branch):
        """Find the step or end to which a branch of a node leads."""
        if branch >= 0:
            return self.find_entry(self.first[node] + branch)
        if branch == FRACTIONAL:
            if node not in self.divisions:
                self.divisions[node] = self.add_division(node)
            return self.divisions[node]
        if branch == REFUSED:
            if self.refused is None:
                self.refused = self.tables.add_end(self.number, None)
            return self.refused
        return self.ends[node]

    def add_tree(self) -> None:
        """Add all rows."""
        tree = self.tree
        self.tables.trees.append((self.number, self.find_entry(0)))
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            record, step = tree.nodes[node], self.starts[node]
            if node in self.terms:
                self.add_sum(node, step, float(record["threshold"]))
                continue
            numbers = range(*self.surrogates[node : node + 2])
            later = list(range(step + 1, step + 1 + len(numbers)))
            later.append(self.find_target(node, int(record["missing_branch"])))
            unseen = None
            if record["kind"] != NUMERIC:
                unseen = self.find_target(node, self.unseen)
            self.add_test(node, step, record, 0, later[0], unseen)
            for place, number in enumerate(numbers):
                record, after = tree.surrogates[number], later[place + 1]
                low = max(int(record["low_branch"]), 0)
                self.add_test(node, later[place], record, low, after, after)

    def add_test(self, node, step, record, low, missing, unseen) -> None:
        """Add the test of a node or surrogate."""
        kind, feature = int(record["kind"]), int(record["feature"])
        threshold, targets = 0.0, (unseen, unseen)
        if kind != NOMINAL:
            # SQL has no literal for infinity; no value is infinite.
            threshold = min(float(record["threshold"]), LARGEST)
            targets = (self.find_target(node, low), self.find_target(node, 1 - low))
        if kind == NUMERIC and feature in self.tables.thresholds:
            # The values up to a threshold are those of a rank up to its own.
            ranked = self.tables.thresholds[feature]
            threshold = float(np.searchsorted(ranked, threshold))
        self.tables.steps.append((step, feature, threshold, *targets, missing))
        if kind == NOMINAL:
            children = self.tree.read_level_map(record)
            codes = np.flatnonzero(children >= 0)
            pairs = zip(codes.tolist(), children[codes].tolist(), strict=True)
            self.tables.levels += [
                (step, code, self.find_target(node, child)) for code, child in pairs
            ]
        elif kind != NUMERIC:
            self.tables.levels.append((step, -1, unseen))

    def add_sum(self, node, step, threshold) -> None:
        """Add the steps of an oblique test, one for each column."""
        terms, unseen = self.terms[node], None
        if any(term.summands is not None for term in terms):
            unseen = self.find_target(node, self.unseen)
        for place, term in enumerate(terms, step):
            adds = place < step + len(terms) - 1
            targets = (place + 1, place + 1)
            if not adds:
                targets = (self.find_target(node, 0), self.find_target(node, 1))
            weight = term.weight if term.summands is None else None
            # A sum without a value has a level that the node has not seen.
            row = (place, term.feature, threshold, *targets, unseen)
            self.tables.steps.append((*row, weight, term.fill, int(adds)))
            self.tables.levels += [
                (place, code, None, summand)
                for code, summand in enumerate(term.summands or ())
                if summand is not None
            ]

    def add_division(self, node):
        """Add a step that divides a row among the children of a node."""
        children, total = self.list_children(node), 0.0
        for child in children:
            total += self.weight[child]
        if not total > 0.0:
            return self.ends[node]
        step, self.next_step = self.next_step, self.next_step + 1
        self.tables.steps.append((step, *[None] * 5))
        self.tables.divisions += [
            (step, self.find_entry(child), self.weight[child], total)
            for child in children
            if self.weight[child] > 0.0
        ]
        return step


class NodeView:
    """The tables of a model, and the view that predicts with them."""

    def __init__(self, program, table: str, prefix: str) -> None:
        self.program, self.table, self.prefix = program, table, prefix
        self.nodes = NodeTables(program)
        self.divides = bool(self.nodes.divisions)
        self.is_oblique = any(len(part.tree.terms) for part in program.parts)
        self.query = Query(program, table, self.divides)
        (self.row_number,) = self.query.name_columns("row_number")
        # The values of a divided row, and its votes, are those of its parts together.
        self.values = [part.values for part in program.parts]
        if not self.divides:
            self.values = [tree.values for tree in list_trees(program)]
        self.value_names = [f"v{j}" for j in range(self.values[0].shape[1])]
        self.has_weights = any(part.weight != 1.0 for part in program.parts)
        self.has_scores = any(part.score for part in program.parts)
        self.features = sorted({row[1] for row in self.nodes.steps} - {None})

    def name(self, table):
        """Write the name of a table."""
        return quote_identifier(self.prefix + table)

    def list_tables(self):
        """List the names of columns and the rows of every table."""
        nodes, parts = self.nodes, self.program.parts
        steps = ["step", "feature", "threshold", "low", "high", "missing"]
        levels = ["step", "code", "target"]
        if self.is_oblique:
            steps, levels = [*steps, "weight", "fill", "adds"], [*levels, "weight"]
        trees = [
            (*row, part.weight, part.score)
            for row, part in zip(nodes.trees, parts, strict=True)
        ]
        ends = ["step", "tree", *self.value_names]
        values = [of_nodes.tolist() for of_nodes in self.values]
        if self.query.class_number:
            ends.append("class_number")
            chosen = self.query.choose_in_nodes(self.values[0])
            for row, number in zip(values[0], chosen, strict=True):
                row.append(number)
        rows = [
            (end, tree, *([] if node is None else values[tree][node]))
            for end, tree, node in nodes.ends
        ]
        return {
            "trees": (["tree", "root", "weight", "score"], trees),
            "steps": (steps, nodes.steps),
            "levels": (levels, nodes.levels),
            "divisions": (["step", "target", "weight", "total"], nodes.divisions),
            "ends": (ends, rows),
        }

    def describe_tables(self):
        """Describe the tables to be created, with the texts of their rows."""
        found = []
        for table, (names, rows) in self.list_tables().items():
            if not rows and table in ("levels", "divisions"):
                continue
            is_real = [name in REALS or name in self.value_names for name in names]
            columns = [
                f"{name} {'DOUBLE PRECISION' if real else 'INTEGER'}"
                for name, real in zip(names, is_real, strict=True)
            ]
            found.append(
                {
                    "name": self.name(table),
                    "about": ABOUT[table],
                    "columns": columns,
                    "key": names[: N_KEYS[table]],
                    "rows": [write_row(row, is_real) for row in rows],
                }
            )
        return found

    def write(self):
        """Write the statements that make the tables and the view."""
        query, votes = self.query, self.divides and self.program.votes
        sums = [f"row_sums.s{j} AS {name}" for j, name in enumerate(query.sums)]
        if query.class_number:
            sums.append(f"row_sums.class_number AS {query.class_number}")
        columns = self.program.total.schema.columns
        with_levels = [f for f in self.features if columns[f].levels is not None]
        fractions = [f"w.share * e.{name} AS {name}" for name in self.value_names]
        inner = (
            f"SELECT numbered_rows.*, {', '.join(sums)}\n"
            "FROM numbered_rows LEFT JOIN row_sums\n"
            f"  ON row_sums.row_id = numbered_rows.{self.row_number} AND "
            f"row_sums.tree = {len(self.program.parts) - 1}"
        )
        texts = {
            **{name: self.name(name) for name in (*ABOUT, "predictions")},
            "row_number": self.row_number,
            "table": quote_identifier(self.table),
            "codes": ",\n    ".join(self.list_codes()),
            "refused": " OR ".join(query.write_refusals()),
            "has_levels": bool(self.nodes.levels),
            "divides": self.divides,
            "votes": votes,
            "level": write_value(with_levels),
            "fractions": ", ".join(fractions),
            "values": ", ".join(self.value_names),
            "next_parts": ", ".join(f"s.{n} + p.{n}" for n in self.value_names),
            "choices": ", ".join(self.list_choices()) if votes else "",
            "whole": "row_votes" if votes else "part_sums",
            "added": ", ".join(self.list_added(votes)),
            "query": query.write(inner),
            **self.write_steps(),
            **self.write_sums(),
        }
        return render("nodes.sql.jinja", tables=self.describe_tables(), **texts)

    def list_codes(self):
        """List the tested columns of the table, as numbers or codes of levels."""
        total, found = self.program.total, [f"{self.row_number} AS row_id"]
        for feature in self.features:
            column, name = total.schema.columns[feature], total.feature_names[feature]
            name = quote_identifier(name)
            if column.levels is not None:
                literals = list_level_literals(column)
                cases = " ".join(f"WHEN {v} THEN {k}" for k, v in enumerate(literals))
                known = f"CASE {name} {cases} ELSE -1 END"
                code = f"CASE WHEN {name} IS NULL THEN NULL ELSE {known} END"
            elif column.source == BOOLEAN:
                code = f"CASE WHEN {name} = TRUE THEN 1 WHEN {name} = FALSE THEN 0 END"
            elif feature in self.nodes.thresholds:
                values = self.nodes.thresholds[feature].tolist()
                bounds = [write_seconds(column, value) for value in values]
                cases = [f"WHEN {name} <= {b} THEN {k}" for k, b in enumerate(bounds)]
                cases.append(f"WHEN {name} IS NOT NULL THEN {len(bounds)}")
                code = f"CASE {' '.join(cases)} END"
            else:
                code = f"CAST({name} AS DOUBLE PRECISION)"
            found.append(f"{code} AS c{feature}")
        return found

    def write_steps(self):
        """Write the state of a row at a step, at first and after a test."""
        tested = value = write_value(self.features)
        level = "l.weight, " * bool(self.nodes.levels)
        if self.is_oblique:
            fill = f"CASE WHEN {value} IS NULL THEN s.fill END"
            tested = (
                f"CASE WHEN s.fill IS NULL THEN {value} ELSE w.total + "
                f"COALESCE({level}s.weight * {value}, {fill}) END"
            )
        target = (
            f"CASE WHEN {tested} <= s.threshold THEN s.low\n    WHEN {tested} > "
            "s.threshold THEN s.high ELSE s.missing END"
        )
        if self.nodes.levels:
            target = f"COALESCE(l.target, {target})"
        if self.divides:
            target = f"COALESCE(d.target, {target})"
        state = {"row_id": ("r.row_id", "w.row_id"), "step": ("t.root", target)}
        if self.divides:
            fraction = "w.share * d.weight / d.total"
            fraction = f"CASE WHEN d.step IS NULL THEN w.share ELSE {fraction} END"
            state["share"] = cast_real(1.0), fraction
        if self.is_oblique:
            total = f"CASE WHEN s.adds = 1 THEN {tested} ELSE {cast_real(0.0)} END"
            state["total"] = cast_real(0.0), total
        start, after = zip(*state.values(), strict=True)
        return {
            "state": ", ".join(state),
            "start": ", ".join(start),
            "next": ",\n    ".join(after),
        }

    def list_choices(self):
        """List the votes of a divided row, and the values that break ties."""
        program, total = self.program, self.program.total
        n = total.n_scores // total.n_outputs
        choices = []
        for output in range(total.n_outputs):
            names = self.value_names[output * n :][:n]
            numbers = [str(number) for number in range(n)]
            choice = write_choice(names, [], program.tolerance, numbers)
            choices.append(f"{choice} AS vote{output}")
        if program.breaks_ties:
            choices += self.value_names[program.second :][: total.n_scores]
        return choices

    def list_added(self, votes):
        """List what a tree adds to the sums."""
        program, n_scores = self.program, self.program.total.n_scores
        names, weight = self.value_names, "t.weight * " * self.has_weights
        added = [f"{weight}e.{name}" for name in names[:n_scores]]
        added += [f"e.{name}" for name in names[n_scores:]]
        if votes:
            n = n_scores // program.total.n_outputs
            pairs = [(f"e.vote{score // n}", score % n) for score in range(n_scores)]
            added = [
                f"CASE WHEN {vote} = {number} THEN t.weight "
                f"WHEN {vote} IS NOT NULL THEN 0.0e0 END"
                for vote, number in pairs
            ]
            if program.breaks_ties:
                added += [f"e.{n}" for n in names[program.second :][:n_scores]]
        added = [f"{value} AS v{j}" for j, value in enumerate(added)]
        row_id = "e.row_id" if self.divides else "w.row_id"
        found = [row_id, "e.tree", *["t.score"] * self.has_scores, *added]
        return [*found, *["e.class_number"] * bool(self.query.class_number)]

    def write_sums(self):
        """Write the sums over trees, and the first and next of them."""
        n_sums = self.program.n_sums
        values = [f"v.v{j}" for j in range(n_sums)]
        if self.has_scores:
            values = [
                f"CASE WHEN v.score = {j} THEN v.v0 ELSE 0.0e0 END"
                for j in range(n_sums)
            ]
        start = [*self.program.total.start.tolist(), *[0.0] * n_sums]
        first = [
            f"{cast_real(number)} + {value}" if number else value
            for number, value in zip(start, values, strict=False)
        ]
        more = ["class_number"] * bool(self.query.class_number)
        names = ["row_id", "tree", *(f"s{j}" for j in range(n_sums)), *more]
        key, more = ["v.row_id", "v.tree"], [f"v.{name}" for name in more]
        after = [f"s.s{j} + {value}" for j, value in enumerate(values)]
        return {
            "sum_names": ", ".join(names),
            "first_sums": ", ".join([*key, *first, *more]),
            "next_sums": ", ".join([*key, *after, *more]),
        }


def write_row(row, is_real) -> str:
    """Write the row of a table; what it lacks at the end is NULL."""
    words = [
        "NULL" if value is None else write_real(value) if real else str(value)
        for value, real in zip(row, is_real, strict=False)
    ]
    words += ["NULL"] * (len(is_real) - len(words))
    return f"({', '.join(words)})"


def write_value(features):
    """Write the value of the column that a step tests."""
    cases = " ".join(f"WHEN {feature} THEN r.c{feature}" for feature in features)
    return f"CASE s.feature {cases} END" if cases else "NULL"


def cast_real(value) -> str:
    """Write a number where it fixes a type, as some databases read it as a decimal."""
    return f"CAST({write_real(value)} AS DOUBLE PRECISION)"


def write_nodes(program, table: str, prefix: str) -> str:
    """Write tables of nodes, and a view that adds predictions to a table."""
    view = NodeView(program, table, prefix)
    return view.query.write_comments() + view.write()
