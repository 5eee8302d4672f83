# The memory of a thread (Worker) and of the sorted columns (Arena).

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t

from sklearn_textbook.tree.grow._buffers cimport BlockList, Frame, NodeBuffer, Stack
from sklearn_textbook.tree.grow._children cimport Children
from sklearn_textbook.tree.split._memory cimport Memory
from sklearn_textbook.tree.split._types cimport (
    Candidate,
    Codes,
    Entry,
    NodeView,
    Problem,
    Rows,
    Scratch,
    Spacing,
    Split,
)

# The sorted columns of the rows at hand: the whole table, or one subtree.
cdef struct Arena:
    void* entries  # stride entries for each column
    int64_t stride
    const uint32_t* ranks  # stride ranks per column: local rank -> rank; or NULL
    # spacing of every column where gains decide, with stride ranks for each
    Spacing* spacing
    uint32_t* next_apart
    int64_t spacing_stride
    Codes codes
    Rows rows
    Memory memory

# What one thread works with.
cdef struct Worker:
    Scratch scratch
    Children children
    NodeBuffer buffer
    Stack stack
    int32_t* visit  # columns to be tried, in order
    int32_t* order  # buffer for drawing columns
    uint8_t* is_active
    int32_t* active  # columns of the node at hand
    int32_t* moved  # those whose entries follow the rows
    int64_t n_moved
    Split* splits  # best split of every visited column
    Candidate* candidates  # the same where gains decide
    BlockList blocks
    double* node_sums
    void* spare  # stride entries
    uint8_t* goes_left
    int32_t* child_of_row
    Memory memory

# The columns of a node that threads share: worker is that of the node.
cdef struct SharedNode:
    const Problem* problem
    Arena* arena
    Worker* worker
    Worker* all_workers
    const Frame* frame
    const NodeView* view
    uint64_t* entries

cdef inline const uint32_t* column_ranks(
    const Arena* arena, int64_t column
) noexcept nogil:
    # What ``value_of_rank`` takes: NULL where entries have the ranks of the table.
    return NULL if arena.ranks == NULL else arena.ranks + column * arena.stride

cdef inline int64_t count_slots(const Problem* problem) noexcept nogil:
    """Columns of entries: the table's, and perhaps the list of rows."""
    return problem.n_columns + problem.any_coded

cdef inline int64_t anchor_column(
    const Problem* problem, const int32_t* active
) noexcept nogil:
    """A column that has every row of the node."""
    return problem.n_columns if problem.any_coded else active[0]

cdef int start_spacing(
    const Problem* problem, Arena* arena, int64_t n_ranks
) noexcept nogil
cdef int start_worker(
    const Problem* problem, Worker* worker, int64_t n_rows, int64_t entry_size,
    bint marks_rows, Worker* lender
) noexcept nogil
cdef void free_worker(Worker* worker) noexcept nogil
cdef int start_local_arena(
    const Problem* problem, Arena* arena, int64_t n_rows
) noexcept nogil
cdef void free_arena(Arena* arena) noexcept nogil
cdef void fill_column(
    const uint32_t* order, int64_t n_rows, int64_t n_missing,
    const uint32_t* row_number, const uint8_t* second_class, Entry* entries
) noexcept nogil
cdef void list_rows(
    int64_t n_rows, const uint8_t* second_class, Entry* entries
) noexcept nogil
cdef void copy_list(
    const uint64_t* cells, int64_t n, uint32_t* entries
) noexcept nogil
cdef void copy_codes(
    const Codes* codes, int64_t column, const uint64_t* cells, int64_t n, Arena* arena
) noexcept nogil
cdef void copy_rows(
    const Problem* problem, const Arena* table, const Entry* cells, int64_t n,
    const double* row_weight, uint32_t* local_number, Arena* arena
) noexcept nogil
cdef void measure_spacing(
    const Problem* problem, Arena* arena, int64_t column, const uint32_t* ranks,
    int64_t n_ranks, int64_t n_present
) noexcept nogil
cdef int64_t copy_column(
    const uint64_t* cells, int64_t n, const uint32_t* local_number,
    uint32_t* entries, uint32_t* ranks
) noexcept nogil
