"""Linear models, and models that consist of models, as queries of SQL.

Each step adds its results to the columns of the step before it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sklearn_textbook.exchange.sql_source import (
    MAX_TOLERANT,
    Query,
    list_trees,
    refuse_divided_votes,
    write_real,
    write_sums,
)
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.explain.rule_sql import (
    list_level_literals,
    quote_identifier,
    write_number,
)


def write_steps_sql(steps, table):
    """Write a query that adds predictions to a table, with a subquery for each step.

    Parameters
    ----------
    steps : ModelSteps
        The model.
    table : str
        Name of the table.

    Returns
    -------
    str
    """
    names = [str(name) for name in steps.schema.names]
    taken = {name.lower() for name in (table, *names)}
    source, parts, refused = table, [], []
    for number, step in enumerate(steps.steps):
        program = _rename(step, names)
        is_last = number == len(steps.steps) - 1
        if not is_last:
            program = _number_classes(program)
        trees = list_trees(program)
        refuse_divided_votes(program, trees)
        # Nearly equal values are compared in the columns, not in the nodes of a tree.
        query = Query(program, source, divides=True)
        _avoid(query, taken)
        refused += [*query.write_refusals(), *_list_refused_levels(program)]
        inner = _write_inner(query, trees, source, refused)
        if is_last:
            text = query.write(inner)
            break
        results = _list_results(query, step)
        found = {}
        for place, result in enumerate(results):
            name = _choose_name(f"step_{number}_{place}", taken)
            found[name] = result
        sums = _choose_name(f"step_{number}_sums", taken)
        columns = ",\n".join(f"{v} AS {quote_identifier(k)}" for k, v in found.items())
        parts.append(f"{quote_identifier(sums)} AS (\n{inner}\n)")
        source = _choose_name(f"step_{number}", taken)
        parts.append(
            f"{quote_identifier(source)} AS (\nSELECT {quote_identifier(sums)}.*,\n"
            f"{columns}\nFROM {quote_identifier(sums)}\n)"
        )
        names += found
    about = f"-- {type(steps.model).__name__}: {len(steps.steps)} step"
    about += "s" * (len(steps.steps) > 1)
    start = f"WITH {', '.join(parts)}\n" if parts else ""
    return f"{about}.\n{query.write_comments()}{start}{text}"


def _choose_name(name, taken):
    """Choose a name that is not taken."""
    while name.lower() in taken:
        name += "_"
    taken.add(name.lower())
    return name


def _avoid(query, taken):
    """Name the columns of a query as nothing before them."""
    query.taken |= taken
    query.scores = query.name_columns("score", query.total.n_scores)
    query.sums = query.name_columns("sum", query.program.n_sums)
    if not query.has_divisor:
        query.sums[: query.total.n_scores] = query.scores
    taken |= query.taken


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


def _write_inner(query, trees, source, refused):
    """Write the query of the sums of a program; NULL in rows refused so far."""
    program = query.program
    sums = write_sums(program, trees) if trees else _write_linear_sums(program)
    if refused:
        tests = " OR ".join(dict.fromkeys(refused))
        sums = [f"CASE WHEN {tests} THEN NULL ELSE {text} END" for text in sums]
    columns = ",\n".join(
        f"{text} AS {name}" for text, name in zip(sums, query.sums, strict=True)
    )
    quoted = quote_identifier(source)
    return f"SELECT {quoted}.*,\n{columns}\nFROM {quoted}"


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
        elif kind == "shares":
            results += write_shares(total, scores)
        else:
            results += [
                f"CASE WHEN {prediction} = {number} THEN {write_real(1.0)} "
                f"WHEN {prediction} IS NOT NULL THEN {write_real(0.0)} END"
                for number in range(len(total.classes[0]))
            ]
    return results


def write_shares(total, scores):
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
    high = f" WHEN {{0}} > {one} THEN {one}" * (total.link == "clipped_shares")
    kept = [
        f"CASE WHEN {s} < {zero} THEN {zero}{high.format(s)} ELSE {s} END"
        for s in scores
    ]
    whole = " + ".join(kept)
    shares = []
    for number, score in enumerate(scores):
        # If none is above 0, the first of the largest scores has all.
        largest = [
            f"{score} {'>' if other < number else '>='} {scores[other]}"
            for other in range(len(scores))
            if other != number
        ]
        alone = f"CASE WHEN {' AND '.join(largest)} THEN {one} ELSE {zero} END"
        share = f"{kept[number]} / ({whole})"
        shares.append(f"CASE WHEN ({whole}) > {zero} THEN {share} ELSE {alone} END")
    return shares
