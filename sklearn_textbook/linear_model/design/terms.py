"""Terms of a model: products of columns and of functions of columns."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline

from sklearn_textbook.tree.encode import NOMINAL

#: Functions of numbers in formulas.
FUNCTIONS: dict[str, Callable] = {
    "abs": np.abs,
    "cos": np.cos,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "sin": np.sin,
    "sqrt": np.sqrt,
}
OPERATORS: dict[type, Callable] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
#: Names in backticks, which need not be identifiers.
QUOTED = re.compile(r"`([^`]+)`")
#: Highest degree of a polynomial.
MAX_DEGREE = 50
#: Squared length of what is left of a polynomial without those of lower degrees, as a
#: fraction of the whole, below which it is rounding.
DEPENDENT = 1e-20


# --------------------------------------------------------------------- expressions
@lru_cache(maxsize=256)
def parse_expression(text: str) -> ast.expr:
    """Parse a function of numeric columns; ValueError for anything else.

    Names of columns are in the nodes of type ``ast.Name``.
    """
    names = {}

    def hold(match):
        key = f"_quoted_{len(names)}"
        names[key] = match[1]
        return key

    try:
        # Powers may be written as in R.
        plain = QUOTED.sub(hold, text).replace("^", "**").strip()
        tree = ast.parse(plain, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text!r} in the formula cannot be read: {error.msg}.") from (
            None
        )
    return _check(tree, names, text)


def _check(node, names, text):
    """Allow arithmetic of columns and known functions, and put in quoted names."""

    def check(part):
        return _check(part, names, text)

    match node:
        case ast.Name(id=name):
            return ast.Name(names.get(name, name))
        case ast.Attribute(value=ast.Name() | ast.Attribute() as value, attr=attribute):
            # Names in tables of R have points.
            return ast.Name(f"{check(value).id}.{attribute}")
        case ast.Constant(value=bool()) | ast.Constant(value=int() | float()):
            return node
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return ast.BinOp(check(left), op, check(right))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return ast.UnaryOp(op, check(operand))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if (
            type(op) in OPERATORS
        ):
            return ast.Compare(check(left), [op], [check(right)])
        case ast.Call(func=function, args=[argument], keywords=[]):
            name = get_function_name(function)
            if name == "I":
                return check(argument)
            if name == "Q" and isinstance(argument, ast.Constant):
                return ast.Name(str(argument.value))
            if name in FUNCTIONS:
                return ast.Call(ast.Name(name), [check(argument)], [])
    raise ValueError(
        f"{text!r} is not a term of a formula: terms are columns, arithmetic of "
        f"numeric columns, the functions {', '.join(FUNCTIONS)} and I, and "
        "C, poly, bs, ns, center and scale of a column."
    )


def get_function_name(node: ast.expr) -> str | None:
    """Name of a function, also one of ``np``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id in ("np", "numpy") else None
    return node.id if isinstance(node, ast.Name) else None


def list_names(node: ast.expr) -> list[str]:
    """List the names of the columns of an expression."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Call(args=parts):
            pass
        case ast.Compare(left=left, comparators=[right]):
            parts = [left, right]
        case _:
            parts = list(ast.iter_child_nodes(node))
    return list(dict.fromkeys(name for part in parts for name in list_names(part)))


def evaluate(node: ast.expr, read: Callable[[str], np.ndarray]) -> Any:
    """Compute an expression from the values of columns."""

    def compute(part):
        return evaluate(part, read)

    match node:
        case ast.Name(id=name):
            return read(name)
        case ast.Constant(value=value):
            return value
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](compute(left), compute(right))
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATORS[type(op)](compute(operand))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return OPERATORS[type(op)](compute(left), compute(right))
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return FUNCTIONS[name](compute(argument))
    raise AssertionError(ast.dump(node))


# --------------------------------------------------------------------------- bases
#: Makes the values of the training rows and their weights, block by block.
Stream = Callable[[], Iterable[tuple[np.ndarray, np.ndarray]]]


@dataclass(frozen=True)
class Scaling:
    """``center(x)`` and ``scale(x)``: (x - mean) / deviation.

    The deviation has the divisor n - 1, as in R.
    """

    kind: ClassVar[str] = "scaling"
    has_deviation: bool
    mean: float = 0.0
    deviation: float = 1.0

    @property
    def width(self) -> int:
        """Number of columns."""
        return 1

    def fit(self, stream: Stream, text: str) -> Scaling:
        """Find the mean and the deviation of the training rows."""
        total, mean = _measure_mean(stream)
        if not self.has_deviation:
            return replace(self, mean=mean)
        squares = sum(float(w @ (x - mean) ** 2) for x, w in stream())
        if not squares > 0.0 or not total > 1.0:
            raise ValueError(f"{text} requires a column that is not constant.")
        deviation = float(np.sqrt(squares / (total - 1.0)))
        return replace(self, mean=mean, deviation=deviation)

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Compute the columns. Shape (n_rows, 1)."""
        return ((values - self.mean) / self.deviation)[:, np.newaxis]


