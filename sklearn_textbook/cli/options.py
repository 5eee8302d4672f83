"""Options that the commands share, and how their values are read."""

from __future__ import annotations

import ast
import csv
import json
import re
from dataclasses import dataclass

import click

from sklearn_textbook.io.date_formats import is_date_format
from sklearn_textbook.io.missing_marks import MISSING_MARKS
from sklearn_textbook.io.naming import suggest_name

_DELIMITERS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "\\t": "\t",
    "pipe": "|",
    "space": " ",
}
_CALL_REMEDY = (
    "it is not the call of a class with named parameters, as in "
    "pruning=ErrorBasedPruning(confidence=0.1)"
)
_DECIMAL_MARKS = {"point": ".", "comma": ","}


#: Names of scores for classes and for numbers, and their headings.
CLASS_SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "kappa": "kappa",
    "auc": "AUC",
    "f1_macro": "F1 macro",
    "f1_micro": "F1 micro",
    "f1_weighted": "F1 weighted",
    "precision_macro": "precision macro",
    "recall_macro": "recall macro",
    "matthews_corrcoef": "MCC",
    "log_loss": "log loss",
}
NUMBER_SCORES = {
    "r2": "R2",
    "rmse": "RMSE",
    "mae": "MAE",
    "median_absolute_error": "median AE",
    "mape": "MAPE",
}
DEFAULT_CLASS_SCORES = ("accuracy", "kappa", "auc")
DEFAULT_NUMBER_SCORES = ("r2", "rmse", "mae")


class NameList(click.ParamType):
    """Names separated by commas; a name that contains a comma is double-quoted."""

    name = "names"

    def convert(self, value, parameter, context):
        """Split the value of an option."""
        if not isinstance(value, str):
            return value
        names = next(csv.reader([value], skipinitialspace=True), [])
        return [name.strip() for name in names if name.strip()]


class Delimiter(click.ParamType):
    """One character, or its name."""

    name = "character"

    def convert(self, value, parameter, context):
        """Return the character with a name."""
        from sklearn_textbook.io.delimited import is_delimiter

        value = _DELIMITERS.get(value.lower(), value)
        if not is_delimiter(value):
            words = ", ".join(word for word in _DELIMITERS if word.isalpha())
            self.fail(
                f"{value!r} is neither an ASCII character (except quotes and line "
                f"breaks) nor one of {words}"
            )
        return value


class CommentMark(click.ParamType):
    """The text with which lines begin that are left out."""

    name = "mark"

    def convert(self, value, parameter, context):
        """Refuse blanks."""
        if not value.strip():
            self.fail("it is empty; give a text such as '#'")
        return value


class DecimalName(click.ParamType):
    """A decimal mark, or its name."""

    name = "mark"

    def convert(self, value, parameter, context):
        """Return the character with a name."""
        value = _DECIMAL_MARKS.get(value.lower(), value)
        if value not in _DECIMAL_MARKS.values():
            self.fail(f"{value!r} is neither point nor comma")
        return value


class DateFormat(click.ParamType):
    """A column and the format of its dates: column=%m/%d/%Y."""

    name = "column=format"

    def convert(self, value, parameter, context):
        """Split the name from the format."""
        if not isinstance(value, str):
            return value
        name, _, text = value.partition("=")
        if not name.strip() or not is_date_format(text.strip()):
            self.fail(
                f"{value!r} is not of the form column=format, as in sold=%m/%d/%Y, "
                "with the codes of Python's strptime"
            )
        return name.strip(), text.strip()


class MemorySize(click.ParamType):
    """A number of bytes, with a unit such as GiB."""

    name = "size"

    def convert(self, value, parameter, context):
        """Return the number of bytes."""
        from sklearn_textbook.io.memory_limits import read_memory_limit

        try:
            return read_memory_limit(value)
        except ValueError:
            self.fail(f"{value!r} is not a size such as 512MB or 1GiB")


class Count(click.IntRange):
    """An integer in a range, called so in messages and help."""

    name = "integer"


class KnownName(click.Choice):
    """One of several names; the error for a wrong one suggests the closest.

    Parameters
    ----------
    choices : sequence of str
        The names.
    listed : sequence of str, default=None
        Those that the error lists; None: all.
    """

    def __init__(self, choices, listed=None) -> None:
        super().__init__(choices)
        self.listed = choices if listed is None else listed

    def convert(self, value, parameter, context):
        """Check the value of an option."""
        if value not in self.choices:
            near = suggest_name(value, self.choices, cutoff=0.9)
            # "forest" of "random-forest"; "boosting-tree-regressor" of "boosting-tree".
            parts = [name for name in self.choices if name in value]
            parts += [name for name in self.choices if value and value in name]
            near = near or suggest_name([*parts, value][0], self.choices)
            question = f"; {near}" if near else "."
            names = ", ".join(self.listed)
            self.fail(f"{value!r} is unknown{question} Choose from {names}")
        return value


