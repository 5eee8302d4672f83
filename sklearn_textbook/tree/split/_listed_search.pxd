# The search for the best threshold in a list of few rows, whatever is counted of them.

from libc.stdint cimport int64_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._listed cimport (
    Division,
    ListedColumn,
    ListedRows,
)
from sklearn_textbook.tree.split._types cimport Problem, Scratch

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
    double worth  # score of a unit of value
    double total  # squared error: residuals in all
    # classes: weights in all, and what has to be taken from a value for the score
    const double* totals
    double base
    int64_t whole_base

# How a criterion tries the divisions between sorted rows.
ctypedef void (*Walk)(
    ListContest*, ListedColumn*, const uint64_t*, int64_t
) noexcept nogil

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
    Walk walk, ListContest* contest, ListedColumn* columns, int64_t n_columns,
    uint64_t* keys
) noexcept nogil