@dataclass(frozen=True)
class Polynomial:
    """``poly(x, degree)``: orthogonal polynomials (正交多项式), or powers with raw.

    The polynomials are orthogonal over the training rows and have length 1 there, as in
    R. They satisfy :math:`p_{j+1} = (x - a_j) p_j - (c_j / c_{j-1}) p_{j-1}` with the
    squared lengths c.
    """

    kind: ClassVar[str] = "polynomial"
    degree: int
    is_raw: bool = False
    centres: tuple = ()
    squares: tuple = ()

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.degree

    def fit(self, stream: Stream, text: str) -> Polynomial:
        """Find the coefficients of the recurrence."""
        if self.is_raw:
            return self
        total, mean = _measure_mean(stream)
        centres, squares = [mean], [total]
        for degree in range(1, self.degree + 1):
            square = moment = before = 0.0
            for x, weight in stream():
                *_, former, last = self._recur(x, centres, squares)
                before += float(weight @ ((x - centres[-1]) * former) ** 2)
                square += float(weight @ last**2)
                moment += float(weight @ (x * last**2))
            # Only rounding is left of what depends on the lower degrees.
            if not square > DEPENDENT * before:
                raise ValueError(
                    f"{text} requires more than {degree} different values; lower the "
                    "degree."
                )
            squares.append(square)
            centres.append(moment / square)
        return replace(
            self, centres=tuple(centres[: self.degree]), squares=tuple(squares)
        )

    @staticmethod
    def _recur(x, centres, squares):
        """Compute the polynomials of degrees 0, 1, ... len(centres)."""
        found = [np.ones(len(x))]
        for place, centre in enumerate(centres):
            new = (x - centre) * found[-1]
            if place:
                new -= squares[place] / squares[place - 1] * found[-2]
            found.append(new)
        return found

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Compute the columns. Shape (n_rows, degree)."""
        if self.is_raw:
            return values[:, np.newaxis] ** np.arange(1, self.degree + 1)
        found = self._recur(values, self.centres, self.squares)
        return np.column_stack(found[1:]) / np.sqrt(self.squares[1:])


@dataclass(frozen=True)
class Spline:
    """``bs(x, df)``: B-splines (B样条); ``ns(x, df)``: natural cubic splines.

    The knots are quantiles of the training rows, as in R. Outside their range B-splines
    continue as polynomials, natural splines as straight lines.
    """

    kind: ClassVar[str] = "spline"
    is_natural: bool
    degree: int = 3
    n_inner: int | None = None
    #: Inner knots, and the ends of the range.
    inner: tuple = ()
    ends: tuple = ()

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.inner) + (1 if self.is_natural else self.degree)

    def fit(self, stream: Stream, text: str) -> Spline:
        """Choose the knots."""
        blocks = list(stream())
        x = np.concatenate([values for values, _ in blocks])
        weight = np.concatenate([weights for _, weights in blocks])
        inner = self.inner
        if self.n_inner is not None:
            fractions = np.arange(1, self.n_inner + 1) / (self.n_inner + 1.0)
            inner = tuple(_find_quantiles(x, weight, fractions).tolist())
        ends = (float(x.min()), float(x.max()))
        knots = np.array([ends[0], *inner, ends[1]])
        if not (np.diff(knots) > 0.0).all():
            raise ValueError(
                f"{text} requires knots that ascend inside the range of the column; "
                f"got {knots.tolist()}. Use fewer, or give them with knots=."
            )
        return replace(self, inner=inner, ends=ends)

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Compute the columns. Shape (n_rows, width)."""
        knots = np.concatenate(
            [
                np.repeat(self.ends[0], self.degree + 1),
                self.inner,
                np.repeat(self.ends[1], self.degree + 1),
            ]
        )
        n_splines = len(knots) - self.degree - 1
        basis = BSpline(knots, np.eye(n_splines), self.degree)
        if not self.is_natural:
            return basis(values)[:, 1:]
        low, high = self.ends
        # Second derivatives at the ends are zero in what is orthogonal to these.
        at_ends = basis.derivative(2)(np.array([low, high]))[:, 1:]
        free = np.linalg.qr(at_ends.T, mode="complete")[0][:, 2:]
        found = basis(np.clip(values, low, high))
        slopes = basis.derivative(1)(np.array([low, high]))
        for end, slope, outside in (
            (low, slopes[0], values < low),
            (high, slopes[1], values > high),
        ):
            found[outside] += (values[outside] - end)[:, np.newaxis] * slope
        return found[:, 1:] @ free


