from sklearn_textbook.tree.split._listed_search cimport Kernel, ListContest
from sklearn_textbook.tree.split._types cimport NodeView

cdef void start_values(const NodeView* view, ListContest* contest) noexcept nogil
cdef const Kernel* value_kernel() noexcept nogil
