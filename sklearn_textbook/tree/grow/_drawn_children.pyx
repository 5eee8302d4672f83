"""Thresholds drawn at random: what the children of a node hold, and their records."""

from libc.stdint cimport int16_t, int64_t

from sklearn_textbook.tree.grow._children cimport finish_classes, finish_values
from sklearn_textbook.tree.split._listed cimport LISTED_VALUES, ListedRows


cdef void measure_values(
    const Problem* problem, const DrawnTable* table, const NodeView* view,
    const DrawnDivision* division, Children* children
) noexcept nogil:
    """Sums of y from whole numbers; squares, and whether y varies, row by row."""
    cdef:
        const ListedRows* listed = &table.listed
        const int16_t* cells = division.cells
        const double* y = listed.y
        int16_t cut = division.cut
        int64_t i, child
        double centre = view.totals.centre[0], difference, square
        double left = 0.0, right = 0.0
        double[2] first
        bint[2] varies
    children.sums[0] = <double>division.sum * listed.unit
    children.sums[1] = <double>(listed.total - division.sum) * listed.unit
    for i in range(listed.n):
        difference = y[i] - centre
        square = difference * difference * <double>(listed.rows[i] >> 48)
        left += square if cells[i] < cut else 0.0
        right += 0.0 if cells[i] < cut else square
    children.squares[0] = left
    children.squares[1] = right
    for child in range(2):
        varies[child] = False
        i = 0
        while (cells[i] < cut) == child:
            i += 1
        first[child] = y[i]
        while i < listed.n and not varies[child]:
            varies[child] = (cells[i] < cut) != child and y[i] != first[child]
            i += 1
        children.is_pure[child] = not varies[child]
        children.values[child] = first[child]
        finish_values(problem, view, child, children)


cdef void measure_division(
    const Problem* problem, const DrawnTable* table, const NodeView* view,
    const DrawnDivision* division, Children* children
) noexcept nogil:
    """What the children hold."""
    cdef int64_t child, k, size = problem.n_statistics
    children.n_children = 2
    children.n_missing = 0
    children.n_rows[0] = division.n_left
    children.n_rows[1] = view.totals.rows - division.n_left
    children.weight[0] = division.weight
    children.weight[1] = view.totals.weight - division.weight
    if table.listed.kind == LISTED_VALUES:
        measure_values(problem, table, view, division, children)
        return
    for k in range(size):
        children.sums[k] = table.left[k]
        children.sums[size + k] = view.totals.sums[k] - table.left[k]
    for child in range(2):
        finish_classes(problem, view, child, children)