BASES = {each.kind: each for each in (Scaling, Polynomial, Spline)}
Basis = Scaling | Polynomial | Spline


def _measure_mean(stream: Stream) -> tuple[float, float]:
    """Return the total weight and the mean of the training rows."""
    total = sum(float(weight.sum()) for _, weight in stream())
    mean = sum(float(weight @ values) for values, weight in stream()) / total
    # Once more about it, for the digits of values far from zero.
    rest = sum(float(weight @ (values - mean)) for values, weight in stream())
    return total, mean + rest / total


def _find_quantiles(x, weight, fractions):
    """Quantiles between the values at whole weights, as of copies of rows (type 7)."""
    order = np.argsort(x, kind="stable")
    x, reached = x[order], np.cumsum(weight[order])
    place = (reached[-1] - 1.0) * np.asarray(fractions)
    below = np.floor(place)
    last = len(x) - 1
    low = x[np.minimum(np.searchsorted(reached, below, side="right"), last)]
    high = x[np.minimum(np.searchsorted(reached, below + 1.0, side="right"), last)]
    return low + (place - below) * (high - low)


# --------------------------------------------------------------------------- terms
@dataclass(frozen=True)
class Factor:
    """A column as it is encoded, or a function of numeric columns.

    Parameters
    ----------
    text : str
        How names show it.
    column : str or None
        Name of the column; None: a function.
    is_full : bool
        Whether every level of a nominal column has an indicator.
    expression : str
        The function, of one row; with a basis, its argument.
    basis : Scaling, Polynomial, Spline or None
        What the function is converted to.
    """

    text: str
    column: str | None = None
    is_full: bool = False
    expression: str = ""
    basis: Basis | None = None

    def list_columns(self) -> list[str]:
        """List the columns that it uses."""
        if self.column is not None:
            return [self.column]
        return list_names(parse_expression(self.expression))


@dataclass(frozen=True)
class ModelTerm:
    """A product of factors.

    Parameters
    ----------
    factors : tuple of Factor
        The factors. One of a missing value's indicators has none.
    indicator : str
        The column whose indicator of missing values this is; empty otherwise.
    """

    factors: tuple
    indicator: str = ""

    @property
    def name(self) -> str:
        """The factors, joined by colons."""
        if self.indicator:
            return f"missing({self.indicator})"
        return ":".join(factor.text for factor in self.factors)

    @property
    def parts(self) -> frozenset:
        """What it is a product of; a term within another has fewer of the same."""
        texts = [factor.text for factor in self.factors]
        return frozenset(texts or [self.name])


