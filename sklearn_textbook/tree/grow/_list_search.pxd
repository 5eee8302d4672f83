# The search of one node of a list of samples: buffers for its columns, and the steps in
# which _grower.pyx calls them, search_list, settle_list and partition_list.

from libc.stdint cimport int32_t, int64_t, uint64_t

from sklearn_textbook._contract._threads cimport ThreadTeam
from sklearn_textbook.tree.grow._buffers cimport Frame, NodeBuffer
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._histogram cimport (
    Found,
    Histogram,
    NodeSearch,
    SampledColumn,
)
from sklearn_textbook.tree.split._oblique cimport ObliqueSearch
from sklearn_textbook.tree.split._samples cimport SampleList
from sklearn_textbook.tree.split._types cimport NodeView, Problem

# Buffers for the columns that a node tries.
cdef struct ListSearch:
    SampledColumn* columns
    Histogram* histograms
    Found* found  # the best split of each column, where one of several is taken
    void* below
    double* ends
    void* tile  # columns that are counted together; each thread has its own
    int64_t tile_bytes
    int n_tiles
    # threads that share the columns of a node with so many cells; or NULL
    ThreadTeam* team
    int64_t shared_cells
    double* totals
    double* scratch
    NodeSearch node
    # nominal columns: what the levels hold, and bits of those that hold samples
    double* level_sums
    uint64_t* used_levels
    uint64_t* used_words  # of the bits of levels
    int32_t* run_codes
    ObliqueSearch* oblique  # NULL: tests of one column alone
    SampledColumn oblique_column  # stands for the direction of an oblique test

cdef int start_list_search(
    const Problem* problem, const SampleList* samples, ListSearch* search
) noexcept nogil
cdef int reserve_tiles(ListSearch* search, int n_threads) noexcept nogil
cdef void free_list_search(ListSearch* search) noexcept nogil
cdef int search_list(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const NodeView* view
) noexcept nogil
cdef int settle_list(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Frame* frame, const NodeView* view, int64_t* pair
) noexcept nogil
cdef int append_terms(
    const ListSearch* search, NodeBuffer* buffer, int32_t node
) noexcept nogil
cdef void partition_list(
    const Problem* problem, SampleList* samples, const NodeSearch* node, Worker* worker
) noexcept nogil
