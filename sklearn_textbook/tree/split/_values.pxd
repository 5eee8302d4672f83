from sklearn_textbook.tree.split._types cimport Entry, Pass, Problem, Rows, Split

cdef void scan_values(
    const Problem* problem, const Rows* rows, const Entry* entries,
    const Pass* scan, Split* best
) noexcept nogil
