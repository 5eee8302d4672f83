"""Subtrees of up to 64 samples.

A tree has more nodes in them than elsewhere. Targets and weights of the samples are
copied once, and a node is a stretch of a list of their numbers. Four columns are tried
side by side: their keys, codes and places in one number, are sorted together, and all
scores are computed before the first is looked at, so that no branch depends on them.
Sampling of columns, limits and records are those of larger nodes; a node takes less
time than some calls into another module, so all is in this one, except for the search
of levels where their order does not give the best division.
"""

from libc.math cimport INFINITY, NAN, fabs, floor, log2, sqrt
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._buffers cimport (
    NodeBuffer,
    clear_statistics,
    reserve_nodes,
)
from sklearn_textbook.tree.grow._children cimport finish_value, write_level_map
from sklearn_textbook.tree.grow._layout cimport LEAF, STAY, Node
from sklearn_textbook.tree.grow._node cimport must_be_leaf
from sklearn_textbook.tree.grow._sample_list cimport (
    LIST_BINARY,
    LIST_GENERAL,
)
from sklearn_textbook.tree.grow._simd cimport (
    ADD_AMOUNT,
    ADD_WHERE,
    AT_MOST,
    EXCHANGE,
    GATHER_FOUR,
    KEEP_LARGER,
    LOAD_FOUR,
    LOAD_KEYS,
    NO_AMOUNT,
    SAME_FOUR,
    SCORE_FOUR,
    STORE_FOUR,
    STORE_KEYS,
    WIDEN_FOUR,
    Amount,
    Four,
    Keys,
)
from sklearn_textbook.tree.split._best cimport (
    breaks_constraint,
    limits_children,
    narrow_bounds,
)
from sklearn_textbook.tree.split._bin_end cimport leave_bin
from sklearn_textbook.tree.split._column cimport evaluate_runs
from sklearn_textbook.tree.split._criterion cimport class_impurity, goodness
from sklearn_textbook.tree.split._deviance cimport (
    deviance_bound,
    deviance_noise,
    deviance_part,
)
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
    random_below_known,
    random_unit,
    reciprocal_of,
    sample_sides,
)
from sklearn_textbook.tree.split._sums cimport (
    PREFETCH,
    TILE_COLUMNS,
    BinaryCounts,
    Moments,
    class_of,
    number_of,
    ones_in,
    weight_in,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport (
    ERROR,
    GINI,
    MISSING_LEARNED,
    NOMINAL_COLUMN,
    POISSON,
    SPLIT_MULTIWAY,
    SPLIT_ONE_VS_REST,
    SPLIT_SUBSET,
    NodeView,
    Scratch,
    Split,
    is_ordered_only,
)
from sklearn_textbook._contract._wide_units cimport wide_void


ctypedef fused Code:
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    SMALL_ROWS = 64
    ROW_BITS = 6  # of a sorted key
    MIN_KEY = 0x00800000  # with an exponent, as subnormal floats are slow
    MAX_CODES = 0x1000000
    MAX_CLASSES = 64
    MAX_COLUMNS = 64 * COLUMN_WORDS
    TABLE_ROUNDING = 8  # units by which equal sums of T may differ
    # Of whole weights two scores d^2 / (k (n - k)) in a node of weight n are equal, or
    # differ by 16 / n^4 or more. Up to this weight that is more than twice the margin,
    # so that candidates are distinguished however their scores are rounded.
    MAX_WEIGHT = 160

# The samples of the subtree, and their numbers in an order that keeps nodes together.
cdef struct SmallRows:
    const void* codes[SMALL_ROWS]  # or values, where thresholds are random
    int64_t code_size  # in bytes
    double[SMALL_ROWS] y  # or the class
    double[SMALL_ROWS] weight
    double[SMALL_ROWS] logarithm  # Poisson: of y
    uint8_t[SMALL_ROWS] order
    bint may_miss  # some values of the table are missing
    bint is_plain  # no limits or constraints, Poisson deviance or nominal columns
    bint is_classes  # several, or entropy

# A node that waits to be split.
cdef struct SmallNode:
    int64_t start
    int64_t n_rows
    int64_t depth
    uint64_t random_state
    ColumnSet active
    int32_t node

# Columns being sampled for a node.
cdef struct SmallSampler:
    uint16_t[MAX_COLUMNS] order
    uint64_t random_state
    int64_t place
    int64_t n_found

# What is known of the node at hand, place by place, and the best split.
cdef struct SmallSearch:
    const Problem* problem
    Scratch* scratch
    NodeView view  # of nominal columns that are searched as in larger nodes
    double[2 * SMALL_ROWS] amounts  # weight * (y - centre), and weight; by place
    double[SMALL_ROWS] y
    double[SMALL_ROWS] squares  # what adds up to the impurity of values
    int64_t n
    uint8_t* order
    bint is_plain
    # several classes: their weights, and what is taken from a value for the score
    bint is_classes
    bint is_entropy
    bint sums_classes  # the children's class weights are summed up one by one
    int64_t n_classes
    const double* totals
    double base  # Poisson, too
    int64_t whole_base
    const int64_t* entropy_table  # whole weights
    double unit  # score of a unit of value
    double centre
    double total  # of weight * (y - centre)
    double n_weight
    double lower  # monotonic constraints
    double upper
    double grid  # of the means of levels
    bint is_limited  # not every division is allowed
    double margin  # in units of the bound
    double bound  # what d^2 / (k (n - k)), or the score, must exceed
    int32_t column  # -1: none yet
    int64_t taken  # which column of the tile, -1: none
    int64_t n_left
    uint8_t[SMALL_ROWS] places  # those of child 0 first
    uint32_t below  # codes on both sides of the threshold
    uint32_t above
    int32_t missing_child  # -1: no value of the column is missing in the node
    double threshold  # if it is sampled at random, otherwise not a number
    uint64_t goes_left  # a bit for each place, if levels are divided at random
    bint is_alone  # missing samples in child 1, all others in child 0

# Four columns of the node: their sorted keys, and the scores above each, side by side.
cdef struct Tile:
    int32_t[SMALL_ROWS * TILE_COLUMNS] keys
    double[SMALL_ROWS * TILE_COLUMNS] score  # below 0 between equal codes
    double[TILE_COLUMNS] top  # the largest of a column
    int32_t[TILE_COLUMNS] number
    int64_t n_columns
    int64_t[TILE_COLUMNS] n_missing
    # Nominal: whether the order of levels of equal means matters, and the ranks with
    # the large ones first.
    bint[TILE_COLUMNS] ties
    bint[TILE_COLUMNS] varies  # known to have several levels
    uint8_t[TILE_COLUMNS][SMALL_ROWS] falling

# What is on the left of every split of a tile: the weight; and the first moment, or the
# sums of squared class weights of both sides.
cdef struct SideSums:
    double[SMALL_ROWS * TILE_COLUMNS] weight
    double[SMALL_ROWS * TILE_COLUMNS] left
    double[SMALL_ROWS * TILE_COLUMNS] right

# A level of a nominal column in the node.
cdef struct Level:
    uint32_t code
    uint8_t number
    int32_t n_rows
    double first
    double weight
    double mean

# What a child holds.
cdef struct Child:
    int64_t n_rows
    double weight
    double first  # sum of weight * (y - centre)
    double squares
    double y  # of one of the samples
    bint varies
    double value
    double impurity

cdef uint16_t[MAX_COLUMNS] IN_ORDER
cdef uint64_t[MAX_COLUMNS + 1] RECIPROCALS
cdef double[MAX_WEIGHT + 1] NOISE  # of scores of two classes


cdef inline const double* values_of(const SmallRows* rows, uint8_t row) noexcept nogil:
    return <const double*>rows.codes[row]


cdef inline uint32_t code_in(
    const SmallRows* rows, uint8_t row, int32_t column
) noexcept nogil:
    if rows.code_size == 1:
        return (<const uint8_t*>rows.codes[row])[column]
    if rows.code_size == 2:
        return (<const uint16_t*>rows.codes[row])[column]
    return (<const uint32_t*>rows.codes[row])[column]


cdef inline double times_log(double x) noexcept nogil:
    return x * log2(x) if x > 0.0 else 0.0


include "_small_sort.pxi"
include "_small_scores.pxi"
include "_small_levels.pxi"
include "_small_columns.pxi"
include "_small_random.pxi"
include "_small_children.pxi"


# ------------------------------------------------------------------------ the subtree


cdef bint is_small(
    const Problem* problem, const SampleList* samples, const Worker* worker,
    const Frame* frame
) noexcept nogil:
    """Whether ``grow_small`` serves the subtree."""
    if frame.n_rows > SMALL_ROWS or not samples.may_be_small:
        return False
    return samples.weight != NULL or not problem.is_classifier or (
        worker.buffer.nodes[frame.node].weight <= MAX_WEIGHT
    )


cdef inline bint is_plain(const Problem* problem) noexcept nogil:
    """Whether all splits are of numbers, and allowed if they leave enough samples."""
    return not problem.any_nominal and problem.monotonic == NULL and (
        problem.min_weight_leaf <= 0.0
    )


cdef bint may_be_small(
    const Problem* problem, const SampleList* samples
) noexcept nogil:
    """Whether the problem is one of those that ``grow_small`` serves."""
    if samples.kind == LIST_GENERAL or problem.top_splits > 1:
        return False
    if problem.criterion == ERROR:
        return False
    if problem.n_columns > MAX_COLUMNS:
        return False
    if max(samples.table.n_rows, problem.max_levels) >= MAX_CODES:
        return False
    if problem.is_classifier and problem.n_statistics > MAX_CLASSES:
        return False
    if problem.missing_mode != MISSING_LEARNED and samples.value_limit != NULL:
        return False
    if problem.random_splitter and samples.row_values == NULL:
        return False
    if problem.is_smoothed != NULL and problem.categorical_split != SPLIT_SUBSET:
        return False
    return not problem.any_nominal or problem.categorical_split != SPLIT_MULTIWAY


include "_small_rows.pxi"


cdef int split_small(
    const Problem* problem, SmallRows* rows, SmallNode* node, Worker* worker,
    SmallNode* waiting, int64_t* n_waiting
) noexcept nogil:
    """Split a node; its children wait for the same. Returns -1 without memory."""
    cdef:
        SmallSearch search
        Child[2] children
        SmallNode* below
        NodeBuffer* buffer = &worker.buffer
        int64_t child, first
    view_rows(problem, rows, node, worker, &search)
    if problem.random_splitter:
        try_random_columns(problem, rows, node, &search)
    else:
        try_columns(problem, rows, node, &search)
    if search.column < 0:
        return 0
    first = split_node(problem, rows, node, &search, buffer, children)
    if first <= 0:
        return <int>first
    for child in range(2):
        # Written in any case, and kept if it is no leaf: no branch to predict.
        below = &waiting[n_waiting[0]]
        below.start = node.start + (search.n_left if child else 0)
        below.n_rows = children[child].n_rows
        below.depth = node.depth + 1
        below.random_state = child_state(node.random_state, child)
        below.active = node.active
        below.node = <int32_t>(first + child)
        n_waiting[0] += not must_be_leaf(
            problem, below.n_rows, children[child].weight, below.depth,
            not children[child].varies
        )
    return 0


cdef int grow_small(
    const Problem* problem, const SampleList* samples, Worker* worker,
    const SmallRoot* root
) noexcept nogil:
    """Grow a subtree of few samples. Returns -1 when memory runs out."""
    cdef:
        SmallNode[SMALL_ROWS] waiting
        SmallNode node
        SmallRows rows
        NodeBuffer* buffer = &worker.buffer
        int64_t n_waiting = 1
        bint pairs_are_known
    if reserve_nodes(buffer, 2 * root.frame.n_rows) < 0:
        return -1
    read_rows(problem, samples, &root.frame, &rows)
    pairs_are_known = is_plain(problem)
    waiting[0].start = 0
    waiting[0].n_rows = root.frame.n_rows
    waiting[0].depth = root.frame.depth
    waiting[0].random_state = root.frame.random_state
    waiting[0].node = root.frame.node
    waiting[0].active = root.active
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        if pairs_are_known and node.n_rows == 2:
            split_pair(problem, &rows, &node, buffer)
        elif split_small(problem, &rows, &node, worker, waiting, &n_waiting) < 0:
            return -1
    return 0


cdef int wait_small(
    const Problem* problem, const SampleList* samples, Worker* worker,
    const Frame* frame, SmallRoots* roots
) noexcept nogil:
    """Prefetch a subtree, and grow the one that has waited longest. Returns -1 when
    memory runs out."""
    cdef:
        SmallRoot* root = &roots.waiting[roots.n_met % MAX_WAITING]
        int64_t i
        int32_t number
    prefetch_small(samples, frame)
    if roots.n_met - roots.n_grown == MAX_WAITING:
        roots.n_grown += 1
        if grow_small(problem, samples, worker, root) < 0:
            return -1
    root.frame = frame[0]
    memset(&root.active, 0, sizeof(ColumnSet))
    for i in range(frame.n_active):
        number = worker.active[i]
        root.active.words[number >> 6] |= <uint64_t>1 << (number & 63)
    roots.n_met += 1
    return 0


cdef int finish_small(
    const Problem* problem, const SampleList* samples, Worker* worker,
    SmallRoots* roots
) noexcept nogil:
    """Grow the subtrees that wait. Returns -1 when memory runs out."""
    while roots.n_grown < roots.n_met:
        roots.n_grown += 1
        if grow_small(
            problem, samples, worker,
            &roots.waiting[(roots.n_grown - 1) % MAX_WAITING]
        ) < 0:
            return -1
    return 0


#: Classes of a table whose small subtrees are grown here.
MOST_CLASSES = MAX_CLASSES
for place in range(MAX_COLUMNS):
    IN_ORDER[place] = place
    RECIPROCALS[place + 1] = reciprocal_of(place + 1)
NOISE[0] = 0.0
for place in range(1, MAX_WEIGHT + 1):
    NOISE[place] = 1e-15 * place * (1.0 + log2(place))
