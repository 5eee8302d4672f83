# Rows of two classes with whole weights, and what may be counted of them at once.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._types cimport NodeView, Problem, Split

# Counts of a set of rows: rows, weight, weight of the second class, 21 bits each. One
# addition counts a row; sums of counts are counts, whatever their order.
#
# One row of a node: its counts, of which that of rows takes one bit, and above them its
# number (21 bits).

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define FETCH_EARLY(address) __builtin_prefetch(address)
    #else
    #define FETCH_EARLY(address) ((void)(address))
    #endif
    """
    void FETCH_EARLY(const void*) noexcept nogil

cdef enum:
    COUNT_BITS = 21
    COUNT_MASK = 0x1FFFFF
    NUMBER_BITS = 43  # below the number of a row
    MOST_BINS = 256  # a bin's number fits into a byte
    TILE_COLUMNS = 4  # columns that are counted in one pass
    FETCH_AHEAD = 16  # rows that are on their way from memory at a time
    FEW_ROWS = 64  # nodes up to this size are sorted; keys have 6 bits for them

# A column that is tried in the node at hand.
cdef struct CountedColumn:
    int32_t number
    # codes of the node's rows in the order of their list, if they are gathered, and
    # the smallest and largest of them
    bint is_gathered
    uint32_t* codes
    uint32_t lowest
    uint32_t highest
    # (code - smallest) >> shift is the number of a bin
    uint32_t smallest
    uint32_t largest
    int32_t shift
    int64_t n_bins
    # bins of the node's rows, TILE_COLUMNS apart; not where the codes are gathered
    uint8_t* row_bins
    # of all rows below a bin; one more entry for those up to the end of the last
    uint64_t* bins  # counts
    double* ones  # weight of the second class
    double* cross  # d, see scan_binary
    double* area  # k (n - k)
    double* scores  # d^2 / (k (n - k))
    double edge  # the largest score between two bins

# What decides between the candidates of a node.
cdef struct Contest:
    double n  # weight
    double t  # weight of the second class
    double margin
    # rows in child 0 that leave enough on both sides
    int64_t lowest
    int64_t highest
    double bound  # what d^2 / (k (n - k)) must exceed
    Split best
    int32_t place  # which of the columns is the best
    # rows with codes up to the cut go to child 0; if it lies between two rows that are
    # next to each other, the cut is the code of the one, and above that of the other
    uint32_t cut
    uint32_t above
    bint is_between
    uint64_t counts  # of child 0

cdef inline uint64_t make_row(
    int64_t number, int64_t weight, int64_t ones
) noexcept nogil:
    return (
        <uint64_t>number << NUMBER_BITS
        | <uint64_t>1 << (2 * COUNT_BITS)
        | <uint64_t>weight << COUNT_BITS
        | <uint64_t>ones
    )

cdef inline int64_t number_of(uint64_t row) noexcept nogil:
    return <int64_t>(row >> NUMBER_BITS)

cdef inline uint64_t counts_of(uint64_t row) noexcept nogil:
    return row & ((<uint64_t>1 << NUMBER_BITS) - 1)

cdef inline int64_t rows_in(uint64_t counts) noexcept nogil:
    return <int64_t>(counts >> (2 * COUNT_BITS))

cdef inline int64_t weight_in(uint64_t counts) noexcept nogil:
    return <int64_t>((counts >> COUNT_BITS) & COUNT_MASK)

cdef inline int64_t ones_in(uint64_t counts) noexcept nogil:
    return <int64_t>(counts & COUNT_MASK)

cdef inline bint reaches(
    double ones, double weight, double n, double t, double bound
) noexcept nogil:
    """Whether a division with this on the left scores more than the bound; see
    ``scan_binary``."""
    cdef double d = ones * n - t * weight
    return d * d > bound * (weight * (n - weight))

cdef void start_contest(
    const Problem* problem, const NodeView* view, Contest* contest
) noexcept nogil
cdef void try_division(
    const Problem* problem, Contest* contest, int32_t place, uint64_t counts,
    uint32_t cut, uint32_t above, bint is_between
) noexcept nogil
cdef void walk_up(
    const Problem* problem, Contest* contest, int32_t place, uint32_t smallest,
    const uint64_t* keys, int64_t n, const uint64_t* rows, uint64_t counts
) noexcept nogil
cdef void sort_keys(
    uint64_t* keys, int64_t n, uint64_t* spare, uint32_t width
) noexcept nogil
cdef void search_few_rows(
    const Problem* problem, Contest* contest, const CountedColumn* column,
    int32_t place, const uint64_t* rows, int64_t n, uint64_t* keys
) noexcept nogil
