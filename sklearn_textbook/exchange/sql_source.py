"""Models as a query of SQL.

A tree is a CASE expression, with the cases of a node inside those of its parent. A tree
that divides rows is a sum over the nodes in which rows end: the value times what each
test on the path leaves of the row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook.exchange.model_steps import ModelSteps
from sklearn_textbook.exchange.source_parts import (
    SCORES,
    describe_model,
    describe_predictions,
    describe_steps,
    list_labels,
)
from sklearn_textbook.linear_model.generalized.links import EPSILON
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.encode.columns import NUMBER, STRING, TEMPORAL
from sklearn_textbook.tree.explain.conditions import branch_condition
from sklearn_textbook.tree.explain.fitted import FittedTree
from sklearn_textbook.tree.explain.rule_code import REFUSED
from sklearn_textbook.tree.explain.rule_sql import (
    SqlWriter,
    list_level_literals,
    quote_identifier,
    refuse_seconds,
    write_literal,
    write_number,
)
from sklearn_textbook.tree.grow.layout import FRACTIONAL, STAY
from sklearn_textbook.tree.route.route import pick_classes

#: Deepest CASE expressions within each other; SQLite reads about 15.
MAX_NESTED = 8
#: Largest number of classes whose nearly equal fractions one expression compares.
MAX_TOLERANT = 8
#: Most databases refuse longer queries; MySQL does by default.
MAX_LENGTH = 2**26
#: Length from which some databases refuse queries, and SQLite and DuckDB take seconds.
LONG = 10**6
LARGEST = write_literal(float(np.finfo(np.float64).max))


def check_length(length) -> None:
    """Raise ValueError if a query would be too long."""
    if length > MAX_LENGTH:
        raise ValueError(
            f"As expressions, the trees would be a query of more than {MAX_LENGTH} "
            "characters, which databases refuse. Use form='nodes' (on the command "
            "line, --form nodes)."
        )


def write_real(value):
    """Write a number in double precision."""
    return write_literal(float(value))


ZERO = write_real(0.0)


@dataclass(frozen=True, eq=False)
class SqlTree:
    """One tree of a program, and what its nodes add to the sums."""

    #: The tree and its names.
    fitted: FittedTree
    #: The values of its nodes.
    values: np.ndarray
    #: The conditions that lead to nodes, as written before.
    ways: dict = field(default_factory=dict, repr=False)

    @cached_property
    def writer(self):
        """What writes the conditions."""
        return SqlWriter(self.fitted)

    def weigh_children(self, node):
        """Find the weights of the children, and their sum, added up in order."""
        record = self.fitted.tree.nodes[node]
        first = int(record["first_child"])
        weights = self.fitted.tree.nodes["weight"]
        weights = weights[first : first + int(record["n_children"])]
        return weights.tolist(), float(np.add.accumulate(weights)[-1])

    @cached_property
    def divides(self):
        """Whether rows are divided in the subtree of each node."""
        tree = self.fitted.tree
        divides = np.zeros(tree.node_count, dtype=bool)
        for node in reversed(np.flatnonzero(~tree.is_leaf).tolist()):
            first = int(tree.nodes["first_child"][node])
            below = slice(first, first + int(tree.nodes["n_children"][node]))
            branches = [branch for _, branch in self.writer.list_cases(node)]
            divides[node] = FRACTIONAL in branches or divides[below].any()
        return divides

    def write_values(self, column: int) -> list[str]:
        """Write the values of the nodes, or the equations that give them."""
        tree, texts = self.fitted.tree, list(map(write_real, self.values[:, column]))
        terms = [[text] for text in texts]
        for node, feature, weight, center in tree.slopes[
            ["node", "feature", "weight", "center"]
        ].tolist():
            schema = self.fitted.schema.columns[feature]
            name = quote_identifier(self.fitted.feature_names[feature])
            refuse_seconds(node, schema.source, self.fitted.feature_names[feature])
            number = write_number(schema, name)
            if schema.levels is not None:
                literals = enumerate(list_level_literals(schema))
                cases = [f"WHEN {text} THEN {write_real(k)}" for k, text in literals]
                number = f"CASE {name} {' '.join(cases)} END"
            deviation = f"{write_real(weight)} * ({number} - {write_real(center)})"
            terms[node].append(f"COALESCE({deviation}, {write_real(0.0)})")
        for node in np.unique(tree.slopes["node"]).tolist():
            total = " + ".join(terms[node])
            low, high = map(write_real, tree.bounds[node])
            texts[node] = (
                f"CASE WHEN {total} < {low} THEN {low} WHEN {total} > {high} THEN "
                f"{high} ELSE {total} END"
            )
        return texts

    def list_ends(self, values: list[str]) -> list[str]:
        """List the fractions of a row in the nodes where it ends, times the values."""
        tree = self.fitted.tree
        ends, stack, length = [], [(0, "")], 0
        while stack:
            node, fraction = stack.pop()
            length += len(fraction)
            check_length(length)
            if tree.is_leaf[node]:
                ends += [f"{fraction}{values[node]}"] * (values[node] != ZERO)
                continue
            if not self.divides[node]:
                ends.append(f"{fraction}{self.write_case(values, node)}")
                continue
            cases = self.writer.list_cases(node)
            first = int(tree.nodes["first_child"][node])
            weights, total = self.weigh_children(node)
            if any(branch in (STAY, REFUSED) for _, branch in cases) or not total > 0:
                end = self.write_fraction(cases, STAY, 1.0, total)
                ends.append(f"{fraction}{end} * {values[node]}")
            for child in reversed(range(len(weights))):
                part = self.write_fraction(cases, child, weights[child], total)
                stack.append((first + child, f"{fraction}{part} * "))
        return ends or [ZERO]

    def write_fraction(self, cases, branch, weight, total):
        """Write the fraction of a row that follows a branch."""
        divides = total > 0.0
        parts, sums = [], []
        for test, target in cases:
            if target == FRACTIONAL and divides and branch != STAY:
                part, whole = write_real(weight), write_real(total)
            elif target == REFUSED:
                part = whole = "NULL"
            else:
                ends = STAY if target == FRACTIONAL and not divides else target
                part, whole = write_real(ends == branch), write_real(1.0)
            opening = "ELSE" if test is None else f"WHEN {test} THEN"
            parts.append(f"{opening} {part}")
            sums.append(f"{opening} {whole}")
        text = f"CASE {' '.join(parts)} END"
        if any(target == FRACTIONAL for _, target in cases) and divides:
            text += f" / CASE {' '.join(sums)} END"
        return text

    def write_case(self, values, root: int = 0) -> str:
        """Write nested CASE expressions, whose sum is what a row gets."""
        values, texts, roots, length = list(values), [], [(root, [])], 0
        while roots:
            first, path = roots.pop()
            text, deep = self.write_shallow(values, first)
            if path:
                text = f"CASE WHEN {' AND '.join(path)} THEN {text} ELSE 0 END"
            texts.append(text)
            length += len(text)
            check_length(length)
            roots += [(node, self.list_path(root, node)) for node in deep]
        return texts[0] if len(texts) == 1 else f"({' + '.join(texts)})"

    def list_path(self, root, node):
        """List the conditions on the way from a node to one below it."""
        parents, path = self.parents, []
        while node != root:
            path.append(self.write_way(node))
            node = parents[node]
        return path[::-1]

    @cached_property
    def parents(self):
        """The number of the parent of each node."""
        return self.fitted.tree.nodes["parent"].tolist()

    def write_way(self, node):
        """Write the condition that leads from its parent to a node."""
        if node not in self.ways:
            tree, parent = self.fitted.tree, self.parents[node]
            branch = node - int(tree.nodes["first_child"][parent])
            condition = branch_condition(tree, parent, branch)
            self.ways[node] = self.writer.write_condition(condition)
        return self.ways[node]

    def write_shallow(self, values, root):
        """Write one CASE expression, and list the nodes that it leaves out as 0."""
        tree = self.fitted.tree
        lines, deep = [], []
        # What to write, its depth, and the text before it.
        stack = [(root, 1, "")]
        while stack:
            node, depth, opening = stack.pop()
            text = node
            if not isinstance(node, str):
                text = values[node] if tree.is_leaf[node] else "CASE"
                if text == "CASE" and depth > MAX_NESTED:
                    deep.append(node)
                    text = "0"
            lines.append(f"{'  ' * depth}{opening}{text}")
            if text != "CASE":
                continue
            stack.append(("END", depth, ""))
            first = int(tree.nodes["first_child"][node])
            for test, branch in reversed(self.writer.list_branches(node)):
                ends = {STAY: values[node], REFUSED: "NULL"}
                start = "ELSE " if test is None else f"WHEN {test} THEN "
                target = ends.get(branch, first + branch)
                stack.append((target, depth + 1, start))
        return "\n".join(lines).lstrip(), deep


def list_trees(program):
    """List the trees of a program; a vote is 1 for one class."""
    total = program.total
    trees = []
    for part in program.parts:
        values = part.values
        if program.votes:
            start = program.second if program.breaks_ties else program.width
            votes = program.count_votes(values)
            values = np.concatenate([votes, values[:, start:]], axis=1)
        fitted = FittedTree(part.tree, total.schema, total.feature_names, [], [])
        trees.append(SqlTree(fitted, values))
    return trees


def write_sums(program, trees):
    """Write the sums of a program."""
    width = trees[0].values.shape[1]
    sums, length = [[] for _ in range(program.n_sums)], 0
    start = [*program.total.start.tolist(), *[0.0] * program.n_sums][: program.n_sums]
    for part, tree in zip(program.parts, trees, strict=True):
        for column in range(width):
            values = tree.write_values(column)
            if tree.divides[0]:
                text = f"({' + '.join(tree.list_ends(values))})"
            else:
                text = tree.write_case(values)
            is_weighed = part.weight != 1.0 and column < program.total.n_scores
            weight = f"{write_real(part.weight)} * " if is_weighed else ""
            sums[part.score + column].append(f"{weight}{text}")
            length += len(text)
            check_length(length)
    texts = []
    for first, terms in zip(start, sums, strict=True):
        terms = [write_real(first)] * (first != 0.0) + terms
        texts.append("\n  + ".join(terms))
    return texts


def write_choice(values, means, tolerance, labels):
    """Write the label of the largest value as a CASE expression."""

    def scan(best, number):
        if number == len(values):
            return labels[best]
        larger = f"{values[number]} > {values[best]} + {write_real(tolerance)}"
        after, otherwise = scan(number, number + 1), scan(best, number + 1)
        return f"CASE WHEN {larger} THEN {after} ELSE {otherwise} END"

    is_null = f"WHEN {values[0]} IS NULL THEN NULL"
    if tolerance:
        return f"CASE {is_null} ELSE {scan(0, 1)} END"
    lines = [f"CASE {is_null}"]
    for number, label in enumerate(labels[:-1]):
        tests = []
        for other in range(len(labels)):
            # Those before are smaller, or else they have been chosen; means decide
            # between equal ones.
            if other == number or (other < number and not means):
                continue
            test = f"{values[number]} >= {values[other]}"
            if means:
                sign = ">" if other < number else ">="
                test = (
                    f"({values[number]} > {values[other]} OR {values[number]} = "
                    f"{values[other]} AND {means[number]} {sign} {means[other]})"
                )
            tests.append(test)
        lines.append(f"WHEN {' AND '.join(tests)} THEN {label}")
    return "\n    ".join([*lines, f"ELSE {labels[-1]} END"])


def write_value(total, score):
    """Write a predicted value as an expression of its score."""
    least, most = write_real(EPSILON), write_real(1.0 - EPSILON)
    one = write_real(1.0)
    expressions = {
        "exp": f"EXP({score})",
        "inverse": f"{one} / {score}",
        "power": f"POWER({score}, {write_real(total.scale)})",
        "logit": f"{one} / ({one} + EXP(-({score})))",
        "cloglog": f"{one} - EXP(-EXP({score}))",
    }
    text = expressions.get(total.link, score)
    if total.link in ("logit", "cloglog"):
        text = (
            f"CASE WHEN {text} < {least} THEN {least} WHEN {text} > {most} THEN "
            f"{most} ELSE {text} END"
        )
    return text


def write_predictions(program, sums, scores):
    """Write the predictions from the names of the sums, or expressions of them."""
    total = program.total
    if not total.is_classifier:
        return [write_value(total, score) for score in scores]
    labels = [list(map(write_literal, names)) for names in list_labels(program)]
    if total.link == "expit":
        no, yes = labels[0]
        return [
            f"CASE WHEN {sums[0]} > 0.0 THEN {yes} WHEN {sums[0]} <= 0.0 THEN {no} END"
        ]
    tolerance = 0.0 if program.votes else program.tolerance
    if tolerance and len(labels[0]) > MAX_TOLERANT:
        raise ValueError(
            "The model treats proportions or costs of classes that differ by less than "
            f"{tolerance:.3g} as equal and adds up those of several nodes, for which a "
            f"query can compare at most {MAX_TOLERANT} classes; got {len(labels[0])}."
        )
    n = total.n_scores // total.n_outputs
    others = sums[total.n_scores :]
    values = [*(scores if program.divides_first else sums[: total.n_scores]), *others]
    means = others if program.breaks_ties else []
    return [
        write_choice(
            values[program.deciding + output * n :][: len(names)],
            means[output * n :][: len(names)],
            tolerance,
            names,
        )
        for output, names in enumerate(labels)
    ]


def refuse_divided_votes(program, trees) -> None:
    """Raise ValueError if rows are divided in a tree that votes."""
    for tree in trees:
        nodes = np.flatnonzero(tree.divides)
        if program.votes and len(nodes):
            node = nodes[-1]
            feature = tree.fitted.tree.nodes["feature"][node]
            raise ValueError(
                f"{type(program.total.model).__name__} has trees that vote, and node "
                f"{node} of one of them divides rows by column "
                f"{tree.fitted.feature_names[feature]!r}, whose votes a query cannot "
                "count. Use form='nodes' (on the command line, --form nodes)."
            )


class Query:
    """The columns of a query, and the predictions from them."""

    def __init__(self, program, table: str, divides: bool) -> None:
        self.program, self.total, self.table = program, program.total, table
        self.taken = {name.lower() for name in (table, *self.total.feature_names)}
        self.has_divisor = program.divisor != 1.0
        self.name_sums()
        # Nearly equal proportions are compared here if the class follows from one node.
        self.class_number, is_one = None, len(program.parts) == 1
        if program.tolerance and is_one and not program.votes and not divides:
            (self.class_number,) = self.name_columns("class_number")

    def name_sums(self) -> None:
        """Name the scores and sums as nothing else."""
        self.scores = self.name_columns("score", self.total.n_scores)
        self.sums = self.name_columns("sum", self.program.n_sums)
        if not self.has_divisor:
            self.sums[: self.total.n_scores] = self.scores

    def name_columns(self, stem, number: int = 1):
        """Choose names that the table does not have."""
        names = []
        for place in range(number):
            name = stem if number == 1 else f"{stem}_{place}"
            names.append(quote_identifier(choose_name(name, self.taken)))
        return names

    def choose_in_nodes(self, values):
        """Choose the class of every node."""
        n_classes, first = len(self.total.classes[0]), self.program.deciding
        fractions = values[:, first : first + n_classes]
        return pick_classes(fractions, self.program.tolerance).tolist()

    def write_refusals(self):
        """List the tests of rows for which the model raises an error."""
        tests = []
        for column, name in zip(
            self.total.schema.columns, self.total.feature_names, strict=True
        ):
            name = quote_identifier(name)
            if self.program.refuses_missing:
                tests.append(f"{name} IS NULL")
            if has_numbers(column):
                number = write_number(column, name)
                tests.append(f"{number} NOT BETWEEN -{LARGEST} AND {LARGEST}")
        return tests

    def write_predictions(self):
        """Write the outer columns: the scores, if they are not sums; predictions."""
        columns, scores = {}, self.scores
        if self.has_divisor:
            divisor = write_real(self.program.divisor)
            scores = [f"{name} / {divisor}" for name in self.sums]
            scores = scores[: self.total.n_scores]
            columns = dict(zip(self.scores, scores, strict=True))
        if self.class_number:
            labels = map(write_literal, list_labels(self.program)[0])
            cases = [f"WHEN {k} THEN {label}" for k, label in enumerate(labels)]
            predictions = [f"CASE {self.class_number} {' '.join(cases)} END"]
        else:
            predictions = write_predictions(self.program, self.sums, scores)
        names = self.name_columns("prediction", self.total.n_outputs)
        return columns | dict(zip(names, predictions, strict=True))

    def write(self, inner: str) -> str:
        """Write the query around one that has the sums."""
        outer = self.write_predictions()
        columns = ",\n".join(f"{text} AS {name}" for name, text in outer.items())
        return f"SELECT scored.*,\n{columns}\nFROM (\n{inner}\n) AS scored"

    def write_comments(self):
        """Write what the query predicts."""
        about = [
            describe_model(self.program),
            *describe_predictions(self.total, ascii),
            SCORES[self.total.link].format(scale=self.total.scale) + ".",
        ]
        return "".join(f"-- {line}\n" for line in about)


def choose_name(name: str, taken: set) -> str:
    """Choose a name that is not taken."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def has_numbers(column):
    """Whether the values of a column are numbers, some of which may be infinite."""
    if column.levels is None:
        return column.source in (NUMBER, STRING)
    return not any(isinstance(level, str | bool) for level in column.levels) and (
        column.source not in TEMPORAL
    )


