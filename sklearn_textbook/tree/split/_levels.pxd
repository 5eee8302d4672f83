from libc.stdint cimport int64_t

from sklearn_textbook.tree.split._types cimport (
    Codes,
    Entry,
    NodeView,
    Problem,
    Rows,
    Scratch,
    Totals,
)

cdef enum:
    ALL_LEVELS = -1
    MOST_LISTED_CLASSES = 0xFFFF  # that the rank of a small entry can hold

cdef bint is_one_level(
    const Codes* codes, int64_t column, const Entry* rows_of_node, int64_t n
) noexcept nogil
cdef int64_t count_levels(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    int64_t column, const Entry* rows_of_node, int64_t n
) noexcept nogil
cdef int64_t sum_levels(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    int64_t column, const Entry* rows_of_node, const NodeView* node, Totals* known
) noexcept nogil
