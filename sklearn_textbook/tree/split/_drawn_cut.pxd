from sklearn_textbook.tree.split._listed cimport (
    Division,
    ListedColumn,
    ListedRows,
)
from sklearn_textbook.tree.split._types cimport (
    NodeView,
    Problem,
    Scratch,
    int32_t,
    int64_t,
    uint64_t,
)

# A column of the node at hand, in the order of the list of rows: values, or codes if
# ``values`` is NULL.
cdef struct DrawnColumn:
    double* values
    ListedColumn coded
    double smallest
    double largest

cdef double draw_threshold(
    uint64_t node_state, const DrawnColumn* column, int64_t number
) noexcept nogil
cdef bint try_drawn_cut(
    const Problem* problem, const NodeView* view, Scratch* scratch,
    const ListedRows* listed, const DrawnColumn* column, int32_t number,
    Division* division
) noexcept nogil