def write_sql(steps: ModelSteps, table: str) -> str:
    """Write a query that adds predictions to a table, with trees as expressions.

    Each step but the last one adds its results to the columns in a query of its own.
    """
    names = [str(name) for name in steps.schema.names]
    taken = {name.lower() for name in (table, *names)}
    source, parts, refused = table, [], []
    for number, step in enumerate(steps.steps):
        program, is_last = _rename(step, names), step is steps.steps[-1]
        program = program if is_last else _number_classes(program)
        trees = list_trees(program)
        refuse_divided_votes(program, trees)
        # Of steps, nearly equal values are compared in the columns, not in the nodes.
        divides = not steps.is_trees or trees[0].divides[0]
        query = Query(program, source, divides)
        if not steps.is_trees:  # nor as columns of earlier steps
            query.taken |= taken
            query.name_sums()
            taken |= query.taken
        refused += [*query.write_refusals(), *_list_refused_levels(program)]
        inner = _write_inner(query, trees, source, refused)
        if is_last:
            text = query.write(inner)
            break
        found = {
            choose_name(f"step_{number}_{place}", taken): result
            for place, result in enumerate(_list_results(query, step))
        }
        names += found
        columns = ",\n".join(f"{v} AS {quote_identifier(k)}" for k, v in found.items())
        sums = quote_identifier(choose_name(f"step_{number}_sums", taken))
        source = choose_name(f"step_{number}", taken)
        results = f"SELECT {sums}.*,\n{columns}\nFROM {sums}"
        parts.append(f"{sums} AS (\n{inner}\n)")
        parts.append(f"{quote_identifier(source)} AS (\n{results}\n)")
    if steps.is_trees and len(text) > LONG:
        warn_caller(
            f"The query has {len(text) / 1e6:.1f} million characters. Some databases "
            "refuse such queries, and others take seconds to minutes to read them. Use "
            "form='nodes' (on the command line, --form nodes)."
        )
    about = "" if steps.is_trees else f"-- {describe_steps(steps)}.\n"
    start = f"WITH {', '.join(parts)}\n" if parts else ""
    return f"{about}{query.write_comments()}{start}{text}"


