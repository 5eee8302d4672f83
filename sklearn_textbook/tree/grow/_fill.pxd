from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.grow._workers cimport Arena
from sklearn_textbook.tree.split._types cimport Codes, Entry, Problem

cdef void fill_column(
    const uint32_t* order, int64_t n_rows, int64_t n_missing,
    const uint32_t* row_number, const uint8_t* second_class, Entry* entries
) noexcept nogil
cdef void list_rows(
    int64_t n_rows, const int32_t* label, const uint8_t* second_class, Entry* entries
) noexcept nogil
cdef void copy_list(
    const uint64_t* cells, int64_t n, uint32_t* entries
) noexcept nogil
cdef void copy_codes(
    const Codes* codes, int64_t column, const uint64_t* cells, int64_t n, Arena* arena
) noexcept nogil
cdef void quantise(
    const double* y, int64_t n, int64_t* fixed, double* unit
) noexcept nogil
cdef void copy_rows(
    const Problem* problem, const Arena* table, const Entry* cells, int64_t n,
    const double* row_weight, uint32_t* local_number, Arena* arena
) noexcept nogil
cdef void measure_spacing(
    const Problem* problem, Arena* arena, int64_t column, const uint32_t* ranks,
    int64_t n_ranks, int64_t n_present
) noexcept nogil
cdef int64_t copy_column(
    const uint64_t* cells, int64_t n, const uint32_t* local_number,
    uint32_t* entries, uint32_t* ranks
) noexcept nogil
