# What a node knows of its rows where they are a list: in the order of the list, so that
# it stands beside the codes of a column.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sklearn_textbook.tree.split._counted cimport COUNT_BITS, rows_in, weight_in
from sklearn_textbook.tree.split._types cimport NodeView, Split

# One row of a node: its weight (16 bits), 16 bits more, its number (32). What the 16
# bits more mean:
cdef enum ListKind:
    LISTED_TWO_CLASSES = 0  # the part of the weight in the second class
    LISTED_CLASSES = 1  # the class
    LISTED_VALUES = 2  # nothing: y stands in an array of its own

cdef struct ListedRows:
    int32_t kind
    int64_t n
    const uint64_t* rows
    # two classes: rows, weight and weight of the second class, as counts_of; else rows
    # and weight, 32 bits each
    uint64_t* counts
    # values: y, and weight * (y - centre of the node) in whole units
    double* y
    int64_t* residuals
    int64_t total
    double unit

# The codes of the node's rows in one column.
cdef struct ListedColumn:
    uint32_t* codes
    uint32_t smallest
    uint32_t largest

# The best division so far.
cdef struct Division:
    Split best
    uint64_t counts  # of child 0, as those of the rows
    int64_t sum  # values: its residuals
    const double* left  # classes: their weights in it, if they are known
    # what divides the rows: those with codes up to the cut go to child 0
    const ListedColumn* column
    uint32_t cut  # rows with codes up to this one go to child 0
    # whether the cut lies between two rows that are next to each other: then it is the
    # code of the one, and above that of the other
    bint is_between
    uint32_t above

cdef inline uint32_t number_of(uint64_t row) noexcept nogil:
    return <uint32_t>row

cdef inline uint64_t counts_of(uint64_t row) noexcept nogil:
    return (
        <uint64_t>1 << (2 * COUNT_BITS)
        | (row >> 48) << COUNT_BITS
        | ((row >> 32) & 0xFFFF)
    )

cdef inline uint64_t rows_and_weight(uint64_t row) noexcept nogil:
    return <uint64_t>1 << 32 | row >> 48

cdef inline int64_t class_of(uint64_t row) noexcept nogil:
    return <int64_t>((row >> 32) & 0xFFFF)

cdef inline int64_t listed_rows(int32_t kind, uint64_t counts) noexcept nogil:
    """Number of rows in a sum of ``ListedRows.counts``."""
    if kind == LISTED_TWO_CLASSES:
        return rows_in(counts)
    return <int64_t>(counts >> 32)

cdef inline int64_t listed_weight(int32_t kind, uint64_t counts) noexcept nogil:
    if kind == LISTED_TWO_CLASSES:
        return weight_in(counts)
    return <int64_t><uint32_t>counts

cdef inline int64_t exponent_of(double x) noexcept nogil:
    """The smallest e with x < 2^e, from the bits of x >= 0; nodes of two or three rows
    are too many for ``frexp``."""
    cdef int64_t bits
    memcpy(&bits, &x, sizeof(double))
    return (bits >> 52) - 1022

cdef inline double power_of_two(int64_t e) noexcept nogil:
    """2^e for -1022 <= e <= 1023."""
    cdef:
        int64_t bits = (e + 1023) << 52
        double x
    memcpy(&x, &bits, sizeof(double))
    return x

cdef void clear_division(Division* division) noexcept nogil
cdef void count_rows(ListedRows* listed) noexcept nogil
cdef void centre_values(
    const double* y, NodeView* view, ListedRows* listed
) noexcept nogil
