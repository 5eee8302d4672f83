"""Numbers written with thousands separators, currency signs or percent signs."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as compute

POINT, COMMA = ".", ","
#: The decimal marks, and what each leaves to separate thousands.
DECIMAL_MARKS = {POINT: COMMA, COMMA: POINT}
PERCENT = "%"

_BLANKS = " \u00a0\u2009\u202f"
_APOSTROPHES = "'\u2019"
_PERCENT_SIGNS = "%\uff05"
_CURRENCY_CODES = (
    "AED|ARS|AUD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EUR|GBP|HKD|HUF|IDR|ILS|INR|JPY|KRW|"
    "MXN|MYR|NOK|NZD|PHP|PLN|RMB|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR"
)
_CURRENCY = (
    "(?:[A-Z]{0,2}[$\u00a2-\u00a5\u0e3f\u20a0-\u20c0\uff04\uffe0\uffe1\uffe5\uffe6]"
    f"|{_CURRENCY_CODES}|kr\\.?|zł|Kč|Ft|元|円)"
)
_SIGN = "[+\u2212-]?"
_PERCENT_END = rf"[{_PERCENT_SIGNS}]\)?$"


def _write_number(decimal) -> str:
    """Return the pattern of numbers with a decimal mark."""
    mark = re.escape(decimal)
    separators = (
        re.escape(DECIMAL_MARKS[decimal]),
        f"[{_BLANKS}]",
        f"[{_APOSTROPHES}]",
    )
    grouped = "|".join(
        rf"[1-9]\d{{0,2}}(?:{separator}\d{{3}})+" for separator in separators
    )
    return rf"(?:(?:{grouped}|\d+)(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?"


def _write_amount(decimal) -> str:
    """Return the pattern of numbers with signs around them."""
    return (
        rf"\(?{_SIGN}(?:(?P<before>{_CURRENCY})[{_BLANKS}]?)?{_SIGN}"
        rf"(?P<number>{_write_number(decimal)})"
        rf"(?:[{_BLANKS}]?(?P<after>{_CURRENCY}|[{_PERCENT_SIGNS}]))?\)?"
    )


_PATTERNS = {decimal: _write_amount(decimal) for decimal in DECIMAL_MARKS}
_COMPILED = {decimal: re.compile(text) for decimal, text in _PATTERNS.items()}
_GROUPED = rf"^{_SIGN}[1-9]\d{{0,2}}(?:[.{_BLANKS}{_APOSTROPHES}]\d{{3}})+$"
_GROUPED_AND_FRACTION = rf"\d[{_BLANKS}{_APOSTROPHES}]\d.*[.,]\d|\.\d.*,|,\d.*\."


class NumberFormatError(ValueError):
    """A text that cannot be read as a number like the others of its column.

    Parameters
    ----------
    position : int
        Position among the texts.
    problem, remedy : str
        What is wrong with it, and how to correct it.
    """

    def __init__(self, position, problem, remedy) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True)
class DecimalMark:
    """What is known of the decimal mark of a table.

    Parameters
    ----------
    given : {".", ","} or None
        Decimal mark that the user has given.
    presumed : {".", ","} or None
        Mark to use if the values of a column do not tell, as in 1,234.
    """

    given: str | None = None
    presumed: str | None = None

    @property
    def candidates(self):
        """The possible decimal marks."""
        return (self.given,) if self.given else tuple(DECIMAL_MARKS)

    def choose(self, texts: pa.Array) -> str | None:
        """Choose the mark of texts that are numbers with either; None if none tells."""
        if self.given:
            return self.given
        marks = [mark for mark in DECIMAL_MARKS if _any(texts, rf"[{mark}]\d")]
        if not marks:
            return POINT
        if self.presumed or len(marks) == 2:
            return self.presumed
        if _any(texts, _PERCENT_END):  # rarely more than 999%
            return marks[0]
        # Amounts of money have no three decimals, but some prices have: $3.459.
        is_money = marks == [COMMA] and _any(texts, _CURRENCY)
        return POINT if is_money else None


def _any(texts, pattern) -> bool:
    return bool(compute.any(compute.match_substring_regex(texts, pattern)).as_py())


def match_numbers(texts: pa.Array, decimal: str) -> pa.Array:
    """Tell which texts are numbers with a decimal mark, with or without signs."""
    return compute.match_substring_regex(texts, f"^{_PATTERNS[decimal]}$")


def is_number_text(text) -> bool:
    """Whether a text is a number with either decimal mark."""
    return any(pattern.fullmatch(text) for pattern in _COMPILED.values())


def parse_numbers(texts: pa.Array, mark: DecimalMark) -> tuple[list[float], str]:
    """Parse numbers with the same decimal mark and unit: a currency, "%" or ""."""
    masks = {decimal: match_numbers(texts, decimal) for decimal in mark.candidates}
    fitting = [d for d, mask in masks.items() if compute.all(mask).as_py() is not False]
    if not fitting:
        raise _explain_misfit(texts, masks)
    decimal = mark.choose(texts) if len(fitting) > 1 else fitting[0]
    if decimal is None:
        position = compute.index(compute.match_substring_regex(texts, "[.,]"), True)
        position = position.as_py()
        text = texts[position].as_py()
        raise NumberFormatError(
            position,
            f"{text!r} has either a thousands separator or a decimal mark",
            "give the decimal mark with decimal='.' or ',' (--decimal point or comma)",
        )
    return _parse_all(texts.to_pylist(), decimal)


def _explain_misfit(texts, masks):
    counts = {decimal: compute.sum(mask).as_py() for decimal, mask in masks.items()}
    decimal = max(counts, key=counts.get)
    position = compute.index(masks[decimal], False).as_py()
    text = texts[position].as_py()
    other = DECIMAL_MARKS[decimal]
    name = "point" if decimal == POINT else "comma"
    if _COMPILED[other].fullmatch(text):
        problem = f"{text!r} is not a number with a decimal {name}"
        remedy = "write all numbers of the column alike"
        if len(masks) == 1:
            remedy += ", or give their decimal mark with --decimal"
    else:
        problem = f"{text!r} is not a number"
        remedy = "correct it, or leave it empty if it is missing"
    if counts[decimal] and _any(texts.filter(masks[decimal]), f"[^\\d{decimal}eE+-]"):
        example = "1,234.5, $1,234.5" if decimal == POINT else "1.234,5, 1.234,5 €"
        percentage = f"38{decimal}5%"
        remedy += f"; numbers may be written as in {example} or {percentage}"
    return NumberFormatError(position, problem, remedy)


def _parse_all(texts, decimal):
    separators = re.compile(f"[{_BLANKS}{_APOSTROPHES}{DECIMAL_MARKS[decimal]}]")
    numbers, units = [], []
    for text in texts:
        match = _COMPILED[decimal].fullmatch(text)
        number = separators.sub("", match["number"])
        before = text[: match.start("number")]
        has_two_signs = match["before"] and match["after"]
        if has_two_signs or ("(" in before) != text.endswith(")"):
            raise NumberFormatError(
                len(numbers),
                f"{text!r} is not a number",
                "write at most one sign and both brackets, as in $5 or (5)",
            )
        is_negative = any(sign in before for sign in "(-\u2212")
        number = float(number.replace(decimal, POINT))
        numbers.append(-number if is_negative else number)
        units.append(_find_unit(match))
    known = list(dict.fromkeys(filter(None, units)))
    # A sum without its currency has that of the others; 0.4 beside 38.5% may be 40%.
    if len(known) > 1 or (PERCENT in known and "" in units):
        position = next(i for i, unit in enumerate(units) if unit != units[0])
        here, first = (
            f"the sign {unit}" if unit else "no sign"
            for unit in (units[position], units[0])
        )
        raise NumberFormatError(
            position,
            f"{texts[position]!r} has {here}, but {texts[0]!r} has {first}",
            "write all numbers of the column in the same unit",
        )
    return numbers, known[0] if known else ""


def _find_unit(match):
    unit = match["before"] or match["after"] or ""
    return PERCENT if unit and unit in _PERCENT_SIGNS else unit


# -------------------------------------------------------------- what values look like
def describe_numbers(texts: pa.Array, decimal: str | None) -> tuple[str, pa.Array]:
    """Name the signs and separators of numbers, and list those that have any.

    Numbers that may be codes have none.
    """
    commas = {
        POINT: "numbers with thousands separators",
        COMMA: "numbers with a decimal comma",
        None: "numbers with commas",
    }
    for pattern, description in (
        (_PERCENT_END, "percentages"),
        (_CURRENCY, "amounts of money"),
        (_GROUPED_AND_FRACTION, commas[POINT]),
        (f"{COMMA}\\d", commas[decimal]),
        (_GROUPED, commas[POINT]),
    ):
        marked = texts.filter(compute.match_substring_regex(texts, pattern))
        if len(marked) and not _are_codes(marked):
            return description, marked
    return "", texts[:0]


def is_percentage(texts):
    """Tell which texts end with a percent sign."""
    return compute.match_substring_regex(texts, _PERCENT_END)


def _are_codes(texts):
    """Whether groups of digits are rather codes, such as phone numbers: 612 345 678.

    Unlike those, numbers differ in length, and some are smaller than a million.
    """
    if not compute.all(compute.match_substring_regex(texts, _GROUPED)).as_py():
        return False
    lengths = compute.min_max(compute.utf8_length(texts)).as_py()
    return lengths["min"] == lengths["max"] or lengths["min"] > len("123 456")


def number_text(value: float) -> str:
    """Write a number in full, integers without a decimal point, NaN as "?"."""
    if value != value:
        return "?"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
