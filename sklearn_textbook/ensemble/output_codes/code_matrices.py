"""Coding matrices (编码矩阵): which classes each binary problem puts on either side.

A matrix has a row per class and a column per binary problem. +1 and -1 are the two
sides, and 0 leaves the rows of the class out.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from sklearn_textbook._contract.parameters import show_value

#: Columns per class of a random code, as many as there are different ones at most.
DEFAULT_CODE_SIZE = 1.5
#: Largest number of classes of an exhaustive code, which has 1023 columns then.
MOST_EXHAUSTIVE_CLASSES = 11
#: Random codes of which the one with the largest separations is taken.
N_DRAWS = 100
#: Draws that may fail for each of these.
N_TRIES = 100
#: A draw takes its columns from the list of all columns if there are at most this many
#: for each column that is drawn.
MOST_LISTED = 4
#: Number of rows whose distances are computed at a time.
BLOCK_ROWS = 1000


# ---------------------------------------------------------------------- separations
def compute_row_separation(matrix: np.ndarray) -> float:
    r"""Compute the smallest distance between the codewords of two classes.

    The distance of rows r and s is Allwein's, :math:`\sum_b (1 - M_{rb} M_{sb}) / 2`: a
    column in which both have the same sign adds 0, one with different signs 1, and one
    with a zero 1/2.
    """
    return _find_smallest_distance(np.asarray(matrix))


def compute_column_separation(matrix: np.ndarray) -> float:
    """Compute the smallest distance of two columns, or of one and the other negated."""
    columns = np.asarray(matrix).T
    if len(columns) == 1:
        return math.nan
    return _find_smallest_distance(columns, or_negated=True)


def _find_smallest_distance(rows, or_negated: bool = False):
    """Find the smallest distance of two rows, or of one and the other negated."""
    rows = rows.astype(np.float64)
    length, smallest = rows.shape[1], np.inf
    for first in range(0, len(rows), BLOCK_ROWS):
        block = rows[first : first + BLOCK_ROWS]
        distances = (length - block @ rows.T) / 2
        if or_negated:
            distances = np.minimum(distances, length - distances)
        distances[np.arange(len(block)), first + np.arange(len(block))] = np.inf
        smallest = min(smallest, float(distances.min()))
    return smallest


# ----------------------------------------------------------------------- fixed codes
def make_one_vs_rest(n_classes):
    """Separate each class from all others."""
    if n_classes == 2:
        return np.array([[-1], [1]], dtype=np.int8)
    return 2 * np.eye(n_classes, dtype=np.int8) - 1


def make_one_vs_one(n_classes):
    """Separate every pair of classes, without the other classes."""
    pairs = np.array(list(combinations(range(n_classes), 2)))
    matrix = np.zeros((n_classes, len(pairs)), dtype=np.int8)
    numbers = np.arange(len(pairs))
    matrix[pairs[:, 0], numbers] = -1
    matrix[pairs[:, 1], numbers] = 1
    return matrix


def make_exhaustive(n_classes):
    """List all divisions of the classes into two sides, in Dietterich's order."""
    if n_classes > MOST_EXHAUSTIVE_CLASSES:
        raise ValueError(
            f"code='exhaustive' allows at most {MOST_EXHAUSTIVE_CLASSES} classes; got "
            f"{n_classes} classes, which need {2 ** (n_classes - 1) - 1} columns. Use "
            "'dense_random' or 'bch'."
        )
    numbers = np.arange(2 ** (n_classes - 1) - 1)
    matrix = np.ones((n_classes, len(numbers)), dtype=np.int8)
    for row in range(1, n_classes):
        is_first = (numbers >> (n_classes - 1 - row)) % 2 == 0
        matrix[row, is_first] = -1
    return matrix


def make_bch(n_classes):
    """Take the codewords of the simplex code, which are equally far from each other."""
    length = 2 ** math.ceil(math.log2(n_classes))
    common = np.arange(n_classes)[:, np.newaxis] & np.arange(1, length)
    parity = np.zeros_like(common)
    while common.any():
        parity ^= common & 1
        common >>= 1
    return (2 * parity - 1).astype(np.int8)