def _write_inner(query, trees, source, refused):
    """Write the query of the sums of a program; NULL in rows refused so far."""
    program = query.program
    sums = write_sums(program, trees) if trees else _write_linear_sums(program)
    columns = dict(zip(query.sums, sums, strict=True))
    if query.class_number:
        chosen = query.choose_in_nodes(trees[0].values)
        columns[query.class_number] = trees[0].write_case(map(str, chosen))
    tests, quoted = " OR ".join(dict.fromkeys(refused)), quote_identifier(source)
    lines = [
        f"CASE WHEN {tests} THEN NULL ELSE {text} END AS {name}"
        if refused
        else f"{text} AS {name}"
        for name, text in columns.items()
    ]
    return ",\n".join([f"SELECT {quoted}.*", *lines]) + f"\nFROM {quoted}"


def _rename(step, names):
    """Name the columns of a program as in the query."""
    total = step.program.total
    own = [names[place] for place in step.places]
    columns = tuple(
        replace(column, name=name)
        for column, name in zip(total.schema.columns, own, strict=True)
    )
    total = replace(total, schema=TableSchema(columns), feature_names=own)
    program = replace(step.program, total=total)
    # More classes cannot be compared up to a tolerance.
    exceeds = total.is_classifier and len(total.classes[0]) > MAX_TOLERANT
    return replace(program, tolerance=0.0) if program.linear and exceeds else program


