from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._class_bins cimport ClassColumn, ClassContest

cdef void find_edge(const ClassContest* contest, ClassColumn* column) noexcept nogil
cdef int64_t open_bins(
    const ClassContest* contest, const ClassColumn* column, double bound,
    uint8_t* is_open
) noexcept nogil
cdef void try_column(
    ClassContest* contest, const ClassColumn* column, int64_t place,
    const uint8_t* is_open, const int64_t* first_key, uint64_t* keys, uint64_t* spare,
    int64_t* left, int64_t* right
) noexcept nogil