# ---------------------------------------------------------------------- random codes
def draw_code(
    n_classes: int, code_size, random_state, *, is_sparse: bool
) -> np.ndarray:
    """Draw the best of several random codes."""
    n_columns = _count_columns(n_classes, code_size, is_sparse)
    random_state = check_random_state(random_state)
    draw = partial(_draw_columns, n_classes, n_columns, is_sparse)
    if _count_possible(n_classes, is_sparse) <= MOST_LISTED * n_columns:
        draw = partial(_draw_listed, _list_columns(n_classes, is_sparse), n_columns)
    elif not is_sparse and n_columns < 31:
        draw = partial(_draw_rows, n_classes, n_columns)
    cost = n_classes * n_columns * (n_classes + n_columns)
    n_draws = max(1, min(N_DRAWS, 10**8 // cost))
    best, largest, n_found = None, (), 0
    for _ in range(N_TRIES * n_draws):
        matrix = draw(random_state)
        if _find_fault(matrix) is not None or not _has_different_columns(matrix):
            continue
        separations = (
            compute_row_separation(matrix),
            (0.0 if n_columns == 1 else compute_column_separation(matrix)),
        )
        if best is None or separations > largest:
            best, largest = matrix, separations
        n_found += 1
        if n_found == n_draws:
            break
    if best is None:
        raise ValueError(
            f"No random code with {n_columns} columns for {n_classes} classes, with "
            "distinct rows and both signs in every column, was found in "
            f"{N_TRIES * n_draws} draws. Increase code_size={code_size!r}."
        )
    return best


def _count_columns(n_classes, code_size, is_sparse):
    """Count the columns of a random code, and refuse impossible counts."""
    possible = _count_possible(n_classes, is_sparse)
    if isinstance(code_size, str):
        return min(int(DEFAULT_CODE_SIZE * n_classes), possible)
    n_columns = int(code_size * n_classes)
    if n_columns > possible:
        raise ValueError(
            f"code_size must be 'auto' or at most {possible / n_classes:.6g} for "
            f"{n_classes} classes, since only {possible} columns are neither equal nor "
            f"complementary; got {code_size!r}, which gives {n_columns} columns."
        )
    least = math.ceil(math.log(n_classes, 3 if is_sparse else 2) - 1e-9)
    if n_columns < least:
        raise ValueError(
            f"code_size must be 'auto' or at least {least / n_classes:.6g} for "
            f"{n_classes} classes, since distinct rows need {least} columns; got "
            f"{code_size!r}, which gives {n_columns} columns."
        )
    return n_columns


def _count_possible(n_classes, is_sparse):
    """Count the columns with both signs, of which one and its negation are one."""
    if is_sparse:
        return (3**n_classes - 2 ** (n_classes + 1) + 1) // 2
    return 2 ** (n_classes - 1) - 1


def _list_columns(n_classes, is_sparse):
    """List these columns; shape (n_columns, n_classes)."""
    if not is_sparse:
        numbers = np.arange(1, 2 ** (n_classes - 1))
        bits = numbers[:, np.newaxis] >> np.arange(n_classes) & 1
        return (2 * bits - 1).astype(np.int8)
    columns = np.indices((3,) * n_classes, dtype=np.int8).reshape(n_classes, -1).T - 1
    return _drop_useless(columns)


def _drop_useless(columns):
    """Drop columns without both signs, and all but the first of equal ones."""
    columns = columns[(columns > 0).any(axis=1) & (columns < 0).any(axis=1)]
    _, places = np.unique(_orient(columns), axis=0, return_index=True)
    return columns[np.sort(places)]


def _orient(columns):
    """Negate columns whose first sign is -1."""
    first = np.argmax(columns != 0, axis=1)
    return columns * columns[np.arange(len(columns)), first][:, np.newaxis]


def _draw_listed(columns, n_columns, random_state):
    """Draw columns from a list without replacement, and their signs."""
    drawn = columns[random_state.permutation(len(columns))[:n_columns]]
    signs = 2 * random_state.randint(2, size=n_columns) - 1
    return (drawn * signs[:, np.newaxis]).T.astype(np.int8)


def _draw_rows(n_classes, n_columns, random_state):
    """Draw different rows of signs."""
    numbers = sample_without_replacement(
        2**n_columns, n_classes, random_state=random_state
    )
    bits = numbers[:, np.newaxis] >> np.arange(n_columns) & 1
    return (2 * bits - 1).astype(np.int8)


def _draw_columns(n_classes, n_columns, is_sparse, random_state):
    """Draw columns until there are enough different ones."""
    values, fractions = (
        ((-1, 0, 1), (0.25, 0.5, 0.25)) if is_sparse else ((-1, 1), None)
    )
    columns = np.empty((0, n_classes), dtype=np.int8)
    while len(columns) < n_columns:
        shape = (2 * n_columns, n_classes)
        more = random_state.choice(np.array(values, dtype=np.int8), shape, p=fractions)
        columns = _drop_useless(np.concatenate((columns, more)))
    return columns[:n_columns].T.copy()


def _has_different_columns(matrix):
    return _are_different(_orient(matrix.T))


def _are_different(rows):
    """Whether no two rows are equal."""
    return len({row.tobytes() for row in rows}) == len(rows)


# ----------------------------------------------------------------------- given codes
def read_code(code: ArrayLike, n_classes: int) -> np.ndarray:
    """Read a coding matrix of the user's."""
    try:
        matrix = np.asarray(code, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[0] != n_classes or not matrix.shape[1]:
        raise ValueError(
            f"The 'code' parameter must be a name or a matrix with {n_classes} rows, "
            "one per class, and one column per binary problem; got "
            f"{show_value(code)}."
        )
    is_wrong = ~np.isin(matrix, (-1, 0, 1))
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        raise ValueError(
            "The 'code' parameter must consist of -1, 0 and +1, or of 0 and 1; got "
            f"{matrix[row, column]:g} in row {row}, column {column}."
        )
    if matrix.min() >= 0:
        matrix = 2 * matrix - 1
    matrix = matrix.astype(np.int8)
    fault = _find_fault(matrix)
    if fault is not None:
        raise ValueError(f"The 'code' parameter {fault}")
    return matrix


def _find_fault(matrix):
    """Explain why members cannot learn a code, or why it does not separate classes."""
    lacks = ~((matrix > 0).any(axis=0) & (matrix < 0).any(axis=0))
    if lacks.any():
        column = int(np.argmax(lacks))
        return (
            f"must have classes on both sides in every column; column {column} is "
            f"{matrix[:, column].tolist()}."
        )
    is_empty = ~matrix.any(axis=1)
    if is_empty.any():
        return (
            "must have a nonzero entry in every row; row "
            f"{int(np.argmax(is_empty))} has none."
        )
    if _are_different(matrix):
        return None
    _, first, number = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    first_equal = first[number.reshape(-1)]
    row = int(np.argmax(first_equal < np.arange(len(matrix))))
    return (
        "must have a different row for every class; rows "
        f"{first_equal[row]} and {row} are equal."
    )


#: Codes that depend on the number of classes alone.
FIXED_CODES = {
    "one_vs_rest": make_one_vs_rest,
    "one_vs_one": make_one_vs_one,
    "exhaustive": make_exhaustive,
    "bch": make_bch,
}
#: Codes drawn by chance, and whether they have zeros.
RANDOM_CODES = {"dense_random": False, "sparse_random": True}


def make_code(
    code: str | ArrayLike, n_classes: int, code_size="auto", random_state=None
) -> np.ndarray:
    """Make a coding matrix by name, or read a given one."""
    if not isinstance(code, str):
        return read_code(code, n_classes)
    if code in FIXED_CODES:
        return FIXED_CODES[code](n_classes)
    is_sparse = RANDOM_CODES[code]
    return draw_code(n_classes, code_size, random_state, is_sparse=is_sparse)