def _number_classes(program):
    """Let a program predict the numbers of classes."""
    classes = [np.arange(len(labels)) for labels in program.total.classes]
    return replace(program, total=replace(program.total, classes=classes))


def _list_refused_levels(program):
    """List the tests of levels and missing values that linear terms refuse."""
    total, tests = program.total, []
    for term in program.linear:
        if term.is_number:
            continue
        column = total.schema.columns[term.feature]
        name = quote_identifier(total.feature_names[term.feature])
        if term.unseen is None:
            pairs = zip(list_level_literals(column), term.rows, strict=True)
            known = ", ".join(level for level, row in pairs if row is not None)
            tests.append(f"{name} NOT IN ({known})")
        if term.missing is None:
            tests.append(f"{name} IS NULL")
    return tests


def _write_linear_sums(program):
    """Write the sums of linear terms."""
    total = program.total
    start = [*total.start.tolist(), *[0.0] * program.n_sums][: program.n_sums]
    sums = []
    for number, first in enumerate(start):
        terms = [_write_term(total, term, number) for term in program.linear]
        terms = [term for term in terms if term is not None]
        sums.append("\n  + ".join([write_real(first), *terms]))
    return sums


def _write_term(total, term, number):
    """Write what a column adds to one sum; None: nothing."""
    column = total.schema.columns[term.feature]
    name = quote_identifier(total.feature_names[term.feature])

    def write(row):
        is_null = row is None or np.isnan(row[number])
        return "NULL" if is_null else write_real(row[number])

    missing = write(term.missing)
    if term.is_number:
        value, weight = write_number(column, name), write(term.rows[0])
        if term.centre:
            value = f"({value} - {write_real(term.centre)})"
        text = f"{weight} * {value}"
        if weight == missing == write_real(0.0):
            return None
        if missing == "NULL" and weight != write_real(0.0):
            return text
        return f"CASE WHEN {name} IS NULL THEN {missing} ELSE {text} END"
    unseen, groups = write(term.unseen), {}
    for literal, row in zip(list_level_literals(column), term.rows, strict=True):
        groups.setdefault(write(row), []).append(literal)
    if {unseen, missing, *groups} == {write_real(0.0)}:
        return None
    cases = [f"WHEN {name} IS NULL THEN {missing}"]
    cases += [
        f"WHEN {name} IN ({', '.join(literals)}) THEN {value}"
        for value, literals in groups.items()
        if value != unseen
    ]
    return f"CASE {' '.join(cases)} ELSE {unseen} END"


