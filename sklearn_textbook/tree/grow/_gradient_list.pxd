# Boosting: the rows of a tree in one list, and the histograms of the nodes that wait.
# The histogram of a node has a pair for each code of each column, that of missing
# values last.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook._contract._threads cimport ThreadTeam
from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._gradients cimport (
    GradientPair,
    GradientScratch,
    GradientSplit,
    GradientTable,
)
from sklearn_textbook.tree.split._memory cimport Memory
from sklearn_textbook.tree.split._types cimport Problem, Split

# A node whose samples are in histograms, and that may be split.
cdef struct WaitingNode:
    GradientPair* histogram  # of all columns, concatenated
    GradientPair total
    GradientSplit split
    uint8_t* child_of_code  # of the column of the split

# The samples of a tree in one list, in which those of a node stand together, with a
# pair of gradient and hessian each.
cdef struct GradientList:
    int64_t n_rows
    GradientTable table
    const void* codes  # column by column; NULL: histograms are counted elsewhere
    int64_t most_codes  # of a column, with that of missing values
    # interaction constraints: the groups that each column is in, as bits; or NULL
    const uint64_t* groups
    uint64_t groups_left  # of the children of the node at hand
    Memory memory
    uint32_t* rows
    uint32_t* spare
    int64_t* parts  # samples in child 0 of each block of rows
    int64_t* place  # in the list, of each node's first sample
    int64_t place_capacity
    WaitingNode** waiting
    int64_t n_waiting  # allocated
    WaitingNode** unused
    int64_t n_unused
    # waiting nodes of the children that have just been made
    WaitingNode* left_child
    WaitingNode* right_child
    GradientScratch* scratch  # of each thread
    GradientSplit* found  # of each column, for each of two nodes
    int32_t* columns  # that the two nodes try
    # what is to be counted next, and from whose histograms it is taken away; or NULL
    WaitingNode* counted
    WaitingNode* rest
    int64_t counted_start
    int64_t n_counted
    GradientPair total  # of the root
    ThreadTeam* team  # NULL: one thread
    int n_threads

cdef int start_gradient_list(
    const Problem* problem, GradientList* samples
) noexcept nogil
cdef void free_gradient_list(GradientList* samples) noexcept nogil
cdef void forget_waiting(GradientList* samples) noexcept nogil
cdef void release_waiting(GradientList* samples, void* waiting) noexcept nogil
cdef int search_given(
    const Problem* problem, GradientList* samples, Worker* worker, Frame* frame,
    const GradientPair* histogram
) noexcept nogil
cdef int search_root(
    const Problem* problem, GradientList* samples, Worker* worker, Frame* frame
) noexcept nogil
cdef void search_children(
    const Problem* problem, GradientList* samples, Worker* worker, int64_t first,
    int64_t n_frames
) noexcept nogil
cdef int settle_gradients(
    const Problem* problem, GradientList* samples, Worker* worker, const Frame* frame,
    Split* split, int64_t* pair
) noexcept nogil
cdef int partition_gradients(
    const Problem* problem, GradientList* samples, Worker* worker, const Frame* frame,
    bint is_last
) noexcept nogil
