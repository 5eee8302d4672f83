# Gradient pairs: what boosting by a second-order expansion of the loss sums up.
# All sums are integers, so that they do not depend on the order of the samples or
# on the number of threads, histograms of blocks of rows can be merged, and that of a
# child is exactly that of its parent less that of the other child.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._memory cimport Memory
from sklearn_textbook.tree.split._types cimport Keyed, Problem

cdef extern from *:
    """
    typedef struct {
        int64_t gradient;
        uint64_t counted;
    } GradientPair;
    #if defined(__SSE2__) && defined(__GNUC__)
    #include <emmintrin.h>
    /* One addition for both sums. */
    typedef __m128i PairVector;
    #define LOAD_PAIR(pair) _mm_loadu_si128((const __m128i *)(pair))
    #define ADD_PAIR(sums, pair) _mm_storeu_si128( \\
        (__m128i *)(sums), _mm_add_epi64(LOAD_PAIR(sums), pair) \\
    )
    #else
    typedef GradientPair PairVector;
    #define LOAD_PAIR(pair) (*(pair))
    static inline void ADD_PAIR(GradientPair *sums, GradientPair pair) {
        sums->gradient += pair.gradient;
        sums->counted += pair.counted;
    }
    #endif
    """
    # Of one sample, or of many: the gradient in units of its scale; the hessian in
    # units of its own, above the number of samples.
    ctypedef struct GradientPair:
        int64_t gradient
        uint64_t counted
    ctypedef struct PairVector:
        pass
    PairVector LOAD_PAIR(const GradientPair* pair) noexcept nogil
    void ADD_PAIR(GradientPair* sums, PairVector pair) noexcept nogil

# What turns the integers into gradients and hessians.
cdef struct GradientScale:
    double gradient_unit
    double hessian_unit
    int32_t count_bits  # of ``counted``, below the hessian

cdef inline int64_t samples_of(
    const GradientPair* sums, const GradientScale* scale
) noexcept nogil:
    # The number stands in the low bits.
    return <int64_t>(sums.counted & ((<uint64_t>1 << scale.count_bits) - 1))

cdef inline double hessian_of(
    const GradientPair* sums, const GradientScale* scale
) noexcept nogil:
    # Signed, as processors convert these sooner; a sum has at most 63 bits.
    return scale.hessian_unit * <double><int64_t>(sums.counted >> scale.count_bits)

cdef inline double gradient_of(
    const GradientPair* sums, const GradientScale* scale
) noexcept nogil:
    # Rounded once, by this conversion.
    return scale.gradient_unit * <double>sums.gradient

cdef inline void add_pair(GradientPair* sums, const GradientPair* other) noexcept nogil:
    # Exact, in whatever order.
    sums.gradient += other.gradient
    sums.counted += other.counted

cdef inline void subtract_pair(
    GradientPair* sums, const GradientPair* other
) noexcept nogil:
    # The samples of ``other`` are some of ``sums``: no borrow from the hessian.
    sums.gradient -= other.gradient
    sums.counted -= other.counted

cdef inline double step_of_leaf(
    double gradient, double hessian, double l2
) noexcept nogil:
    # The Newton step that minimises gradient * v + (hessian + l2) * v^2 / 2.
    return -gradient / (hessian + l2) if hessian + l2 > 0.0 else 0.0

cdef inline double decrease_of(
    double gradient, double hessian, double l2
) noexcept nogil:
    # By how much that step decreases it, twice.
    return gradient * gradient / (hessian + l2) if hessian + l2 > 0.0 else 0.0

cdef inline double decrease_by(
    double step, double gradient, double hessian, double l2
) noexcept nogil:
    # By how much another step does.
    # Twice g v + (h + l2) v^2 / 2 with the sign turned round, for any v.
    return -(2.0 * gradient + (hessian + l2) * step) * step

# What is the same for all nodes of a tree: the codes of the rows, and what is summed up
# of them in a histogram, in which the columns stand one after the other.
cdef struct GradientTable:
    int64_t n_columns
    int32_t code_size  # bytes
    const void* row_codes  # row by row
    const int64_t* start  # of each column in a histogram; and where the last ends
    const GradientPair* pairs  # of all rows
    GradientScale scale
    double l2
    double variance  # of the gradient of a row, per unit of its hessian

# The best split of a column, or of a node.
cdef struct GradientSplit:
    double decrease  # of the loss, twice; below 0: none found
    int32_t column
    # numeric: codes up to this one go to child 0; nominal: so many levels, in the
    # order of their gradients, do
    int64_t cut
    bint is_ordered  # nominal: a threshold in the declared order of the levels
    int32_t missing_child  # -1 where no value is missing
    bint splits_missing  # all that have a value in child 0, the others in child 1
    GradientPair left  # what child 0 holds

# A node that is searched: its histogram, wherever that was summed up, and what follows
# from the sums of the node.
cdef struct GradientSearch:
    const Problem* problem
    const GradientTable* table
    const GradientPair* histogram  # of all columns
    GradientPair total
    double lower  # monotonic constraints: the steps that are allowed
    double upper
    double gradient
    double hessian
    double min_hessian
    double parent  # decrease by the step of the node itself
    double size  # of its terms, which bounds their rounding error

# Memory of one thread that searches.
cdef struct GradientScratch:
    double* gradients  # in child 0, for each place of a split
    double* hessians
    double* scores
    Keyed* levels

cdef void start_gradient_scratch(
    const Problem* problem, int64_t most_codes, Memory* memory, GradientScratch* scratch
) noexcept nogil
cdef void count_pairs(
    const GradientTable* table, const uint32_t* rows, int64_t n, int64_t first,
    int64_t stop, GradientPair* histogram
) noexcept nogil
cdef void add_pairs(
    const GradientTable* table, const uint32_t* rows, int64_t n, int64_t first,
    int64_t stop, GradientPair* histogram
) noexcept nogil
cdef void describe_node(
    const Problem* problem, const GradientTable* table, const GradientPair* histogram,
    const GradientPair* total, double lower, double upper, GradientSearch* search
) noexcept nogil
cdef void search_pairs(
    const GradientSearch* search, const GradientScratch* scratch, int64_t column,
    GradientSplit* best
) noexcept nogil
cdef bint is_better_split(
    const GradientSearch* search, const GradientSplit* found, const GradientSplit* best
) noexcept nogil
cdef void find_children(
    const GradientSearch* search, const GradientScratch* scratch,
    const GradientSplit* split, uint8_t* child_of_code, int64_t* pair
) noexcept nogil
