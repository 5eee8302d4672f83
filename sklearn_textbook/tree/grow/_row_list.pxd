from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._counted cimport CountedColumn
from sklearn_textbook.tree.split._types cimport Problem

# The rows of a tree as one list, in which those of a node stand together, and the
# codes of the whole table; see _counted.pxd for what an entry holds.
cdef struct RowList:
    uint64_t* rows
    int64_t n_rows
    const uint32_t* codes  # of the table: stride codes per column
    int64_t stride
    # codes of the rows of one subtree, by their numbers in it
    uint32_t* local_codes
    int64_t local_rows
    bint is_local  # whether those are in use
    # room for the node at hand
    CountedColumn* columns
    uint32_t* gathered
    uint64_t* bins
    double* sums
    uint64_t* keys
    uint64_t* spare
    uint8_t* is_open

cdef int start_row_list(
    const Problem* problem, RowList* row_list, int64_t n_rows
) noexcept nogil
cdef void free_row_list(RowList* row_list) noexcept nogil
cdef void make_local(
    RowList* row_list, const Frame* frame, const int32_t* active
) noexcept nogil
cdef int64_t draw_columns(
    const Problem* problem, RowList* row_list, Worker* worker, Frame* frame
) noexcept nogil
cdef void divide_rows(
    RowList* row_list, const Frame* frame, const CountedColumn* column, uint32_t cut,
    bint moves, uint32_t* below, uint32_t* above
) noexcept nogil
