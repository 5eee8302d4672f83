"""Formulas in Wilkinson's notation, and interactions, as terms of a model."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from sklearn_textbook._contract.parameters import is_integer
from sklearn_textbook.linear_model.design.terms import (
    MAX_DEGREE,
    QUOTED,
    Factor,
    ModelTerm,
    Polynomial,
    Scaling,
    Spline,
    get_function_name,
    list_names,
    parse_expression,
)
from sklearn_textbook.tree.encode import NOMINAL

#: Contrasts that choose a reference level: of formulaic and patsy, and of R.
TREATMENT = ("Treatment", "treatment", "contr.treatment")


@dataclass(frozen=True)
class Formula:
    """Terms of a model by the names of columns, before a table is read.

    Parameters
    ----------
    terms : tuple of ModelTerm
        The terms, without the intercept.
    has_intercept : bool
        Whether the intercept is a term.
    levels : dict of {str: object}
        Columns that are nominal whatever their type, and their reference level or None.
    """

    terms: tuple
    has_intercept: bool = True
    levels: dict = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are used."""
        return list(
            dict.fromkeys(
                name
                for term in self.terms
                for factor in term.factors
                for name in factor.list_columns()
            )
        )

    def choose_coding(self, kinds: dict[str, str], *, has_intercept: bool) -> tuple:
        """Give nominal columns all levels where a product without them is no term.

        A nominal column in a term is coded without its reference level if the term
        without this column is in the model, too, and by all levels otherwise (as in R).
        """
        present = {term.parts for term in self.terms}
        if has_intercept:
            present.add(frozenset())
        terms = []
        for term in self.terms:
            factors = []
            for factor in term.factors:
                if factor.column is not None and kinds[factor.column] == NOMINAL:
                    is_full = term.parts - {factor.text} not in present
                    factor = Factor(factor.text, factor.column, is_full)
                factors.append(factor)
            terms.append(ModelTerm(tuple(factors)))
            present.add(term.parts)
        return tuple(terms)


def split_formula(formula: Any) -> tuple[str | None, str]:
    """Split a formula into its target, if it has one, and its terms."""
    if not isinstance(formula, str) or not formula.strip():
        raise TypeError(
            f"formula must be a string such as 'y ~ x1 + C(g) * x2'; got {formula!r}."
        )
    left, sign, right = formula.partition("~")
    if not sign:
        return None, formula
    if "~" in right:
        raise ValueError(f"formula must have one '~'; got {formula!r}.")
    return left.strip() or None, right


def parse_formula(text: str, names: Sequence[str], *, intercept: bool = True):
    """Parse the terms of a formula about a table with these columns.

    Returns a `Formula`. Raises ValueError for what is no formula, or has other columns.
    """
    try:
        from formulaic.errors import FormulaicError
        from formulaic.parser import DefaultFormulaParser
    except ImportError as error:
        raise ImportError(
            "formula requires formulaic: pip install formulaic. interactions=[...] "
            "needs no package."
        ) from error
    parser = DefaultFormulaParser(include_intercept=intercept)
    context = {"__formulaic_variables_available__": list(names)}
    try:
        parsed = list(parser.get_terms(text, context=context))
    except (FormulaicError, SyntaxError) as error:
        message = str(error).strip().splitlines()[0]
        raise ValueError(
            f"The formula {text.strip()!r} cannot be read: {message}"
        ) from None
    terms, levels, has_intercept = [], {}, False
    for term in parsed:
        texts = [factor.expr for factor in term.factors]
        if texts == ["1"]:
            has_intercept = True
            continue
        factors = []
        for one in term.factors:
            is_name = one.eval_method.value == "lookup"
            factors.append(_read_factor(one.expr, levels, names, is_name=is_name))
        terms.append(ModelTerm(tuple(factors)))
    # Products after the terms of fewer factors, as in R.
    terms = sorted(dict.fromkeys(terms), key=lambda term: len(term.factors))
    formula = Formula(tuple(terms), has_intercept, levels)
    _require_columns(formula.columns, names)
    return formula


def make_interactions(interactions: Any, names: Sequence[str]) -> Formula:
    """Make the terms of all columns, and of products of some.

    ``interactions`` is "pairwise" or a list of tuples of names or numbers of columns.
    """
    if isinstance(interactions, str):
        if interactions != "pairwise":
            raise ValueError(_explain(interactions))
        products = list(combinations(names, 2))
    else:
        products = [_read_product(each, names, interactions) for each in interactions]
    own = [Factor(name, name) for name in names]
    terms = [ModelTerm((factor,)) for factor in own]
    found = dict(zip(names, own, strict=True))
    products = {frozenset(product): product for product in products}
    # Smaller products first, as in a formula.
    for product in sorted(products.values(), key=len):
        terms.append(ModelTerm(tuple(found[name] for name in product)))
    return Formula(tuple(terms))


def _explain(interactions):
    return (
        "interactions must be None, 'pairwise' or a list of tuples of two or more "
        f"different columns, by name or number; got {interactions!r}."
    )


def _read_product(product, names, interactions):
    """Read the columns of one product."""
    if isinstance(product, str) or not isinstance(product, Sequence):
        raise ValueError(_explain(interactions))
    found = []
    for key in product:
        if is_integer(key) and 0 <= key < len(names):
            key = names[key]
        if key not in names:
            raise ValueError(
                f"interactions has {key!r}, which is no column; there are "
                f"{', '.join(map(repr, names[:20]))}."
            )
        found.append(key)
    if len(found) < 2 or len(set(found)) < len(found):
        raise ValueError(_explain(interactions))
    return tuple(found)


