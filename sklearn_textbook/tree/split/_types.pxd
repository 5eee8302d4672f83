# The structs common to the split searches and the growing loop.
# A node of sorted columns is a stretch of n rows that begins at the same place of every
# column. All columns hold the same rows, each in its own order: by rank, the missing
# rows last. Ranks number the distinct values of a column in ascending order, so to
# compare ranks is to compare values. Partitioning keeps the order of the rows of each
# child, so a column is sorted once per tree.
#
# Sums of a set of rows are kept as ``sums`` of n_statistics numbers: the weight of each
# class, for all outputs one after the other; or the sum of weight * (y - centre) of
# each output, where the centre is the mean of the node, as sums about the mean lose
# least to cancellation, or 0 for Poisson deviance and the absolute error.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from sklearn_textbook._contract._interrupt cimport Interrupt
from sklearn_textbook.tree.split._median_set cimport MedianSet

# One cell of a column, sorted by value: the rank of the value in its column, the
# row, and in the lowest bit whether the row is of the second class (two-class
# problems only). Large nodes use 32 + 31 + 1 bits; a subtree of at most 32,768
# rows is renumbered into 16 + 15 + 1 bits, so that it stays in the cache.
ctypedef fused Entry:
    uint32_t
    uint64_t

cdef enum:
    SHARED_CELLS = 50000  # cells from which on threads share the columns of a node
    LOCAL_ROWS = 32768  # rows that 15 bits can number
    MANY_ROWS = 2048  # from which on signals are checked between columns
    LOCAL_MISSING = 0xFFFF
    MAX_GROUPED = 1024  # levels of a node that are grouped pair by pair
    # Nodes up to this size divide levels whose means are smoothed in their declared
    # order only: their means are of few rows each.
    ORDERED_ROWS = 64
    GLOBAL_MISSING = 0xFFFFFFFF

cdef inline uint32_t rank_of(Entry entry) noexcept nogil:
    # The rank of the value; all ones if it is missing.
    if Entry is uint32_t:
        return entry >> 16
    else:
        return <uint32_t>(entry >> 32)

cdef inline uint32_t row_of(Entry entry) noexcept nogil:
    # The row's number among those of the table, or of the subtree that has been copied.
    if Entry is uint32_t:
        return (entry >> 1) & <uint32_t>0x7FFF
    else:
        return <uint32_t>(entry >> 1) & <uint32_t>0x7FFFFFFF

cdef inline bint is_missing(Entry entry) noexcept nogil:
    # Missing rows all have the largest rank that fits, so that they are sorted last.
    if Entry is uint32_t:
        return (entry >> 16) == <uint32_t>LOCAL_MISSING
    else:
        return <uint32_t>(entry >> 32) == <uint32_t>GLOBAL_MISSING

# The impurity that a split is to decrease; see _criterion.pyx for the formulas.
cdef enum Criterion:
    GINI = 0
    ENTROPY = 1
    ERROR = 2
    SQUARED_ERROR = 3
    ABSOLUTE_ERROR = 4
    POISSON = 5

# What a pass along a numeric column sums up; the others are special cases of
# SCAN_GENERAL that give the same splits sooner.
cdef enum Scan:
    SCAN_GENERAL = 0
    SCAN_BINARY = 1  # two classes, Gini
    SCAN_CLASSES = 2  # Gini
    SCAN_ENTROPY = 3  # entropy, unit weights, fixed-point c log2 c
    SCAN_VALUES = 4  # squared error, one output
    SCAN_ABSOLUTE = 5  # absolute error

# Where the missing rows of a column go while its tests are compared.
cdef enum MissingMode:
    MISSING_LEARNED = 0  # in either child, whichever is better
    MISSING_BRANCH = 1  # in a child of their own, the third one of a binary split
    MISSING_SURROGATE = 2  # left out; tests of other columns send them then
    MISSING_FRACTIONAL = 3  # left out; in all children then, with fractions

# What decides between the columns of a node.
cdef enum Choice:
    CHOOSE_SCORE = 0  # decrease of impurity
    CHOOSE_GAIN = 1  # information gain (ID3)
    CHOOSE_RATIO = 2  # gain ratio, of tests with at least average gain (C4.5)
    CHOOSE_PLAIN_RATIO = 3  # gain ratio

# How the levels of a nominal column are divided.
cdef enum CategoricalSplit:
    SPLIT_SUBSET = 0  # two sets of levels; where gains decide, any number of groups
    SPLIT_ONE_VS_REST = 1  # one level against all others
    SPLIT_MULTIWAY = 2  # a child for every level

