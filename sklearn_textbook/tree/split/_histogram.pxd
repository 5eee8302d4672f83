# Histograms of the samples of a node, by which few samples have to be sorted. Steps of
# a column: count_bins or count_codes, add_up_bins, start_histograms, select_bins and
# try_candidates.

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._samples cimport SampleList
from sklearn_textbook.tree.split._sums cimport Moments, Sums
from sklearn_textbook.tree.split._types cimport NodeView, Problem, Split

# A column that is tried in the node at hand.
cdef struct SampledColumn:
    int32_t number
    bint is_sorted  # searched in order instead of in histograms
    # a direction in place of a column: the sums of the samples, and their rounding
    bint is_oblique
    const double* sums
    double rounding
    # nominal: the codes of the levels that the node has, and their children
    bint is_nominal
    int64_t n_runs
    int32_t* run_code
    int32_t* run_child
    # codes of the node's samples in the order of their list, if they are gathered
    bint is_gathered
    uint32_t* codes
    # (code - smallest) >> shift is the number of a bin; larger codes are missing
    uint32_t smallest
    uint32_t largest
    int32_t shift
    int64_t n_bins  # of values
    int64_t missing_bin  # -1: no value can be missing
    int64_t n_missing  # samples of the node
    bint varies  # in the node
    int16_t* steps  # random thresholds: of the node's samples
    const uint8_t* bins  # of the node's samples, TILE_COLUMNS apart, if not gathered
    # histograms: missing samples in child 1 (or nowhere), and in child 0
    int32_t n_histograms
    Histogram* histograms
    double* totals  # of the samples with a value, and of those without

# The samples of a node in the bins of a column. Two entries more than there are bins:
# all below a bin, all of them, and in the end those whose value is missing.
cdef struct Histogram:
    const SampledColumn* column
    int32_t missing_child
    bint missing_left
    # the samples that are split
    int64_t n_samples
    double weight
    double total  # Moments, BinaryCounts: of ``first``
    const double* totals  # classes: their weights
    double base  # what has to be taken from a value for the score
    int64_t whole_base  # the same, exactly
    double offset  # score of parting the missing samples from all others
    double margin
    void* below
    # of the split below each end of a bin, by criterion:
    #
    #          Gini of two classes,  Poisson    Gini of classes     entropy of classes
    #          squared error         deviance
    #  first   d = s n - t k         d          k                   k
    #  second  k (n - k)             k          sum l_c^2 / k       sum T(l_c) - T(k)
    #  third   reach                 reach      sum r_c^2 / (n-k)   sum T(r_c) - T(n-k)
    #  fourth  d^2 / second          its bound  value               value
    #  fifth                                    k (n - k)           1
    #
    # with weight k and first moment s on the left, class weights l_c there and r_c on
    # the right, n and t in all, T(x) = x log2 x. From one end to the next the reach
    # grows by no less than the samples of the bin can add to d. Scores follow from
    # ``fourth``, over ``fifth``, by the unit, ``base`` and ``offset``. A split that is
    # not allowed has -1 in ``fourth``, or -infinity.
    double* first
    double* second
    double* third
    double* fourth
    double* fifth
    double edge  # largest score of the ends; -inf if there is none

# The best split found so far.
cdef struct Found:
    Split split
    const SampledColumn* column
    const Histogram* histogram
    # threshold: samples with codes up to the cut go to child 0. If it lies between two
    # samples that are next to each other, the cut is the code of the one, and above
    # that of the other
    uint32_t cut
    uint32_t above
    bint is_between
    # random threshold: samples on steps below go to child 0
    int16_t boundary
    uint64_t left_counts  # BinaryCounts: of child 0, without missing samples

# What the search in histograms needs to know of the node.
cdef struct NodeSearch:
    const Problem* problem
    const NodeView* view
    const uint64_t* entries
    int64_t n
    const Moments* amounts  # of the samples
    const double* sample_weight  # ClassWeights
    double min_weight  # of a sample
    # score of a unit of d^2 / (k (n - k)) / n; of classes, of a unit of their values
    double unit
    double centre  # what y is counted from
    double pivot  # what the spread of moments is counted from, from there
    double total  # Moments, BinaryCounts: of ``first``
    double slack  # difference of scores on which the order of candidates may depend
    # samples in child 0 that leave enough on both sides
    int64_t lowest
    bint checks_limits  # min_weight_leaf, monotonic constraints
    # classes
    int64_t n_classes
    int64_t stride  # from one class to the next in ``below``
    bint counts_samples  # in a plane of their own
    int64_t n_planes
    const int64_t* entropy_table
    # of values that come from a table of logarithms, or of sums in fixed point
    double noise
    double* left  # a number for each class
    double* right
    int64_t* class_counts  # whole weights of the classes in child 0
    double* scratch  # a number for every bin
    Found found

cdef enum:
    GAP = 4  # between the sums of one column or class and those of the next
    TABLE_ROUNDING = 8  # units by which equal sums of T may differ


cdef inline int64_t bin_of_code(
    const SampledColumn* column, uint32_t code
) noexcept nogil:
    """The bin of a code; codes of missing values are larger than all others."""
    if code > column.largest:
        return column.missing_bin
    return (code - column.smallest) >> column.shift


cdef double centre_of(const Problem* problem, const NodeView* view) noexcept nogil
cdef void describe_moments(
    const Problem* problem, SampleList* samples, const NodeView* view,
    NodeSearch* node
) noexcept nogil
cdef int32_t choose_coarseness(
    const Sums* kind, int64_t n, int64_t n_planes
) noexcept nogil
cdef void count_bins(
    const NodeSearch* search, const uint8_t* row_bins, int64_t width,
    SampledColumn** columns, int64_t n_columns, int32_t coarseness, bint is_far,
    uint8_t* tile_bins, Sums* tile, int64_t tile_stride
) noexcept nogil
cdef void count_codes(
    const NodeSearch* search, const SampledColumn* column, Sums* slots
) noexcept nogil
cdef void choose_bins(
    SampledColumn* column, int64_t n, int32_t coarseness
) noexcept nogil
cdef int64_t add_up_bins(
    const NodeSearch* search, const SampledColumn* column, const Sums* slots,
    Sums* below
) noexcept nogil
cdef int64_t n_missing_in(
    const NodeSearch* node, const SampledColumn* column, const Sums* below
) noexcept nogil
cdef int64_t next_used(
    const NodeSearch* node, const SampledColumn* column, int64_t b, int64_t step,
    const Sums* kind
) noexcept nogil
cdef double part_goodness(
    const NodeSearch* node, const double* totals, double weight
) noexcept nogil
cdef void start_histograms(
    const NodeSearch* node, SampledColumn* column, const Sums* kind
) noexcept nogil
cdef int64_t select_bins(
    const NodeSearch* node, const Histogram* h, double top, uint8_t* may_win,
    const Sums* kind
) noexcept nogil
cdef void try_candidates(
    NodeSearch* node, const Histogram* h, const uint8_t* may_win, const uint64_t* keys,
    int64_t n_keys, const Sums* kind
) noexcept nogil
cdef bint satisfies_constraint(
    const NodeSearch* node, const SampledColumn* column, const double* left,
    const double* right, double left_weight, double right_weight, const Sums* kind
) noexcept nogil
cdef void try_missing_bin(
    NodeSearch* node, const SampledColumn* column, const Sums* below
) noexcept nogil
