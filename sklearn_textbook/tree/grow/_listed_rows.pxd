from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._row_list cimport Draw, RowList
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._class_bins cimport ClassBins
from sklearn_textbook.tree.split._listed cimport (
    Division,
    ListedColumn,
    ListedRows,
)
from sklearn_textbook.tree.split._types cimport Problem
from sklearn_textbook.tree.split._value_bins cimport Amount, ValueColumn

cdef enum:
    FLAG_ROWS = 64  # flags of rows that are read in one step

# The rows of a tree as one list, in which those of a node stand together, and the cells
# of the whole table; see _listed.pxd for what an entry holds.
cdef struct ListedTable:
    uint64_t* rows
    int64_t n_rows
    # codes of the whole table, 1, 2 or 4 bytes wide: column by column, row by row
    int64_t n_table_rows
    int64_t n_columns
    int32_t code_size
    const void* codes
    const void* row_codes
    const double* y  # regression: of all rows of the table
    # the same for the rows of one subtree, by their numbers in it; codes row by row
    int64_t local_rows
    bint is_local  # whether those are in use
    uint32_t* local_codes
    double* local_y
    # room for the node at hand
    ListedRows listed
    uint8_t* goes_left
    uint64_t* spare
    ListedColumn* columns
    uint32_t* gathered
    uint64_t* keys
    uint8_t* is_open
    RowList coded  # bins of all columns, as of two classes
    ClassBins class_bins  # classes: room for what they hold
    # values: the same
    ValueColumn* value_columns
    Amount* amounts  # of the rows
    Amount* value_bins
    double* value_sums
    Amount* tile
    uint8_t* tile_bins  # of the rows, in columns that are counted together

cdef int start_listed_table(
    const Problem* problem, ListedTable* table, int64_t n_rows
) noexcept nogil
cdef void free_listed_table(ListedTable* table) noexcept nogil
cdef void make_local(
    const Problem* problem, ListedTable* table, const Frame* frame
) noexcept nogil
cdef void note_column(
    Worker* worker, int32_t number, bint varies, Draw* draw
) noexcept nogil
cdef bint gather_codes(
    const ListedTable* table, const Frame* frame, int64_t number, ListedColumn* column
) noexcept nogil
cdef int64_t draw_columns(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame
) noexcept nogil
cdef void find_neighbours(
    const ListedColumn* column, int64_t n, uint32_t cut, uint32_t* below,
    uint32_t* above
) noexcept nogil
cdef void mark_rows(
    ListedTable* table, int64_t n, const Division* division
) noexcept nogil
cdef void divide_rows(ListedTable* table, const Frame* frame) noexcept nogil
