from sklearn_textbook.tree.split._counted cimport Contest, CountedColumn
from sklearn_textbook.tree.split._types cimport Problem, int64_t, uint8_t, uint64_t

cdef void search_many_rows(
    const Problem* problem, Contest* contest, CountedColumn* columns,
    int64_t n_columns, const uint64_t* rows, int64_t n, uint64_t* keys,
    uint64_t* spare, uint8_t* is_open
) noexcept nogil
cdef void choose_bins(CountedColumn* column, int64_t n, int64_t most) noexcept nogil
cdef int64_t collect_rows(
    const CountedColumn* column, int64_t n, const uint8_t* is_open, uint64_t* keys
) noexcept nogil
