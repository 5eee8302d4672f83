from sklearn_textbook.tree.split._listed_search cimport Kernel, ListContest
from sklearn_textbook.tree.split._types cimport NodeView

cdef void start_classes(const NodeView* view, ListContest* contest) noexcept nogil
cdef const Kernel* class_kernel() noexcept nogil