@dataclass(frozen=True)
class EncodedRows:
    """Rows of the encoded columns of a table, read by the name of the column.

    Parameters
    ----------
    design : Design
        The encoding.
    matrix : ndarray or csr_array of shape (n_rows, n_encoded)
        The rows.
    """

    design: Any
    matrix: Any
    _by_columns: list = field(default_factory=list, compare=False)

    def _take(self, start, stop):
        """Take columns; dense ones unless the matrix is sparse."""
        if not sparse.issparse(self.matrix):
            return self.matrix[:, start:stop]
        if not self._by_columns:
            self._by_columns.append(self.matrix.tocsc())
        return self._by_columns[0][:, list(range(start, stop))]

    def _find(self, name):
        position = self.design.schema.names.index(name)
        return self.design.terms[position], self.design.find_columns(position)

    def read_numbers(self, name: str) -> np.ndarray:
        """Read the numbers of a column."""
        term, place = self._find(name)
        if term.kind == NOMINAL:
            raise ValueError(
                f"Column {name!r} has levels; a function in a formula requires numbers."
            )
        if place.stop == place.start:
            return np.zeros(self.matrix.shape[0])
        values = self._take(place.start, place.start + 1)
        return (values.toarray() if sparse.issparse(values) else values)[:, 0]

    def read_block(self, name: str, *, is_full: bool, has_indicator: bool) -> Any:
        """Read the encoded columns of one column."""
        term, place = self._find(name)
        block = self._take(place.start, place.stop - term.has_indicator)
        if is_full and term.reference is not None:
            rest = 1.0 - np.asarray(block.sum(axis=1)).ravel()
            block = _stack([rest[:, np.newaxis], block], self.matrix)
        if has_indicator and term.has_indicator:
            block = _stack([block, self.read_indicator(name)], self.matrix)
        return block

    def read_indicator(self, name: str) -> Any:
        """Read the indicator of missing values of a column."""
        _, place = self._find(name)
        return self._take(place.stop - 1, place.stop)

    def read_factor(self, factor: Factor, *, is_alone: bool) -> Any:
        """Read the columns of a factor."""
        if factor.column is not None:
            return self.read_block(
                factor.column, is_full=factor.is_full, has_indicator=is_alone
            )
        values = self.evaluate(factor)
        if factor.basis is None:
            return _like(values[:, np.newaxis], self.matrix)
        return _like(factor.basis.transform(values), self.matrix)

    def evaluate(self, factor: Factor) -> np.ndarray:
        """Compute the function of a factor, without its basis."""
        with np.errstate(all="ignore"):
            # Values that are not finite are refused with the other columns.
            values = evaluate(parse_expression(factor.expression), self.read_numbers)
        return np.broadcast_to(values, (self.matrix.shape[0],)).astype(np.float64)

    def read_term(self, term: ModelTerm) -> Any:
        """Read the columns of a term."""
        if term.indicator:
            return self.read_indicator(term.indicator)
        is_alone = len(term.factors) == 1
        block = None
        for factor in term.factors:
            other = self.read_factor(factor, is_alone=is_alone)
            block = other if block is None else _multiply(block, other)
        return block

    def read_terms(self, terms: tuple) -> Any:
        """Read the columns of all terms."""
        blocks = [self.read_term(term) for term in terms]
        return _stack(blocks, self.matrix)


def _multiply(first, second):
    """Multiply each column by each; those of the first vary fastest, as in R."""
    if not sparse.issparse(first):
        made = second[:, :, np.newaxis] * first[:, np.newaxis, :]
        return made.reshape(len(first), -1)
    n_first, n_second = first.shape[1], second.shape[1]
    tiled = first.tocsc()[:, np.tile(np.arange(n_first), n_second)]
    return tiled.multiply(second.tocsc()[:, np.repeat(np.arange(n_second), n_first)])


def _like(block, matrix):
    """Convert a dense block to the kind of a matrix."""
    return sparse.csc_array(block) if sparse.issparse(matrix) else block


def _stack(blocks, matrix):
    """Put blocks of columns next to each other."""
    if not sparse.issparse(matrix):
        return np.ascontiguousarray(np.column_stack(blocks))
    return sparse.csr_array(sparse.hstack(blocks))


def name_term(term: ModelTerm, design) -> tuple[str, ...]:
    """List the names of the columns of a term."""
    if term.indicator:
        return (term.name,)
    names: list[str] = []
    for factor in term.factors:
        own = _name_factor(factor, design, is_alone=len(term.factors) == 1)
        names = [f"{a}:{b}" for b in own for a in names] if names else own
        if not own:
            return ()
    return tuple(names)


def _name_factor(factor, design, *, is_alone):
    if factor.column is None:
        width = 1 if factor.basis is None else factor.basis.width
        if width == 1:
            return [factor.text]
        return [f"{factor.text}[{place + 1}]" for place in range(width)]
    position = design.schema.names.index(factor.column)
    term, column = design.terms[position], design.schema.columns[position]
    names = list(term.names)
    if term.has_indicator and not is_alone:
        names = names[:-1]
    if factor.is_full and term.reference is not None:
        names = [f"{column.name}={column.format_value(term.reference)}", *names]
    return names


