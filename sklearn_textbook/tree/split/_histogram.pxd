from sklearn_textbook.tree.split._counted cimport Contest, CountedColumn
from sklearn_textbook.tree.split._types cimport (
    Problem,
    int32_t,
    int64_t,
    uint8_t,
    uint64_t,
)

cdef int32_t choose_coarseness(int64_t n) noexcept nogil
cdef void choose_bins(CountedColumn* column, int64_t n) noexcept nogil
cdef void count_columns(
    const uint8_t* row_bins, int64_t width, const uint64_t* rows, int64_t n,
    CountedColumn** columns, int64_t n_columns, int32_t coarseness, bint is_far,
    uint8_t* tile_bins, uint64_t* tile
) noexcept nogil
cdef void count_codes(
    const CountedColumn* column, const uint64_t* rows, int64_t n, uint64_t* tile
) noexcept nogil
cdef int64_t add_up_bins(CountedColumn* column, const uint64_t* tile) noexcept nogil
cdef void find_edge(const Contest* contest, CountedColumn* column) noexcept nogil
cdef int64_t open_bins(
    const Contest* contest, const CountedColumn* column, double bound,
    double* excess, uint8_t* is_open
) noexcept nogil
cdef int64_t collect_coded_rows(
    const CountedColumn* column, int64_t n, const uint8_t* is_open, uint64_t* keys
) noexcept nogil
cdef int64_t collect_rows(
    const CountedColumn* column, int64_t n, const uint8_t* is_open, uint64_t* keys
) noexcept nogil
cdef void try_column(
    const Problem* problem, Contest* contest, const CountedColumn* column,
    int32_t place, const uint64_t* rows, const uint8_t* is_open, const uint64_t* keys
) noexcept nogil
