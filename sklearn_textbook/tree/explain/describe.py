"""Text of tests, branches and predictions, shared by all exports."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from sklearn_textbook.tree.encode.columns import BOOLEAN, TEMPORAL
from sklearn_textbook.tree.explain.conditions import SumCondition, branch_condition
from sklearn_textbook.tree.explain.describe_sums import (
    describe_fills,
    describe_terms,
    describe_threshold,
)
from sklearn_textbook.tree.explain.digits import (
    MARGIN_FRACTION,
    format_fraction,
    format_number,
    guess_neighbours,
    round_moments,
    shorten_thresholds,
)
from sklearn_textbook.tree.explain.equations import describe_equation
from sklearn_textbook.tree.explain.fitted import FittedTree, word
from sklearn_textbook.tree.explain.lettering import shorten_names
from sklearn_textbook.tree.explain.neighbours import (
    find_neighbours,
    list_thresholds,
    look_up_neighbours,
    sort_column,
)
from sklearn_textbook.tree.grow.layout import LEAF

#: Number of levels named in a shortened set.
SHOWN_LEVELS = 5


@dataclass(frozen=True)
class Phrase:
    """A condition on present values: an operator and its operands as text.

    Parameters
    ----------
    operator : str
        ``"<="``, ``">"``, ``">="``, ``"="``, ``"in"``, ``"not in"``, ``"range"``,
        ``"new"`` (a level never seen), ``"any"`` or ``"none"``.
    values : list of str
        The operands as text.
    """

    operator: str
    values: list = field(default_factory=list)


class Words:
    """Text of the nodes and conditions of one tree.

    Parameters
    ----------
    fitted : FittedTree
        The tree and its names.
    decimals : int or None, default=None
        Decimals of thresholds and values, and significant digits of weights; ``None``
        for as few as distinguish them.
    max_levels : int or None, default=None
        Maximum number of levels written for a set, and of columns for a sum; ``None``
        for all.
    show_missing : bool or None, default=None
        Whether to write where missing values go; ``None`` for the columns with
        missing values in training.
    max_letters : int or None, default=None
        Maximum length of a level; with ``max_levels``, sets and sums of levels have
        about twice this length. ``None`` for any length.
    rows : ndarray or CSR array of shape (n_rows, n_features), or None, default=None
        Numbers and level codes of rows, to which the text of thresholds must apply, in
        addition to the training rows.
    max_surrogates : int or None, default=None
        Maximum number of surrogates written for a test; ``None`` for all.
    """

    def __init__(
        self,
        fitted: FittedTree,
        decimals=None,
        max_levels=None,
        show_missing=None,
        max_letters=None,
        rows=None,
        max_surrogates=None,
    ) -> None:
        self.fitted = fitted
        self.max_surrogates = max_surrogates
        self.decimals = decimals
        self.max_levels = max_levels
        self.show_missing = show_missing
        self.max_letters = max_letters
        self._level_words = {}
        self._thresholds = {}
        self._collect_thresholds(rows)

    # ------------------------------------------------------------- conditions
    def name(self, feature):
        """Name of a column, on one line."""
        return word(self.fitted.feature_names[feature])

    def tells_missing(self, feature):
        """Return whether to write where the missing values of a column go."""
        if self.show_missing is not None:
            return self.show_missing
        return self.fitted.had_missing(feature)

    def condition(self, condition, with_fractions: bool = True):
        """Write a condition, such as ``2 < x <= 3 or missing``.

        With ``with_shares=False``, missing values that follow surrogates, are divided
        among branches or are replaced in a sum are left out.
        """
        if isinstance(condition, SumCondition):
            return self._sum(condition, with_fractions)
        name = self.name(condition.feature)
        phrase = self._phrase(condition)
        if phrase.operator == "none":
            notes = self._missing_notes(condition) if with_fractions else ""
            return f"{name} is missing" + (f" ({notes})" if notes else "")
        text = _join(name, phrase)
        if condition.missing == 0.0 or not self.tells_missing(condition.feature):
            return text
        notes = self._missing_notes(condition)
        if notes:
            return f"{text} (if missing: {notes})" if with_fractions else text
        return f"{text} or missing"

    def clause(self, condition):
        """Write a condition on present values for a sentence: ``sex is male``."""
        if isinstance(condition, SumCondition):
            return self._sum(condition, False)
        name, phrase = self.name(condition.feature), self._phrase(condition)
        if phrase.operator == "=":
            return f"{name} is {phrase.values[0]}"
        if phrase.operator in ("in", "not in"):
            start = "" if phrase.operator == "in" else "not "
            return f"{name} is {start}{join_words(phrase.values, 'or')}"
        return _join(name, phrase)

    def branch(self, condition):
        """Write the condition of a branch for its edge, without the column."""
        if isinstance(condition, SumCondition):
            return describe_threshold(condition, self.decimals)
        phrase = self._phrase(condition)
        if phrase.operator == "none":
            return "missing"
        text = _join_label(phrase)
        if phrase.operator == "any" or condition.missing == 0.0 or condition.chains:
            return text
        if self.tells_missing(condition.feature) and condition.missing == 1.0:
            return f"{text} or missing"
        return text

    def test(self, node, sign: str = "*"):
        """List what a node tests: the name of a column, or the terms of a sum."""
        condition = branch_condition(self.fitted.tree, node, 0)
        if isinstance(condition, SumCondition):
            return describe_terms(self, condition, sign)
        return [self.name(condition.feature)]

    def fills(self, terms):
        """Write the values that missing values of a sum count as; may be empty."""
        return describe_fills(self, [t for t in terms if self.tells_missing(t.feature)])

    def stand_in(self, stand_in):
        """Format the test of a surrogate; ``no`` if it never leads to this branch."""
        if stand_in.is_numeric:
            phrase = self._numeric_phrase(stand_in)
        elif stand_in.accepted:
            phrase = self._set_phrase(stand_in, list(stand_in.accepted))
        else:
            phrase = Phrase("none")
        if phrase.operator == "none":
            return "no"
        return _join(self.name(stand_in.feature), phrase)

    def chain(self, chain, answer=None):
        """Write a chain of surrogates.

        Such as ``y <= 2; if y is missing too: z > 1; if all are missing: yes``;
        ``answer`` replaces the last word.
        """
        words, missing = [], None
        for stand_in in chain.stand_ins:
            test = self.stand_in(stand_in)
            words.append(f"if {missing} is missing too: {test}" if missing else test)
            missing = self.name(stand_in.feature)
        last = answer or _yes_no(chain.otherwise)
        who = f"{missing} is missing too" if len(words) == 1 else "all are missing"
        most = self.max_surrogates
        if most is not None and len(words) > most:
            n_more = len(words) - most
            words = [*words[:most], f"{n_more} more surrogate{'s' * (n_more > 1)}"]
        return "; ".join([*words, f"if {who}: {last}"])

    # ------------------------------------------------------------ predictions
    def prediction(self, node):
        """Format the prediction of a node; several outputs in brackets."""
        words = self.outputs(node)
        return words[0] if len(words) == 1 else f"[{', '.join(words)}]"

    def outputs(self, node):
        """List the class names or values that a node predicts, one per output."""
        fitted = self.fitted
        if len(fitted.tree.slopes):
            return [describe_equation(self, node)]
        if not fitted.tree.is_classifier:
            return [format_number(v, self.decimals) for v in fitted.predicted(node)]
        best = fitted.best[node].tolist()
        return [names[b] for names, b in zip(fitted.class_names, best, strict=True)]

    def confidence(self, node):
        """Format the proportions of the predicted classes; empty in regression."""
        if not self.fitted.tree.is_classifier:
            return ""
        fractions = [
            format_fraction(fraction) for fraction in node_confidence(self.fitted, node)
        ]
        return fractions[0] if len(fractions) == 1 else f"[{', '.join(fractions)}]"

    def size(self, node):
        """Return the number of rows of a node, and their weight if it differs."""
        record = self.fitted.tree.nodes[node]
        return describe_size(int(record["n_samples"]), float(record["weight"]))

    # ---------------------------------------------------------------- helpers
    def _collect_thresholds(self, rows) -> None:
        """Write the thresholds of each column so that all rows compare as they do."""
        for column, thresholds in list_thresholds(self.fitted.tree).items():
            schema = self.fitted.schema.columns[column]
            is_time = schema.source in TEMPORAL
            low, high = look_up_neighbours(self.fitted.neighbours, column, thresholds)
            guess = (-np.inf, np.inf) if is_time else guess_neighbours(thresholds)
            low = np.where(np.isnan(low), guess[0], low)
            high = np.where(np.isnan(high), guess[1], high)
            if rows is not None:
                given = find_neighbours(thresholds, sort_column(rows, column))
                low, high = np.maximum(low, given[0]), np.minimum(high, given[1])
            if is_time:
                moments = round_moments(thresholds, low, high)
                texts = {t: schema.format_value(m) for t, m in moments.items()}
            else:
                texts = shorten_thresholds(thresholds, self.decimals, low, high)
            self._thresholds[column] = texts

    def find_tolerance(self, feature, value):
        """Return how much the text of a value may differ from it.

        Within this, it compares with the texts of the thresholds as the value does.
        """
        thresholds = [*self._thresholds.get(feature, ())]
        if not isinstance(value, float) or not thresholds:
            return math.inf
        return MARGIN_FRACTION * float(np.abs(np.subtract(thresholds, value)).min())

    def _threshold(self, feature, value):
        return self._thresholds[feature][value]

    def level(self, feature, code):
        """Write a level, or a boolean stored as a number, before a colon."""
        value = code if isinstance(code, bool) else self._levels(feature)[code]
        return quote_level(value, ',:{}()"')

    def _levels(self, feature):
        """Return the levels of a column, shortened if necessary."""
        if feature not in self._level_words:
            levels = level_values(self.fitted.schema.columns[feature])
            if self.max_letters is not None and all(isinstance(v, str) for v in levels):
                levels = shorten_names(levels, self.max_letters)
            self._level_words[feature] = levels
        return self._level_words[feature]

    def _words(self, test, codes):
        """Return the levels of a column as text; long sets are shortened."""
        levels, codes = self._levels(test.feature), list(codes)
        words = [quote_level(levels[code]) for code in codes[: self.max_levels]]
        return self.cut_short(words, codes)

    def cut_short(self, words, codes):
        """Return the first levels, and the number of the others if there are many."""
        limit, shown = self.max_levels, len(words)
        if limit is None or not words:
            return words
        if len(codes) > limit:
            shown = max(1, limit - 1)
        if self.max_letters is not None:
            ends = accumulate(len(word) + 2 for word in words[:shown])
            shown = max(1, sum(end <= 2 * self.max_letters + 2 for end in ends))
        n_more = len(codes) - shown
        return [*words[:shown], f"+{n_more:,} more"] if n_more else words

    def _sum(self, condition, with_notes):
        """Write a condition on a sum, or on levels that its node has not seen."""
        if not condition.takes_sums:
            levels = [t.level_condition(unseen=True) for t in condition.level_terms]
            parts = self.cut_short(
                [self.condition(c) for c in levels[: self.max_levels]], levels
            )
            return " or ".join(parts)
        terms = " ".join(describe_terms(self, condition))
        text = f"{terms} {describe_threshold(condition, self.decimals)}"
        notes = [self.fills(condition.terms)]
        if condition.is_fractional:
            fraction = format_fraction(condition.unseen)
            notes.append(f"if a level is unknown: {fraction} of the row")
        notes = "; ".join(note for note in notes if note)
        return f"{text} ({notes})" if notes and with_notes else text

    def _phrase(self, condition):
        if not condition.takes_present:
            return Phrase("none")
        if condition.takes_all_present:
            return Phrase("any")
        if condition.is_numeric:
            return self._numeric_phrase(condition)
        *fractions, unseen = condition.fractions
        if unseen == 1.0:
            refused = [
                code for code, fraction in enumerate(fractions) if fraction == 0.0
            ]
            if len(refused) == len(fractions):
                return Phrase("new")
            return Phrase("not in", self._words(condition, refused))
        codes = [code for code, fraction in enumerate(fractions) if fraction > 0.0]
        phrase = self._set_phrase(condition, codes)
        partial = {
            fraction for fraction in (*fractions, unseen) if 0.0 < fraction < 1.0
        }
        if not partial:
            return phrase
        return Phrase("in", self._partial_words(condition))

    def _numeric_phrase(self, test):
        """Return the phrase of an interval, or of a boolean stored as a number."""
        if not test.low < test.high:
            return Phrase("none")
        low, high = test.low, test.high
        if self.fitted.schema.columns[test.feature].source == BOOLEAN:
            return Phrase("=", ["true" if low >= 0 else "false"])
        if low == -math.inf and high == math.inf:
            return Phrase("any")
        if low == -math.inf:
            return Phrase("<=", [self._threshold(test.feature, high)])
        if high == math.inf:
            return Phrase(">", [self._threshold(test.feature, low)])
        bounds = [self._threshold(test.feature, bound) for bound in (low, high)]
        return Phrase("range", bounds)

    def _set_phrase(self, test, codes):
        """Return the phrase of a set of levels, a comparison for ordered levels."""
        column = self.fitted.schema.columns[test.feature]
        if len(codes) == 1:
            return Phrase("=", self._words(test, codes))
        last = len(column.levels) - 1
        is_run = codes and codes[-1] - codes[0] == len(codes) - 1
        if column.kind == "ordinal" and is_run:
            if codes[0] == 0 and codes[-1] < last:
                return Phrase("<=", self._words(test, codes[-1:]))
            if codes[0] > 0 and codes[-1] == last:
                return Phrase(">=", self._words(test, codes[:1]))
        return Phrase("in", self._words(test, codes))

    def _partial_words(self, condition):
        """Return the levels that are divided, with the fraction that follows."""
        *fractions, unseen = condition.fractions
        codes = [code for code, fraction in enumerate(fractions) if fraction > 0.0]
        words = [
            self._words(condition, [code])[0] + _fraction_note(fractions[code])
            for code in codes[: self.max_levels]
        ]
        words = self.cut_short(words, codes)
        return [*words, f"unknown level{_fraction_note(unseen)}"] if unseen else words

    def _missing_notes(self, condition):
        """Return the surrogates and fractions of a missing value; empty if it is 1."""
        notes = [self.chain(chain) for chain in condition.chains]
        if condition.missing < 1.0:
            notes.append(f"{format_fraction(condition.missing)} of the row")
        return "; and ".join(notes)


def _fraction_note(fraction):
    return "" if fraction == 1.0 else f" ({format_fraction(fraction)})"


def _yes_no(fraction):
    if fraction in (0.0, 1.0):
        return "yes" if fraction else "no"
    return f"{format_fraction(fraction)} of the row"


def _join(name, phrase) -> str:
    """Join a phrase and the name of its column."""
    operator, values = phrase.operator, phrase.values
    if operator == "range":
        return f"{values[0]} < {name} <= {values[1]}"
    if operator == "any":
        return f"{name} is not missing"
    if operator == "new":
        return f"{name} is an unknown level"
    if operator in ("in", "not in"):
        return f"{name} {operator} {{{', '.join(values)}}}"
    return f"{name} {operator} {values[0]}"


def _join_label(phrase):
    """Join a phrase without the name of its column."""
    operator, values = phrase.operator, phrase.values
    if operator == "any":
        return "not missing"
    if operator == "new":
        return "an unknown level"
    if operator in ("=", "in"):
        return ", ".join(values)
    if operator == "not in":
        return f"not {', '.join(values)}"
    return f"{operator} {values[0]}"


def join_words(words, last):
    """Join words in a sentence, as in ``a, b and c``."""
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end


def level_values(column):
    """List the levels of a column in its own terms: dates as ISO 8601 text."""
    if column.source not in TEMPORAL:
        return list(column.levels)
    return [column.format_value(code) for code in range(len(column.levels))]


def quote_level(level, special: str = ',{}()"'):
    """Format a level, in quotes if it could be misread within a list."""
    text = word(level)
    if not isinstance(level, str):
        return text
    is_plain = text and text == text.strip() and not set(text) & set(special)
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def describe_size(n_samples, weight):
    """Format the number of rows, with their weight if it differs."""
    rows = f"{n_samples:,} row" + ("" if n_samples == 1 else "s")
    if math.isclose(n_samples, weight, rel_tol=1e-9, abs_tol=1e-9):
        return rows
    return f"{rows}, weight {format_number(weight)}"


def node_confidence(fitted, node):
    """Fraction of the predicted class of a node, per output."""
    fractions = fitted.class_fractions(node)
    return np.take_along_axis(fractions, fitted.best[node][:, None], 1)[:, 0].tolist()


def has_children(tree, node):
    """Whether a node is split."""
    return int(tree.nodes["kind"][node]) != LEAF