def _list_results(query, step):
    """List the results of a step as expressions of its sums."""
    total = query.total
    columns = query.write_predictions()
    scores = [columns.get(name, name) for name in query.scores]
    *_, prediction = columns.values()
    results = []
    for kind in step.gives:
        if kind == "scores":
            results += scores
        elif kind == "values":
            results += list(columns.values())[-total.n_outputs :]
        elif kind == "probabilities":
            results += write_fractions(total, scores)
        else:
            results += [
                f"CASE WHEN {prediction} = {number} THEN {write_real(1.0)} "
                f"WHEN {prediction} IS NOT NULL THEN {write_real(0.0)} END"
                for number in range(len(total.classes[0]))
            ]
    return results


def write_fractions(total, scores):
    """Write the probabilities of classes as expressions of scores."""
    one, scale = write_real(1.0), write_real(total.scale)
    if total.link == "identity":
        return scores
    if total.link == "expit":
        (score,) = scores
        return [f"{one} / ({one} + EXP({sign}{scale} * {score}))" for sign in ("", "-")]
    if total.link == "softmax":
        return [
            f"{one} / ("
            + " + ".join(f"EXP({scale} * ({other} - {score}))" for other in scores)
            + ")"
            for score in scores
        ]
    zero = write_real(0.0)
    high = f" WHEN {{0}} > {one} THEN {one}" * (total.link == "clipped_fractions")
    kept = [
        f"CASE WHEN {s} < {zero} THEN {zero}{high.format(s)} ELSE {s} END"
        for s in scores
    ]
    whole = " + ".join(kept)
    fractions = []
    for number, score in enumerate(scores):
        # If none is above 0, the first of the largest scores has all.
        largest = [
            f"{score} {'>' if other < number else '>='} {scores[other]}"
            for other in range(len(scores))
            if other != number
        ]
        alone = f"CASE WHEN {' AND '.join(largest)} THEN {one} ELSE {zero} END"
        fraction = f"{kept[number]} / ({whole})"
        fractions.append(
            f"CASE WHEN ({whole}) > {zero} THEN {fraction} ELSE {alone} END"
        )
    return fractions
