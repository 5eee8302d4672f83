# The samples of a node as a list, and the table that their numbers refer to, as the
# searches of a split and the growing loop see them.

from libc.stdint cimport (
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)

from sklearn_textbook.tree.split._memory cimport Memory
from sklearn_textbook.tree.split._steps cimport Scale
from sklearn_textbook.tree.split._sums cimport Moments
from sklearn_textbook.tree.split._types cimport Rows

cdef enum:
    N_PERMUTED = 128  # numbers in a table of permutations, see _partition_list.pxd

# What is summed up of the samples of a list; see _sums.pxd.
cdef enum ListKind:
    LIST_BINARY = 0
    LIST_MOMENTS = 1
    LIST_CLASS_COUNTS = 2
    LIST_CLASS_WEIGHTS = 3
    LIST_GENERAL = 4  # no histograms: columns are sorted

# The codes of a column in some set of rows, and how they are put into bins:
# (code - smallest) >> shift is the number of the bin.
cdef struct Span:
    uint32_t smallest
    uint32_t largest  # of the codes that are not missing
    int32_t shift
    # of missing values: a multiple of 16 above the others, so that it stays alone when
    # up to 16 bins are joined; 255 if there are none
    int32_t missing_bin

# The codes of the whole table: ranks, 1, 2 or 4 bytes wide; a missing value has the
# number of distinct values of its column.
cdef struct CodedTable:
    int64_t n_columns
    int64_t n_rows
    int32_t code_size
    const void* codes  # column by column; NULL: row by row alone
    const void* row_codes  # row by row; NULL in a large copy whose bins are others
    const uint8_t* row_bins  # row by row; the same array where the codes are bins
    const Span* spans  # of every column

# A table that holds the samples of one subtree alone: what was in use outside of it.
cdef struct TableCopy:
    TableCopy* outer
    int64_t n_outside  # nodes that wait outside of the subtree
    CodedTable table
    const double* y
    double* logarithm
    const int32_t* label
    const double* weight
    Memory memory  # of the copy

# The samples of a tree as one list, in which those of a node stand together. Only the
# list is partitioned at a node; codes stay where they are, but a subtree of few samples
# works on a copy that stays in the cache, and one of a table in files on a copy of half
# its rows or less.
cdef struct SampleList:
    int32_t kind
    CodedTable table
    int64_t n_outputs
    # random thresholds: values of all rows, row by row, and their steps
    const double* row_values
    const int16_t* steps  # column by column
    const int16_t* row_steps
    const Scale* scales  # of every column
    const double* y  # of all rows; or
    double* logarithm  # Poisson: of y, 0 for no events
    const int32_t* label
    const double* weight  # float weights of all rows; NULL: whole ones in the entries
    uint64_t* entries
    Memory memory  # of all below but what another thread lends: list, logarithms
    int64_t n_samples  # at most, of a node
    # Tables of more rows are in files, and subtrees work on copies of their rows; 0:
    # there are no such copies.
    int64_t memory_rows
    TableCopy* copies  # of the node at hand, the smallest first
    double min_weight
    int64_t most_weight  # of whole weights
    bint may_be_small  # small subtrees have a kernel of their own
    # codes, bins and targets of the samples of one subtree, by their numbers in it
    bint is_local  # whether those are in use
    int64_t local_rows
    void* local_codes
    uint8_t* local_bins
    Span* local_spans
    int16_t* local_steps
    Scale* local_scales
    double* local_y
    double* local_logarithm
    double* local_weight
    uint32_t* local_row  # numbers in the table
    # smallest and largest bin of each column in the subtree, at the front; largest bin
    # of a value
    void* smallest
    void* largest
    uint8_t* value_limit  # NULL: no value of the table is missing
    # buffers for the node at hand
    Rows node_rows  # targets and weights in the order of the list
    Moments* amounts
    # random thresholds: weights and weights of the second class; the same in fixed
    # point, of weight * (y - centre) and of weights
    uint16_t* whole_weights
    uint16_t* ones
    int64_t* fixed_first
    int64_t* fixed_weight
    double first_unit
    double weight_unit
    uint64_t* keys
    const void* keys_of  # the histogram in whose open bins they are
    int64_t n_keys
    uint64_t* spare
    uint32_t* gathered
    uint8_t* child  # of every sample
    bint is_partitioned
    uint8_t* tile_bins
    uint8_t* may_win
    uint32_t[N_PERMUTED] permutations  # see _partition_list.pxd