# The same numbers as the kinds of nodes.
cdef enum ColumnKind:
    NUMERIC_COLUMN = 1
    ORDINAL_COLUMN = 2
    NOMINAL_COLUMN = 3
    OBLIQUE_TEST = 4

# How ID3 and C4.5 score and choose tests; sizes are weights.
cdef struct GainRules:
    int32_t choice  # CHOOSE_SCORE: none of this counts
    double min_gain
    double min_weight_split
    double min_divided_weight  # the same below a test that divided cases
    double min_branch  # weight that two branches (ID3: all branches) must have
    bint needs_all_branches  # every branch with cases must have min_branch
    bint adapts_minimum  # numeric tests: a tenth of the weight per class, at most 25
    bint corrects_gain  # numeric tests pay log2(tries) for their threshold
    bint keeps_observed  # thresholds are values of the table
    double tolerance  # differences of gains and ratios that count as none
    double weight_tolerance  # the same for weights
    double slack  # how far below average a gain may be
    double resolution  # neighbours that differ by less count as equal
    double min_count  # L(v) = 0 below
    double min_fraction  # missing rows enter branches with a larger fraction

# How the values of a numeric column lie.
cdef struct Spacing:
    bint is_all_distinct  # no value twice
    # for each rank, the first one that a threshold may separate from it; NULL if that
    # is always the next
    const uint32_t* next_apart

# A column's test, as the choice between the columns sees it.
cdef struct Candidate:
    bint is_valid
    int32_t n_children
    double gain  # bits per unit of the node's weight
    double ratio
    int64_t position  # known rows in child 0; or the run that is split off

# The level codes of the rows at hand, column by column: those of nominal columns
# where gains decide, which need not be sorted. A missing value is GLOBAL_MISSING.
cdef struct Codes:
    const uint32_t* start
    int64_t stride

# What stays the same for the whole tree.
cdef struct Problem:
    int32_t criterion
    int32_t scan
    bint is_classifier
    bint weighted
    int64_t n_columns
    int64_t n_outputs
    # numbers kept per node: all classes of all outputs, or one per output
    int64_t n_statistics
    # first number of each output, and one past the last; n_outputs + 1 entries
    const int64_t* output_start
    # limits
    int64_t max_depth
    int64_t min_samples_split
    int64_t min_samples_leaf
    double min_weight_leaf
    double min_impurity_decrease
    double total_weight
    int64_t max_leaf_nodes  # the best split comes first; 0: the whole tree grows
    bint in_files  # memory that grows with the rows is in temporary files
    int64_t memory_limit  # in bytes, if it is
    # columns
    const int32_t* kind
    const int64_t* n_levels
    const uint8_t* has_missing
    const int64_t* n_distinct
    const double* values  # by column, then rank; of bins the smallest value
    const double* upper_values  # of bins the largest value; else the same
    int64_t values_stride
    int64_t max_levels
    bint any_nominal
    # nominal columns of many levels, whose means are smoothed; NULL: none
    const uint8_t* is_smoothed
    double smoothing  # rows of the node's mean added to a level; below 0: estimated
    # by how much more than its weight tells the mean of a level varies: 1, but about
    # 2 where rows are drawn with replacement and the weights are their counts
    double design_effect
    # nominal columns that are not sorted but coded; the list of the node's rows then
    # stands behind the sorted columns
    const uint8_t* is_coded
    bint any_coded
    # no missing values, nominal columns, constraints or random thresholds
    bint is_plain
    int32_t missing_mode
    bint divides_cases  # fractional, and values are missing
    int32_t categorical_split
    int32_t unseen_branch  # STAY or FRACTIONAL
    # choice of columns and thresholds
    int64_t max_features
    bint shuffle_columns
    bint random_splitter
    int64_t top_splits  # one of so many best tests is taken, at random
    const int32_t* monotonic  # NULL without constraints
    # what costs multiply the weights of the classes by; NULL without costs
    const double* class_factor
    # c * log2(c) in fixed point, for counts 0 .. n_rows
    const int64_t* entropy_table
    double entropy_unit
    GainRules gain
    const uint8_t* is_many_valued  # per column: left out of the average gain
    Interrupt* interrupt  # NULL: nothing stops the work

# What is known of each row; indexed by the row number of the entries in use.
cdef struct Rows:
    const int32_t* label  # n_outputs per row; classification
    const double* y  # n_outputs per row; regression
    const double* weight  # NULL for unit weights

