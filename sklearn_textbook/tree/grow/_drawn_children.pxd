from libc.stdint cimport int32_t

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._drawn_rows cimport DrawnDivision, DrawnTable
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._children cimport Children
from sklearn_textbook.tree.grow._missing cimport branch_for_missing
from sklearn_textbook.tree.grow._grower cimport create_children, improvement_of
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._bin_end cimport leave_bin
from sklearn_textbook.tree.split._types cimport NodeView, Problem, Split

cdef inline int write_division(
    const Problem* problem, Worker* worker, int32_t number, const Split* best
) noexcept nogil:
    # Write the records of the children, if the division is worth it. Returns the number
    # of the first, 0 if the node remains a leaf, and -1 without memory.
    cdef:
        Children* children = &worker.children
        Node* record = &worker.buffer.nodes[number]
        Frame frame
        int first
    record.improvement = improvement_of(problem, record, children, best)
    if record.improvement * record.weight / problem.total_weight + 2.2e-16 < (
        problem.min_impurity_decrease
    ):
        record.improvement = 0.0
        return 0
    frame.node = number
    first = create_children(problem, worker, &frame)
    if first < 0:
        return -1
    record = &worker.buffer.nodes[number]
    record.first_child = first
    record.n_children = 2
    record.feature = best.column
    record.kind = problem.kind[best.column]
    record.missing_branch = branch_for_missing(problem, children, best)
    record.threshold = leave_bin(problem, best.column, best.threshold)
    return first

cdef void measure_division(
    const Problem* problem, const DrawnTable* table, const NodeView* view,
    const DrawnDivision* division, Children* children
) noexcept nogil
