"""A tree as J48 prints it, line by line.

The nodes are dicts as the references have them; ``read_grown_tree`` makes them of a
grown tree. Numbers are written as Java writes them.
"""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product

from tests.reference.c45_measures import count_errors, find_majority_class, is_greater

#: So far may a sum of weights lie from the exact one by its order of summation.
ROUNDING = 1e-9


@dataclass
class TreePrinter:
    """Prints trees over one schema."""

    column_names: list
    level_names: list  # one sequence per column, of no meaning for numbers
    class_names: list
    binary: bool = False  # J48's option -B, which prints thresholds in full
    shifts: tuple = (0.0, 0.0)  # added to weights and errors before they are rounded

    def write_lines(self, nodes):
        """The lines of a tree."""
        if nodes[0]["children"]:
            return list(self._iterate_lines(nodes, nodes[0], indent=""))
        return [self._write_leaf(nodes[0])]

    def _iterate_lines(self, nodes, node, indent):
        name = self.column_names[node["feature"]]
        conditions = self._write_conditions(node)
        for condition, number in zip(conditions, node["children"], strict=True):
            child = nodes[number]
            line = f"{indent}{name} {condition}"
            if child["children"]:
                yield line
                yield from self._iterate_lines(nodes, child, indent + "|   ")
            else:
                yield line + self._write_leaf(child)

    def _write_conditions(self, node):
        """What follows the column's name, branch by branch."""
        if node["kind"] != "nominal":
            write = write_number if self.binary else write_rounded
            threshold = write(node["threshold"])
            return [f"<= {threshold}", f"> {threshold}"]
        names = self.level_names[node["feature"]]
        level_of = {branch: level for level, branch in node["level_map"].items()}
        if self.binary:
            (level,) = [k for k, branch in node["level_map"].items() if branch == 0]
            return [f"= {names[level]}", f"!= {names[level]}"]
        return [f"= {names[level_of[k]]}" for k in range(len(node["children"]))]

    def _write_leaf(self, node):
        """Class, weight, and errors if there are any."""
        (class_weights,) = node["statistics"]
        label = self.class_names[find_majority_class(class_weights)]
        if not is_greater(node["weight"], 0):
            return f": {label} (0.0)"
        errors = count_errors(class_weights)
        numbers = round_to_cents(node["weight"] + self.shifts[0])
        if is_greater(errors, 0):
            numbers += f"/{round_to_cents(errors + self.shifts[1])}"
        return f": {label} ({numbers})"

    def find_difference(self, nodes, expected):
        """The first line that is not as expected, or None.

        A weight half way between two printed numbers may go to either.
        """
        shifts = product((-ROUNDING, ROUNDING), repeat=2)
        printed = [replace(self, shifts=pair).write_lines(nodes) for pair in shifts]
        for number, line in enumerate(expected):
            allowed = {lines[number] for lines in printed if number < len(lines)}
            if line not in allowed:
                return f"line {number}: {sorted(allowed)}, expected {line!r}"
        if len(printed[0]) != len(expected):
            return f"{len(printed[0])} lines, expected {len(expected)}"
        return None


def round_to_cents(value):
    """Two decimals at most; halves go up."""
    return write_number(math.floor(100 * value + 0.5) / 100)


def write_rounded(value):
    """At most six decimals, none of them a 0 at the end."""
    millionths = math.floor(abs(value) * 1e6 + 0.5)
    sign = "-" if value < 0 and millionths else ""
    whole, rest = divmod(millionths, 10**6)
    return sign + f"{whole}.{rest:06d}".rstrip("0").rstrip(".")


def write_number(value):
    """All digits; with an exponent below 0.001 and from ten million on."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(float(value))
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    first, *rest = map(str, digits)
    exponent += len(rest)
    return f"{'-' * sign}{first}.{''.join(rest) or '0'}E{exponent}"