@dataclass(frozen=True)
class Call:
    """A value written as the call of a class, such as LossPruning(alpha=2).

    Parameters
    ----------
    name : str
        Name of the class.
    parameters : dict of str to object
        Its parameters, which may be calls themselves.
    """

    name: str
    parameters: dict


class Setting(click.ParamType):
    """A parameter of the algorithm and its value: name=value."""

    name = "name=value"

    def convert(self, value, parameter, context):
        """Split at the equals sign and read the value."""
        if not isinstance(value, str):
            return value
        name, equals, text = value.partition("=")
        if not equals or not name.strip():
            self.fail(f"{value!r} is not of the form name=value, as in max_depth=3")
        try:
            return name.strip(), read_literal(text.strip())
        except ValueError as error:
            self.fail(f"{value!r}: {error}")


class NamedMember(click.ParamType):
    """A member and its algorithm: name=algorithm, or the algorithm alone."""

    name = "name=algorithm"

    def __init__(self, algorithms) -> None:
        self.algorithms = KnownName(algorithms)

    def convert(self, value, parameter, context):
        """Split at the equals sign and check the algorithm."""
        if not isinstance(value, str):
            return value
        name, equals, algorithm = (word.strip() for word in value.partition("="))
        if not name or "__" in name:
            self.fail(f"{value!r} has no name, or a name with two underscores")
        algorithm = algorithm if equals else name
        return name, self.algorithms.convert(algorithm, parameter, context)


class MemberChoice(click.ParamType):
    """A member of an ensemble: its number, counted from 0, or its name."""

    name = "member"

    def convert(self, value, parameter, context):
        """Refuse negative numbers."""
        if value.startswith("-") and value[1:].isdecimal():
            self.fail(f"{value} is negative; members are counted from 0")
        return value


class OrderedLevels(click.ParamType):
    """A column and its levels from the lowest: column=low<mid<high."""

    name = "column=low<high"

    def convert(self, value, parameter, context):
        """Split the name from the levels, and the levels at ``<``."""
        if not isinstance(value, str):
            return value
        name, _, text = value.partition("=")
        levels = [level.strip() for level in text.split("<")]
        if not name.strip() or len(levels) < 2 or "" in levels:
            self.fail(
                f"{value!r} is not of the form column=low<high, as in "
                "'size=small<medium<large'"
            )
        if len(set(levels)) < len(levels):
            self.fail(f"{value!r} has a duplicate level")
        return name.strip(), levels


