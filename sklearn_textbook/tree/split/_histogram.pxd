from sklearn_textbook.tree.split._counted cimport Contest, CountedColumn
from sklearn_textbook.tree.split._types cimport Problem, int64_t, uint8_t, uint64_t

cdef void search_many_rows(
    const Problem* problem, Contest* contest, CountedColumn* columns,
    int64_t n_columns, const uint64_t* rows, int64_t n, uint64_t* keys,
    uint64_t* spare, uint8_t* is_open
) noexcept nogil
