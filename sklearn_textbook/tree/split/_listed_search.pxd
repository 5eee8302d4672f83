# The search for the best threshold in a list of rows, whatever is counted of them.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._listed cimport (
    Division,
    ListedColumn,
    ListedRows,
)
from sklearn_textbook.tree.split._types cimport NodeView, Problem, Scratch

# What decides between the candidates of a node. Candidates have a *value*, which grows
# with the decrease of impurity.
cdef struct ListContest:
    const Problem* problem
    const ListedRows* listed
    Scratch* scratch
    Division* division
    # rows in child 0 that leave enough on both sides
    int64_t lowest
    int64_t highest
    double n  # weight
    double margin  # by how much a score must be larger to be better
    double bound  # value that a candidate must exceed
    double slack  # difference of values that an order of candidates may hang on
    double worth  # score of a unit of value
    double total  # squared error: residuals in all
    # classes: weights in all, and what has to be taken from a value for the score
    const double* totals
    double base
    int64_t whole_base
    int64_t bin_words  # numbers of 64 bits that a bin has
    int64_t most_bins

# What a criterion counts, and how it judges that. Entry b + 1 of a column's bins has
# the rows of bin b after ``count``, and all rows up to its end after ``add_up``. Where
# only few rows are searched, all but ``walk`` may be NULL.
cdef struct Kernel:
    void (*count)(const ListContest*, ListedColumn*) noexcept nogil
    void (*add_up)(const ListContest*, ListedColumn*) noexcept nogil
    # whether a division inside a bin may exceed a value
    bint (*may_hold_better)(
        const ListContest*, const ListedColumn*, int64_t, double
    ) noexcept nogil
    # try the divisions between sorted rows; all of bins below the given one, if it is
    # not negative, lie on the left
    void (*walk)(
        ListContest*, ListedColumn*, const uint64_t*, int64_t, int64_t
    ) noexcept nogil
    # try the division above a bin
    void (*try_end)(ListContest*, ListedColumn*, int64_t) noexcept nogil

cdef inline uint64_t* bin_of(
    const ListContest* contest, const ListedColumn* column, int64_t b
) noexcept nogil:
    return column.bins + b * contest.bin_words

cdef inline int64_t rows_of(uint64_t counts) noexcept nogil:
    """Number of rows where they have 32 bits."""
    return <int64_t>(counts >> 32)

cdef inline double weight_of(uint64_t counts) noexcept nogil:
    return <double><uint32_t>counts

cdef void take_division(
    ListContest* contest, ListedColumn* column, double score, uint64_t counts,
    uint32_t code
) noexcept nogil
cdef void search_list(
    const Kernel* kernel, ListContest* contest, ListedColumn* columns,
    int64_t n_columns, uint64_t* keys, uint64_t* spare, uint8_t* is_open
) noexcept nogil
