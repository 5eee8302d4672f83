from sklearn_textbook.tree.split._types cimport (
    Entry,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
)

cdef void scan_entropy(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil
cdef void scan_binary_entropy(
    const Problem* problem, const Entry* entries, const Pass* scan, Split* best
) noexcept nogil
