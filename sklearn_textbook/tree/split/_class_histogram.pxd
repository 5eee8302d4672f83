from libc.stdint cimport int64_t, uint64_t

from sklearn_textbook.tree.split._listed cimport ListedColumn
from sklearn_textbook.tree.split._listed_search cimport ListContest
from sklearn_textbook.tree.split._types cimport NodeView

cdef void start_classes(const NodeView* view, ListContest* contest) noexcept nogil
cdef void walk_classes(
    ListContest* contest, ListedColumn* column, const uint64_t* keys, int64_t n
) noexcept nogil
