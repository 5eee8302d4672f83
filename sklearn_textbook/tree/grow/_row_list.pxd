from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._counted cimport CountedColumn
from sklearn_textbook.tree.split._types cimport Problem

cdef enum:
    BLOCK_ROWS = 16  # of any width they fill whole vector units

# The codes of a column in some set of rows, and how they are put into bins:
# (code - smallest) >> shift is the number of the bin, below MOST_BINS.
cdef struct Span:
    uint32_t smallest
    uint32_t largest
    int32_t shift

# The codes of the whole table. They are 1, 2 or 4 bytes wide.
cdef struct CodedTable:
    int64_t n_columns
    int64_t n_rows
    int32_t code_size
    const void* codes  # column by column
    const void* row_codes  # row by row
    const uint8_t* row_bins  # row by row
    const Span* spans  # of every column

# The rows of a tree as one list, in which those of a node stand together; see
# _counted.pxd for what an entry holds.
cdef struct RowList:
    CodedTable table
    uint64_t* rows
    int64_t n_rows  # that there is room for
    # codes and bins of the rows of one subtree, row by row, by their numbers in it
    void* local_codes
    uint8_t* local_bins
    Span* local_spans
    # smallest and largest bin of each column in the subtree, at the front
    uint8_t* smallest
    uint8_t* largest
    int64_t local_rows
    bint is_local  # whether those are in use
    # room for the node at hand
    CountedColumn* columns
    uint32_t* gathered
    uint64_t* bins
    double* sums
    uint8_t* tile_bins
    uint64_t* tile
    uint64_t* keys
    int64_t n_keys
    int32_t keys_place  # which of the columns they are of
    uint64_t* spare
    uint8_t* is_open

# Columns being drawn for a node.
cdef struct Draw:
    uint64_t random_state
    int64_t place  # of the next column
    int64_t n_drawn
    int64_t n_found  # that are not constant
    int64_t n_waiting  # to be told whether they are
    bint any_constant

cdef int start_row_list(
    const Problem* problem, RowList* row_list, int64_t n_rows
) noexcept nogil
cdef void free_row_list(RowList* row_list) noexcept nogil
cdef void find_extremes(RowList* row_list, int64_t n) noexcept nogil
cdef void refine_wide_bins(RowList* row_list, int64_t n) noexcept nogil
cdef void make_local(RowList* row_list, const Frame* frame) noexcept nogil
cdef void gather_codes(
    const RowList* row_list, const Frame* frame, CountedColumn* column
) noexcept nogil
cdef bint find_range(CountedColumn* column, int64_t n) noexcept nogil
cdef void add_codes(
    const RowList* row_list, const Frame* frame, const CountedColumn* column,
    uint64_t* keys, int64_t n
) noexcept nogil
cdef void start_draw(
    const Problem* problem, Worker* worker, const Frame* frame, Draw* draw
) noexcept nogil
cdef int32_t draw_number(
    const Problem* problem, Worker* worker, Draw* draw
) noexcept nogil
cdef int32_t draw_column(
    const Problem* problem, const RowList* row_list, Worker* worker, const Frame* frame,
    Draw* draw, CountedColumn* column
) noexcept nogil
cdef void finish_draw(Worker* worker, Frame* frame, const Draw* draw) noexcept nogil
cdef int64_t draw_columns(
    const Problem* problem, RowList* row_list, Worker* worker, Frame* frame
) noexcept nogil
cdef void find_neighbours(
    const CountedColumn* column, int64_t n, uint32_t cut, uint32_t* below,
    uint32_t* above
) noexcept nogil
cdef void divide_rows(
    RowList* row_list, const Frame* frame, const CountedColumn* column, uint32_t cut
) noexcept nogil
cdef void divide_by_bins(
    RowList* row_list, const Frame* frame, const CountedColumn* column, int64_t limit
) noexcept nogil
