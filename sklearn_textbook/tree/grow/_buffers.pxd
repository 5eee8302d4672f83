# What grows while a tree does: the records of its nodes, and the stack of the nodes
# that wait to be split. Functions that allocate return -1 when memory runs out.

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from sklearn_textbook.tree.grow._heap cimport Entry
from sklearn_textbook.tree.grow._layout cimport Node, Surrogate, Term

# Nodes of one subtree while it grows; numbers are local to the buffer.
# Records are appended, children side by side; when the tree is complete they are copied
# in breadth-first order (_assemble.pyx). Until then ``map_start`` of a threshold holds
# the ranks on both sides, and ``threshold`` is NaN.
cdef struct NodeBuffer:
    Node* nodes
    double* statistics  # n_statistics per node
    double* bounds  # lower and upper of a node's value; NULL without constraints
    # subtree that continues a node, or place of the frame in which it waits; or -1
    int32_t* task
    int64_t n_nodes
    int64_t node_capacity
    int64_t n_statistics
    bint keeps_bounds
    int32_t* level_branch
    int64_t n_levels
    int64_t level_capacity
    Surrogate* surrogates
    int64_t n_surrogates
    int64_t surrogate_capacity
    Term* terms
    int64_t n_terms
    int64_t term_capacity

# Sorted columns of their own, for a node that holds fractions of cases.
cdef struct Block:
    Block* next
    Block* previous
    int64_t n_frames  # nodes that wait in it
    double* weights  # of the rows, in the order of the anchor column
    void* entries

# A node that waits to be split.
cdef struct Frame:
    void* arena  # of a subtree that stands apart; NULL: that of the table
    void* entries  # the sorted columns it stands in
    int64_t stride  # entries of each of them
    Block* block  # owner of the columns; NULL: the arena
    bint is_divided  # whether a test above divided cases
    bint has_own_weights  # those of the block are to be put into the arena first
    const double* row_weight  # a task's weights, as in a block; or NULL
    int64_t start  # first entry in every column
    int64_t n_rows
    int64_t depth
    uint64_t random_state
    double lower
    double upper
    int32_t node
    int32_t n_active  # columns that are not constant
    # gradient pairs: the histograms, and the best split once it has been searched
    void* waiting
    bint is_searched
    double gain
    uint64_t groups  # of columns that all columns tested above are in, as bits

# Blocks in use.
cdef struct BlockList:
    Block* first

# Frames, and with each the list of its columns.
cdef struct Stack:
    Frame* frames
    int32_t* active  # n_columns per frame
    int64_t n_frames
    int64_t capacity
    int64_t n_columns
    # Best first: a split is chosen, the nodes below it are searched, and their splits
    # join those to be chosen from.
    int64_t max_leaf_nodes  # 0: depth first
    Entry* splits  # a heap: nodes that have been searched and may be split
    Py_ssize_t n_splits
    int64_t split_capacity
    int64_t chosen  # node whose split was chosen and is made now; or -1
    int64_t child  # of the split chosen last, the child at hand
    int64_t last_child
    int64_t n_leaves
    double least  # key of the chosen split that gains least
    double step
    int64_t n_placed  # frames whose nodes know their places

cdef enum:
    PAGE_NUMBERS = 512  # in a page of memory
    FEW_NUMBERS = 1024  # statistics of a node that are copied as they are

cdef inline void copy_statistics(
    double* target, const double* source, int64_t n
) noexcept nogil:
    """Copy the statistics of a node. Of many classes few are present, and a page of
    new memory that is not written to takes none."""
    cdef int64_t start = 0, stop
    if n <= FEW_NUMBERS:
        memcpy(target, source, n * sizeof(double))
        return
    while start < n:
        stop = start + PAGE_NUMBERS
        stop -= <int64_t>((<uint64_t>(target + start)) // sizeof(double)) % PAGE_NUMBERS
        stop = min(stop, n)
        # Most pages of both are zeros.
        if memcmp(target + start, source + start, (stop - start) * sizeof(double)):
            memcpy(target + start, source + start, (stop - start) * sizeof(double))
        start = stop

cdef inline void clear_statistics(double* target, int64_t n) noexcept nogil:
    """Set the statistics of a node to 0, as ``copy_statistics`` would."""
    cdef:
        const uint64_t* bits = <const uint64_t*>target
        uint64_t found
        int64_t start = 0, stop, i
    if n <= FEW_NUMBERS:
        memset(target, 0, n * sizeof(double))
        return
    while start < n:
        stop = min(start + PAGE_NUMBERS, n)
        found = 0
        for i in range(start, stop):
            found |= bits[i]
        if found:
            memset(target + start, 0, (stop - start) * sizeof(double))
        start = stop

cdef int start_buffer(
    NodeBuffer* buffer, int64_t n_statistics, bint keeps_bounds
) noexcept nogil
cdef void free_buffer(NodeBuffer* buffer) noexcept nogil
cdef void free_buffers(NodeBuffer* buffers, int64_t n_buffers) noexcept nogil
cdef bint fits_twice(int64_t n_nodes, int64_t n_statistics) noexcept nogil
cdef int reserve_nodes(NodeBuffer* buffer, int64_t n_more) noexcept nogil
cdef int reserve(
    void** array, int64_t size, int64_t n_items, int64_t n_more, int64_t* capacity
) noexcept nogil
cdef int reserve_levels(NodeBuffer* buffer, int64_t n_more) noexcept nogil
cdef int reserve_surrogates(NodeBuffer* buffer, int64_t n_more) noexcept nogil
cdef int reserve_terms(NodeBuffer* buffer, int64_t n_more) noexcept nogil
cdef int start_stack(Stack* stack, int64_t n_columns) noexcept nogil
cdef void free_stack(Stack* stack) noexcept nogil
cdef int push_frame(
    Stack* stack, const Frame* frame, const int32_t* active
) noexcept nogil
cdef void start_growth(
    Stack* stack, int64_t max_leaf_nodes, const NodeBuffer* buffer
) noexcept nogil
cdef int take_frame(
    Stack* stack, NodeBuffer* buffer, Frame* frame, int32_t* active
) noexcept nogil
cdef Block* make_block(
    BlockList* blocks, int64_t n_entries, int64_t entry_size, int64_t n_rows
) noexcept nogil
cdef void release_block(BlockList* blocks, Block* block) noexcept nogil
cdef void free_blocks(BlockList* blocks) noexcept nogil
