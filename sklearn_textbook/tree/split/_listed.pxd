# What a node knows of its rows where they are a list: in the order of the list, so that
# it stands beside the codes of a column.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sklearn_textbook.tree.split._sums cimport COUNT_BITS
from sklearn_textbook.tree.split._types cimport NodeView

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

cdef inline uint32_t number_of(uint64_t row) noexcept nogil:
    return <uint32_t>row

cdef inline uint64_t counts_of(uint64_t row) noexcept nogil:
    return (
        <uint64_t>1 << (2 * COUNT_BITS)
        | (row >> 48) << COUNT_BITS
        | ((row >> 32) & 0xFFFF)
    )

cdef inline int64_t class_of(uint64_t row) noexcept nogil:
    return <int64_t>((row >> 32) & 0xFFFF)

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

cdef void centre_values(
    const double* y, NodeView* view, ListedRows* listed
) noexcept nogil
