from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._counted cimport CountedColumn
from sklearn_textbook.tree.split._drawn_cut cimport DrawnColumn
from sklearn_textbook.tree.split._listed cimport Division, ListedRows
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
    int64_t bin_words  # numbers of 64 bits in each of the bins
    int64_t most_bins
    # the rows of the node at hand, but for two classes that are divided by Gini
    ListedRows listed
    double* y  # regression: of all rows of the table
    double* local_y
    uint8_t* goes_left  # rows of the node at hand
    # thresholds drawn at random: values of every row of the table, and those of the
    # rows of one subtree, by columns
    const double* values
    double* local_values
    DrawnColumn[2] drawn  # the column at hand and the best one
    double* drawn_cells

# Columns being drawn for a node.
cdef struct Draw:
    uint64_t random_state
    int64_t place  # of the next column
    int64_t n_drawn
    int64_t most  # columns that are tried
    int64_t n_found
    bint any_constant

cdef int start_row_list(
    const Problem* problem, RowList* row_list, int64_t n_rows
) noexcept nogil
cdef void free_row_list(RowList* row_list) noexcept nogil
cdef void make_local(
    const Problem* problem, RowList* row_list, const Frame* frame,
    const int32_t* active
) noexcept nogil
cdef void start_draw(
    const Problem* problem, Worker* worker, const Frame* frame, Draw* draw
) noexcept nogil
cdef int32_t draw_column(
    const Problem* problem, const Worker* worker, Draw* draw
) noexcept nogil
cdef void note_column(
    Worker* worker, int32_t number, bint varies, Draw* draw
) noexcept nogil
cdef bint gather_codes(
    const RowList* row_list, const Frame* frame, int64_t number, CountedColumn* column
) noexcept nogil
cdef bint gather_cells(
    const Problem* problem, RowList* row_list, const Frame* frame, int64_t number,
    int64_t place
) noexcept nogil
cdef void finish_draw(Worker* worker, Frame* frame, const Draw* draw) noexcept nogil
cdef int64_t draw_columns(
    const Problem* problem, RowList* row_list, Worker* worker, Frame* frame
) noexcept nogil
cdef void find_neighbours(
    const CountedColumn* column, int64_t n, uint32_t cut, uint32_t* below,
    uint32_t* above
) noexcept nogil
cdef void mark_rows(
    RowList* row_list, int64_t n, const Division* division
) noexcept nogil
cdef void divide_rows(RowList* row_list, const Frame* frame) noexcept nogil
