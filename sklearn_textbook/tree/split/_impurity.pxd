from libc.stdint cimport int64_t

from sklearn_textbook.tree.split._types cimport Problem

cdef double goodness(
    const Problem* problem, const double* sums, double weight
) noexcept nogil
cdef double class_impurity(
    const Problem* problem, const double* sums, double weight
) noexcept nogil
cdef bint lacks_events(
    const Problem* problem, const double* left, const double* right
) noexcept nogil
