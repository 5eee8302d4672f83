"""Reading of packaged csv files, common to all loaders."""

import csv
from dataclasses import dataclass, field
from importlib import resources

import numpy as np
from sklearn.utils import Bunch

DATA_MODULE = "sklearn_textbook.datasets.data"
NUMERIC, ORDINAL, NOMINAL = "numeric", "ordinal", "nominal"


@dataclass(frozen=True)
class BookColumn:
    """One printed column: its names, its kind and its levels in the book's order.

    ``levels`` maps each printed value to its English name. ``parse`` turns the text of
    a cell into a value.
    """

    name: str
    english: str
    kind: str = NOMINAL
    levels: dict = field(default_factory=dict)
    parse: type = str

    def get_name(self, language):
        return self.english if language == "en" else self.name

    def get_levels(self, language) -> list:
        return list(self.levels.values() if language == "en" else self.levels)

    def read_cells(self, cells, language):
        """Return the cells as values; an empty cell becomes None (numeric: NaN)."""
        if self.kind == NUMERIC:
            return [float(cell) if cell else float("nan") for cell in cells]
        values = [self.parse(cell) if cell else None for cell in cells]
        unknown = {value for value in values if value is not None} - set(self.levels)
        if unknown:
            raise ValueError(f"column {self.name} has undeclared levels {unknown}")
        if language == "en":
            values = [None if value is None else self.levels[value] for value in values]
        return values


def nominal_column(name, *levels):
    """Declare a nominal column that is in English."""
    return BookColumn(name, name, levels={level: level for level in levels})


def numeric_column(name):
    """Declare a numeric column that is in English."""
    return BookColumn(name, name, NUMERIC)


@dataclass(frozen=True)
class BookTable:
    """A packaged table: its file, its feature columns, its target, its description."""

    filename: str
    columns: tuple
    target: BookColumn | None
    description: str
    id_column: str | None = None


def check_choice(name, value, allowed) -> None:
    """Raise ValueError if a parameter is not one of the allowed values."""
    if value not in allowed:
        choices = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{name} must be one of {choices}; got {value!r}")


def import_pandas(function_name):
    """Import pandas, which only ``as_frame=True`` needs."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"{function_name} with as_frame=True requires pandas; install pandas or "
            "use as_frame=False"
        ) from error
    return pandas


def read_columns(filename):
    """Return a packaged csv file as a dict from column name to list of texts."""
    path = resources.files(DATA_MODULE) / filename
    with path.open(encoding="utf-8", newline="") as lines:
        header, *rows = list(csv.reader(lines))
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def _build_array(columns, values):
    """One float array if every value is a number, else one object array."""
    is_number = all(column.kind == NUMERIC or column.parse is int for column in columns)
    data = np.empty(
        (len(values[0]), len(columns)), dtype=float if is_number else object
    )
    for i, column_values in enumerate(values):
        data[:, i] = column_values
    return data


def _build_target(column, values):
    if column.kind == NUMERIC:
        return np.array(values, dtype=np.float64)
    return np.array(values)


def _build_series(pandas, column, values, language):
    name = column.get_name(language)
    if column.kind == NUMERIC:
        return pandas.Series(values, name=name, dtype="float64")
    categories = pandas.Categorical(
        values,
        categories=column.get_levels(language),
        ordered=column.kind == ORDINAL,
    )
    return pandas.Series(categories, name=name)


def load_table(table, *, language, return_X_y, as_frame, function_name, **extra):
    """Read a BookTable and return a Bunch, or ``(X, y)``.

    ``extra`` are further entries of the Bunch.
    """
    check_choice("language", language, ("zh", "en"))
    cells = read_columns(table.filename)
    columns = table.columns
    values = [column.read_cells(cells[column.name], language) for column in columns]
    target_column = table.target
    target_values = target_column.read_cells(cells[target_column.name], language)
    frame = None
    if as_frame:
        pandas = import_pandas(function_name)
        series = [
            _build_series(pandas, column, column_values, language)
            for column, column_values in zip(columns, values, strict=True)
        ]
        target = _build_series(pandas, target_column, target_values, language)
        if target_column.parse is int:  # labels 1 and -1 stay plain numbers
            target = target.astype("int64")
        frame = pandas.concat([*series, target], axis=1)
        data = frame.iloc[:, : len(columns)]
    else:
        data = _build_array(columns, values)
        target = _build_target(target_column, target_values)
    if return_X_y:
        return data, target
    if target_column.levels:
        extra["target_names"] = np.array(target_column.get_levels(language))
    if table.id_column is not None:
        extra["sample_ids"] = np.array(cells[table.id_column], dtype=np.int64)
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=[column.get_name(language) for column in columns],
        DESCR=table.description,
        filename=table.filename,
        data_module=DATA_MODULE,
        **extra,
    )


def load_matrix(table, *, language: str = "zh", as_frame, function_name, **extra):
    """Read a BookTable without target, all numbers, and return a Bunch."""
    check_choice("language", language, ("zh", "en"))
    cells = read_columns(table.filename)
    columns = table.columns or tuple(
        BookColumn(name, name, NUMERIC) for name in cells if name != table.id_column
    )
    values = [column.read_cells(cells[column.name], language) for column in columns]
    feature_names = [column.get_name(language) for column in columns]
    data = _build_array(columns, values)
    frame = None
    if as_frame:
        pandas = import_pandas(function_name)
        data = frame = pandas.DataFrame(data, columns=feature_names)
    return Bunch(
        data=data,
        frame=frame,
        feature_names=feature_names,
        DESCR=table.description,
        filename=table.filename,
        data_module=DATA_MODULE,
        **extra,
    )
