# The loop over the nodes, and what it needs of a tree. A grower belongs to one thread;
# tasks have growers of their own, which share the problem and the table.

from libc.stdint cimport int32_t, int64_t, uint32_t

from sklearn_textbook._contract._threads cimport ThreadTeam
from sklearn_textbook.tree.grow._buffers cimport Frame, NodeBuffer, Stack
from sklearn_textbook.tree.grow._children cimport Children
from sklearn_textbook.tree.grow._gradient_list cimport GradientList, WaitingNode
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._list_search cimport ListSearch
from sklearn_textbook.tree.grow._small_node cimport SmallRoots
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._samples cimport SampleList
from sklearn_textbook.tree.split._types cimport Problem, Split

# What the loop over nodes works with.
cdef struct Grower:
    const Problem* problem
    Worker* worker  # its stack holds the nodes that wait, its buffer all records
    # A node of up to so many rows becomes a task for later.
    int64_t task_rows
    Stack* tasks
    # Sorted columns: threads share those of a large node; the rows of a task are copied
    # into an arena.
    Arena* table
    Worker* all_workers
    ThreadTeam* team
    uint32_t* local_number
    Arena* arena  # where the tasks of a thread grow
    # A list of samples; NULL: sorted columns.
    SampleList* samples
    ListSearch* search
    GradientList* gradients  # a list of samples with gradient pairs; or NULL
    SmallRoots roots
    int64_t n_outside  # nodes that wait outside of the local subtree

# A split by gradient pairs that was made, and what is to be counted for its children.
cdef struct WaitingSplit:
    int32_t column
    int32_t first_child
    int32_t counted_child  # -1: both are leaves
    WaitingNode* counted  # the histogram of that child, not counted yet; or NULL
    WaitingNode* rest  # that of the parent, of which the other child's is left; or NULL
    int64_t first_frame  # of the children that wait
    int64_t n_frames

cdef int grow_from(
    Grower* grower, const Frame* root, const int32_t* columns
) noexcept nogil
cdef int split_waiting(
    Grower* grower, Frame* frame, WaitingSplit* made
) noexcept nogil
cdef int grow_subtrees(
    const NodeBuffer* above, const Stack* tasks, Grower* growers, ThreadTeam* team,
    NodeBuffer** done
) noexcept nogil
cdef void measure_table_column(
    const Problem* problem, Arena* table, int64_t column, int64_t n_ranks,
    int64_t n_present
) noexcept nogil
cdef double improvement_of(
    const Problem* problem, const Node* node, const Children* children,
    const Split* split
) noexcept nogil
cdef int create_children(
    const Problem* problem, Worker* worker, const Frame* frame
) noexcept nogil