# A set of rows: a node, its present or its missing rows.
cdef struct Totals:
    int64_t rows
    double weight
    # class weights; or the sums of weight * (y - centre) of each output
    double* sums
    # regression: the node's mean (absolute and Poisson error: zero)
    const double* centre
    # regression: sum of weight * (y - centre)^2 over all outputs
    double squares
    # goodness(sums): weight * impurity up to a constant of the node
    double goodness

# The best test found so far.
cdef struct Split:
    # decrease of weight * impurity, or what of it is expected on other rows; below 0:
    # none found
    double score
    double decrease  # on the rows of the node
    int64_t position  # numeric: number of present rows in child 0
    double threshold
    int32_t column  # -1: none found
    int32_t kind
    int32_t n_children
    # child of the rows whose value is missing; -1 where the node has none
    int32_t missing_child
    bint splits_missing  # present rows in child 0, missing rows in child 1
    bint improved  # set by a scan that found something better

# A level and what it is sorted by.
cdef struct Keyed:
    double key
    int64_t index

# A row and its value of an output, to be sorted.
cdef struct Target:
    double y
    uint32_t row

# Working memory that a thread reuses for every node.
cdef struct Scratch:
    double* left  # n_statistics
    double* right  # n_statistics
    double* present  # n_statistics
    double* missing  # n_statistics
    double* zeros  # n_statistics
    int64_t* left_count  # n_statistics
    int64_t* right_count  # n_statistics
    # nominal columns: one slot per level, one for missing, one spare
    int64_t* run_start
    int64_t* run_rows
    double* run_weight
    double* run_sums  # slots * n_statistics
    double* run_gain
    int32_t* declared_side  # as best_side
    double* run_smooth  # slots * n_statistics: smoothed sums, from the node's mean
    double* left_smooth  # n_statistics
    double* all_smooth  # n_statistics
    double* all_sums  # n_statistics: of the levels
    Keyed* run_order
    int32_t* run_side
    int32_t* best_side
    int32_t* run_level  # level of every run
    int32_t* level_counts  # classes of every level, unit weights
    int32_t* level_rows  # rows of every level
    # groups of levels: what merging each pair adds to V and to sum_b L(n_b)
    double* pair_value
    double* pair_branches
    # absolute error: one slot per row
    double* loss
    double* left_median
    double* right_median
    MedianSet medians
    int32_t* y_rank  # by output, then row: rank of y among the node's values
    double* y_sorted  # by output: the node's distinct values of y
    int64_t* n_sorted  # by output
    int64_t capacity  # rows that the slots hold
    Target* targets  # one slot per row

# One pass over the present rows of a numeric column, in ascending order.
cdef struct Pass:
    int64_t n_present  # entries to go through
    # positions (present rows in child 0) that leave enough rows on both sides
    int64_t lowest
    int64_t highest
    # what child 0 holds before the first entry: the missing rows, or nothing
    int64_t left_rows
    double left_weight
    const double* left_sums
    # the rows that are divided, and the score they start from
    const Totals* totals
    const Totals* whole  # all rows of the node
    double offset
    double margin
    int32_t missing_child
    # the missing rows, which follow the present ones in a sorted column, and whether
    # child 0 holds them (for the absolute error)
    int64_t n_missing
    bint missing_left
    # monotonic constraint: values allowed in this node, and the column's sign
    double lower
    double upper
    int32_t direction
    # child of the missing rows that are not part of the division, or -1
    int32_t offset_child
    # ranks that lie far enough apart for a threshold; NULL: any that differ
    const uint32_t* next_apart
    # multiway splits: the run of the missing rows
    int64_t n_runs_missing

# A node as the split search sees it.
cdef struct NodeView:
    Totals totals
    double margin  # by how much a score must be larger to be better
    double noise  # the part of it that covers rounding
    double lower
    double upper
    uint64_t random_state

# A test that stands in for another one where its value is missing.
cdef struct SurrogateTest:
    int32_t column
    int32_t low_child  # child of the rows up to the position
    int64_t position  # numeric: present rows at or below the threshold
    double agreement
    double adjusted
    double threshold
    int64_t n_used

cdef enum:
    MAX_SURROGATES = 5

cdef inline bint smooths_levels(const Problem* problem, int64_t column) noexcept nogil:
    # Whether the levels of a nominal column are compared by smoothed means.
    return problem.is_smoothed != NULL and problem.is_smoothed[column]

cdef inline bint is_ordered_only(const Problem* problem, int64_t column) noexcept nogil:
    # Whether a small node tests a nominal column as an ordinal one.
    return smooths_levels(problem, column) and not problem.random_splitter