def fit_terms(terms: tuple, design, read_blocks: Callable[[], Iterator]) -> tuple:
    """Fit the bases to the training rows, and add what belongs to missing values.

    ``read_blocks`` makes the blocks of encoded rows with their weights.
    """
    fitted, seen = [], {}
    for term in terms:
        factors = []
        for factor in term.factors:
            key = (factor.expression, factor.basis)
            if factor.basis is not None and key not in seen:

                def stream(factor=factor):
                    for matrix, weight in read_blocks():
                        values = EncodedRows(design, matrix).evaluate(factor)
                        if not np.isfinite(values).all():
                            row = int(np.argmin(np.isfinite(values)))
                            raise ValueError(
                                f"{factor.text} is {values[row]} in a row; terms of a "
                                "formula must be finite."
                            )
                        yield values, weight

                seen[key] = factor.basis.fit(stream, factor.text)
            if factor.basis is not None:
                factor = replace(factor, basis=seen[key])
            factors.append(factor)
        fitted.append(replace(term, factors=tuple(factors)))
    alone = {term.factors[0].column for term in terms if len(term.factors) == 1}
    fitted += [
        ModelTerm((), indicator=term.name)
        for term in design.terms
        if term.has_indicator and term.name not in alone
    ]
    return tuple(fitted)


def count_filled(terms: tuple) -> int:
    """Count the cells of a row that are not zero."""
    total = 0
    for term in terms:
        widths = [
            1 if factor.basis is None else factor.basis.width for factor in term.factors
        ]
        total += int(np.prod(widths))
    return total


# ------------------------------------------------------------------ for model files
def write_model_terms(terms: tuple) -> list[dict]:
    """Write terms for JSON."""
    return [
        {
            "indicator": term.indicator,
            "factors": [_write_factor(factor) for factor in term.factors],
        }
        for term in terms
    ]


def _write_factor(factor):
    entry = {"text": factor.text}
    if factor.column is not None:
        return entry | {"column": factor.column, "is_full": factor.is_full}
    entry["expression"] = factor.expression
    if factor.basis is not None:
        state = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(factor.basis).items()
        }
        entry["basis"] = {"kind": factor.basis.kind} | state
    return entry


def read_model_terms(entries: Any, names: tuple, has_indicator: dict) -> tuple:
    """Read terms that `write_model_terms` wrote, of columns of these names."""
    if not isinstance(entries, list):
        raise ValueError(f"model_terms must be a list; got {entries!r}")
    terms = []
    for entry in entries:
        indicator = entry["indicator"]
        factors = tuple(_read_factor(each) for each in entry["factors"])
        term = ModelTerm(factors, indicator)
        if bool(indicator) == bool(factors):
            raise ValueError("a model term must have factors or an indicator")
        if indicator and not has_indicator.get(indicator, False):
            raise ValueError(f"{indicator!r} has no indicator of missing values")
        for name in (each for factor in factors for each in factor.list_columns()):
            if name not in names:
                raise ValueError(f"a model term has the unknown column {name!r}")
        terms.append(term)
    return tuple(terms)


def _read_factor(entry):
    text, column = entry["text"], entry.get("column")
    if not isinstance(text, str) or not isinstance(column, str | None):
        raise ValueError(f"text and column of a factor must be strings; got {entry!r}")
    if column is not None:
        return Factor(text, column, bool(entry["is_full"]))
    parse_expression(entry["expression"])
    basis = None
    if "basis" in entry:
        state = dict(entry["basis"])
        of = BASES.get(state.pop("kind"))
        if of is None:
            raise ValueError(f"kind of a basis must be one of {list(BASES)}")
        state = {
            name: tuple(map(float, value)) if isinstance(value, list) else value
            for name, value in state.items()
        }
        numbers = [each for value in state.values() for each in np.atleast_1d(value)]
        if not all(each is None or np.isfinite(each) for each in numbers):
            raise ValueError("numbers of a basis must be finite")
        basis = of(**state)
    return Factor(text, None, False, entry["expression"], basis)