def read_literal(text: str) -> object:
    """Read the value of a parameter: a Python or JSON literal, else the text itself.

    Parameters
    ----------
    text : str
        Text after the equals sign.

    Returns
    -------
    value : object
        None, bool, number, text, list or dict; a `Call` if the text begins with a
        capital letter and is the call of a class with named parameters. Nothing is
        evaluated.

    Raises
    ------
    ValueError
        If the text is such a call with other parameters.

    Examples
    --------
    >>> from sklearn_textbook.cli.options import read_literal
    >>> read_literal("3"), read_literal("null"), read_literal("gini")
    (3, None, 'gini')
    >>> read_literal("LossPruning(alpha=2)")
    Call(name='LossPruning', parameters={'alpha': 2})
    """
    for read in (ast.literal_eval, json.loads):
        try:
            return read(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    if not re.fullmatch(r"[A-Z]\w*\(.*\)", text, re.DOTALL):
        return text
    try:
        return _read_call(text, ast.parse(text, mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(_CALL_REMEDY) from None


def _read_call(text, node):
    """Read a parameter of a call, or the call itself, from its syntax tree."""
    if not isinstance(node, ast.Call):
        return read_literal(ast.get_source_segment(text, node))
    is_named = all(keyword.arg for keyword in node.keywords)
    if not isinstance(node.func, ast.Name) or node.args or not is_named:
        raise ValueError(_CALL_REMEDY)
    parameters = {word.arg: _read_call(text, word.value) for word in node.keywords}
    return Call(node.func.id, parameters)


def flatten_names(groups) -> list:
    """Join the lists of a repeated option, each name once, in order."""
    return list(dict.fromkeys(name for group in groups for name in group))


def name_list_option(*declarations, help):  # noqa: A002 - click's name
    """Make an option for names, separated by commas or repeated."""

    def flatten(context, parameter, groups):
        return flatten_names(groups)

    return click.option(
        *declarations,
        type=NameList(),
        multiple=True,
        metavar="NAMES",
        callback=flatten,
        help=help,
    )


def common_options(command):
    """Add the options of all commands: --quiet and --debug."""

    def remember(context, parameter, value):
        if value:
            context.find_root().obj[parameter.name] = True

    flag = {"is_flag": True, "expose_value": False, "callback": remember}
    return _add_options(
        command,
        click.option("--debug", help="Show the traceback of an error.", **flag),
        click.option("-q", "--quiet", help="Show no progress bar.", **flag),
    )


def reading_options(command):
    """Add the options for how a table writes its values."""
    marks = " ".join(MISSING_MARKS)
    return _add_options(
        command,
        name_list_option(
            "--missing-marks",
            help=f"Texts that represent missing values, instead of {marks}; empty "
            "fields are always missing.",
        ),
        click.option(
            "--date",
            "dates",
            type=DateFormat(),
            multiple=True,
            metavar="COLUMN=FORMAT",
            help="Column of dates, and their format with the codes of Python's "
            "strptime, e.g. sold=%m/%d/%Y; repeatable. ISO dates need none.",
        ),
        click.option(
            "--decimal",
            type=DecimalName(),
            help="Decimal mark of numbers: point or comma. By default the point, or "
            "the comma in columns whose values show it, as 1,5 does.",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            help="Encoding of a text table. By default, UTF-8, UTF-16 with byte order "
            "mark, or Chinese GB18030, as detected.",
        ),
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether the first line contains the column names. By default it "
            "does, unless it contains a number; unnamed columns are column_1, "
            "column_2, ...",
        ),
        click.option(
            "--delimiter",
            type=Delimiter(),
            help="Separator of the values: a character, or comma, semicolon, tab, "
            "pipe, space. Detected by default, except for space.",
        ),
        click.option(
            "--comment",
            type=CommentMark(),
            metavar="MARK",
            help="Leave out lines of a csv file or rows of a sheet that begin with "
            "this text, e.g. '#'.",
        ),
        click.option(
            "--skip-lines",
            type=Count(min=0),
            default=0,
            metavar="N",
            help="Leave out the first N lines of a csv file or rows of a sheet, e.g. "
            "titles above the column names.",
        ),
        click.option(
            "--sheet",
            metavar="NAME",
            help="Sheet of an Excel file, by name or number, counted from 1; the first "
            "by default.",
        ),
    )


def _add_options(command, *options):
    for option in options:
        command = option(command)
    return command


target_option = click.option(
    "--target",
    metavar="COLUMN",
    help="Column to predict. Only C4.5 files declare it themselves.",
)


def _column_options(command):
    """Add the options that say what the columns are."""
    return _add_options(
        command,
        name_list_option(
            "--id",
            help="Identifiers: columns that are not used by the model; predict copies "
            "them to its output.",
        ),
        name_list_option("--drop", help="Columns to omit."),
        name_list_option(
            "--keep",
            help="Columns to keep even if they are constant, or text with a different "
            "value in each row.",
        ),
        click.option(
            "--weight", metavar="COLUMN", help="Column with the sample weights."
        ),
        click.option(
            "--ordinal",
            type=OrderedLevels(),
            multiple=True,
            metavar="COLUMN=LOW<HIGH",
            help="Column with ordered levels, and its levels in ascending order, e.g. "
            "'size=small<medium<large'; repeatable.",
        ),
        name_list_option(
            "--numeric",
            help="Columns to treat as numeric, also if their numbers have thousands "
            "separators and currency or percent signs.",
        ),
        name_list_option("--categorical", help="Columns to treat as categorical."),
    )


def copy_options(command):
    """Add the options for columns of a table that are copied to the output."""
    names = name_list_option(
        "--id", help="Columns to copy to the output, in addition to those of fit."
    )
    return names(
        click.option(
            "--all-columns",
            is_flag=True,
            help="Copy all columns of TABLE to the output; csv as it is written.",
        )(command)
    )


def robust_option(command):
    """Add the option of robust standard errors."""
    return click.option(
        "--robust",
        type=KnownName(["HC0", "HC1", "HC2", "HC3"]),
        metavar="KIND",
        help="Standard errors of a linear model that allow for different variances of "
        "the rows: HC0, HC1, HC2 or HC3.",
    )(command)


def table_options(command):
    """Add the options of how a table to learn from is laid out, and of its columns."""
    return _column_options(reading_options(command))


def training_options(command):
    """Add the options of commands that learn from a table, and how it is laid out."""
    return _add_options(
        table_options(command),
        click.option(
            "--cost",
            metavar="FILE",
            help="A .costs file of C5.0, with lines 'predicted class, true class: "
            "cost'. Trees are grown by costs, and the class with the least expected "
            "cost is predicted.",
        ),
        name_list_option(
            "--scoring",
            help=f"Scores to print: {', '.join(CLASS_SCORES)} for classes (by default "
            f"{', '.join(DEFAULT_CLASS_SCORES)}); {', '.join(NUMBER_SCORES)} for "
            f"numbers (by default {', '.join(DEFAULT_NUMBER_SCORES)}).",
        ),
        click.option(
            "--full",
            is_flag=True,
            help="Do not prune. By default, cart trees are pruned by cost complexity, "
            "with ten-fold cross-validation: for classes, to the least Gini risk; for "
            "numbers, by the one-standard-error rule.",
        ),
        click.option(
            "--jobs",
            type=Count(min=1),
            metavar="N",
            help="Number of threads; by default one per core.",
        ),
        click.option(
            "--trees",
            type=Count(min=1),
            metavar="N",
            help="Number of trees or rounds of an ensemble; by default, that of the "
            "algorithm.",
        ),
        click.option(
            "--seed",
            type=Count(min=0, max=2**32 - 1),
            default=0,
            show_default=True,
            help="Random seed for the folds and the algorithm.",
        ),
    )
