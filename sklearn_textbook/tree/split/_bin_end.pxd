# A threshold drawn at random inside of a bin, whose rows count as its smallest value.

from libc.stdint cimport int64_t

from sklearn_textbook.tree.split._types cimport Problem

cdef inline double leave_bin(
    const Problem* problem, int64_t column, double threshold
) noexcept nogil:
    # Moved to the upper end of the bin, so that all its values go where its rows went.
    cdef:
        const double* values = problem.values + column * problem.values_stride
        int64_t low = 0, high = problem.n_distinct[column], middle
        double end
    if problem.upper_values == problem.values:
        return threshold
    # Find the first bin that is all above the threshold; the one before it is meant.
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= threshold:
            low = middle + 1
        else:
            high = middle
    end = problem.upper_values[column * problem.values_stride + low - 1]
    return end if end > threshold else threshold
