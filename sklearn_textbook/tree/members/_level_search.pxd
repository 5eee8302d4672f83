from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._types cimport Problem

# What one thread needs to divide the levels of a column by the errors of two leaves.
# The problem points to other fields of the struct, which must therefore stay where it
# was when start_level_search filled it in.
cdef struct LevelSearch:
    Problem problem
    Worker worker
    int64_t[2] output_start
    int64_t n_levels
    int32_t kind
    uint8_t is_smoothed
    uint8_t has_missing

cdef int start_level_search(
    LevelSearch* search, int64_t n_classes, int64_t most_levels, double smoothing
) noexcept nogil
cdef void free_level_search(LevelSearch* search) noexcept nogil
cdef double divide_summed_levels(
    LevelSearch* search, const double* sums, int64_t stride, const int64_t* n_rows,
    int64_t n_codes, bint has_missing, const double* totals, double design_effect,
    int8_t* child
) noexcept nogil