def _require_columns(used, names):
    """Raise ValueError for the name of no column."""
    for name in used:
        if name not in names:
            raise ValueError(
                f"The formula has {name!r}, which is no column of the table; there are "
                f"{', '.join(map(repr, names[:20]))}."
            )


def _read_factor(text, levels, names, *, is_name):
    """Read one factor, and note the columns that it declares nominal."""
    if is_name:
        return Factor(text, text)
    node = _parse_call(text)
    call = get_function_name(node.func) if isinstance(node, ast.Call) else None
    if call == "Q" and node.args and isinstance(node.args[0], ast.Constant):
        name = str(node.args[0].value)
        return Factor(name, name)
    if call == "C":
        return _read_levels(text, node, levels)
    if call == "offset":
        raise ValueError(
            f"{text} is not a term here: pass offset= or exposure= to fit, predict and "
            "from_formula."
        )
    if call in BASIS_READERS:
        argument = _find_argument(text, node)
        return Factor(text, None, False, argument, BASIS_READERS[call](text, node))
    expression = parse_expression(text)
    if isinstance(expression, ast.Name) and expression.id in names:
        return Factor(expression.id, expression.id)
    if not list_names(expression):
        raise ValueError(f"{text!r} in the formula has no column.")
    return Factor(text, None, False, text)


def _parse_call(text):
    """Parse Python, with names in backticks as identifiers."""
    try:
        plain = QUOTED.sub("_quoted", text).replace("^", "**").strip()
        return ast.parse(plain, mode="eval").body
    except SyntaxError:
        return None


def _find_argument(text, node):
    """Find the text of the first argument."""
    if not node.args:
        raise ValueError(f"{text} requires a column.")
    inside = text[text.index("(") + 1 : text.rindex(")")]
    depth, stop = 0, len(inside)
    for place, sign in enumerate(inside):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            stop = place
            break
    argument = inside[:stop].strip()
    if not list_names(parse_expression(argument)):
        raise ValueError(f"{text} requires a column; got {argument!r}.")
    return argument


def _read_levels(text, node, levels):
    """Read ``C(column)`` and ``C(column, Treatment(level))``."""
    column = _find_argument(text, node)
    name = parse_expression(column)
    rest = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
    reference = None
    if rest:
        contrast = rest[0]
        is_call = isinstance(contrast, ast.Call)
        known = ast.unparse(contrast.func if is_call else contrast)
        given = []
        if is_call:
            given = [*contrast.args, *(each.value for each in contrast.keywords)]
        if known not in TREATMENT or len(rest) > 1 or len(given) > 1:
            raise ValueError(
                f"{text}: the contrasts of a nominal column are differences from a "
                "reference level, C(g, Treatment('level')); use estimate_contrasts for "
                "others."
            )
        if given:
            reference = ast.literal_eval(given[0])
    if not isinstance(name, ast.Name):
        raise ValueError(f"{text}: C takes the name of a column; got {column!r}.")
    if levels.get(name.id) not in (None, reference) and reference is not None:
        raise ValueError(f"The formula has two reference levels of {name.id!r}.")
    levels[name.id] = levels.get(name.id) if reference is None else reference
    return Factor(name.id, name.id)


def _read_options(text, node, allowed):
    """Read the constant arguments of a function of a column."""
    options = {}
    try:
        for name, value in zip(allowed, node.args[1:], strict=False):
            options[name] = ast.literal_eval(value)
        for keyword in node.keywords:
            options[str(keyword.arg)] = ast.literal_eval(keyword.value)
    except ValueError:
        raise ValueError(
            f"{text}: arguments after the column must be numbers, True, False or lists "
            "of numbers."
        ) from None
    wrong = [name for name in options if name not in allowed]
    if wrong or len(node.args) > len(allowed) + 1:
        raise ValueError(
            f"{text}: arguments after the column are {', '.join(allowed) or 'none'}."
        )
    return options


def _require_count(text, name, value, low, high):
    if not is_integer(value) or not low <= value <= high:
        raise ValueError(
            f"{text}: {name} must be an integer from {low} to {high}; got {value!r}."
        )
    return int(value)


def _read_polynomial(text, node):
    options = _read_options(text, node, ("degree", "raw"))
    degree = _require_count(text, "degree", options.get("degree", 1), 1, MAX_DEGREE)
    return Polynomial(degree, bool(options.get("raw", False)))


def _read_spline(text, node, *, is_natural):
    allowed = ("df", "knots") if is_natural else ("df", "knots", "degree")
    options = _read_options(text, node, allowed)
    degree = _require_count(text, "degree", options.get("degree", 3), 1, 10)
    smallest = 1 if is_natural else degree
    knots, df = options.get("knots"), options.get("df")
    if knots is not None and df is not None:
        raise ValueError(f"{text}: give df or knots, not both.")
    if knots is not None:
        inner = np.atleast_1d(np.asarray(knots, dtype=np.float64))
        if inner.ndim != 1 or not np.isfinite(inner).all():
            raise ValueError(f"{text}: knots must be numbers; got {knots!r}.")
        return Spline(is_natural, degree, None, tuple(np.sort(inner).tolist()))
    df = _require_count(
        text, "df", smallest if df is None else df, smallest, MAX_DEGREE
    )
    return Spline(is_natural, degree, df - smallest)


def _read_scaling(text, node, *, has_deviation):
    _read_options(text, node, ())
    return Scaling(has_deviation)


BASIS_READERS = {
    "poly": _read_polynomial,
    "bs": lambda text, node: _read_spline(text, node, is_natural=False),
    "ns": lambda text, node: _read_spline(text, node, is_natural=True),
    "cr": lambda text, node: _read_spline(text, node, is_natural=True),
    "center": lambda text, node: _read_scaling(text, node, has_deviation=False),
    "scale": lambda text, node: _read_scaling(text, node, has_deviation=True),
}
