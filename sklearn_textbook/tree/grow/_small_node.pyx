"""Subtrees of up to 64 samples.

A tree has more nodes in them than elsewhere. Targets and weights of the samples are
copied once, and a node is a stretch of a list of their numbers. Four columns are tried
side by side: their keys, codes and places in one number, are sorted together, and all
scores are computed before the first is looked at, so that no branch depends on them.
Sampling of columns, limits and records are those of larger nodes; a node takes less
time than some calls into another module, so all is in this one, except for the search
of levels where their order does not give the best division.

What parts of it spare, of the instructions of a fit of 5,000 rows
(``python -m benchmarks instructions --scale 0.05``): levels of nominal columns 18% of a
forest, 30% with many classes; random thresholds 33% of extremely randomized trees;
pairs of samples 8% of a forest of regression trees that try all columns; logarithms
from a table 7% of a forest by entropy.

A key of a sample in a column is MIN_KEY + code * 64 + place, where the place is that in
the list of the node's samples. So keys of one column differ, equal codes are sorted by
place, and two neighbours have equal codes if their keys differ in the lowest six bits
alone. Keys are compared as floats, for which SSE2 has minimum and maximum, but none for
integers of 32 bits: positive floats are ordered as their bits are. A tile is an array
of keys (or scores), four columns side by side: entry 4 i + c belongs to column c.
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
from sklearn_textbook.tree.grow._column_sampler cimport (
    ColumnSampler,
    draw_column,
    start_sampler,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._node cimport (
    accepts_split,
    bound_children,
    branch_for_missing,
    must_be_leaf,
    write_leaf,
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
from sklearn_textbook.tree.split._best cimport breaks_constraint, limits_children
from sklearn_textbook.tree.split._bin_end cimport leave_bin
from sklearn_textbook.tree.split._column cimport evaluate_runs
from sklearn_textbook.tree.split._criterion cimport class_impurity, goodness, times_log
from sklearn_textbook.tree.split._deviance cimport (
    deviance_bound,
    deviance_noise,
    deviance_part,
)
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
    random_unit,
    reciprocal_of,
    sample_sides,
)
from sklearn_textbook.tree.split._samples cimport LIST_BINARY, LIST_GENERAL
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
    ENTROPY,
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
    ColumnSampler drawn

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


cdef inline const double* values_of_sample(
    const SmallRows* rows, uint8_t row
) noexcept nogil:
    # The values of all columns, where thresholds are random.
    return <const double*>rows.codes[row]


cdef inline uint32_t code_in(
    const SmallRows* rows, uint8_t row, int32_t column
) noexcept nogil:
    """The code of a sample in a column."""
    if rows.code_size == 1:
        return (<const uint8_t*>rows.codes[row])[column]
    if rows.code_size == 2:
        return (<const uint16_t*>rows.codes[row])[column]
    return (<const uint32_t*>rows.codes[row])[column]


# ------------------------------------------------------------------------------------
# Sorting the keys of four columns side by side, by one network of exchanges: up to 16
# keys of a column in the registers, and more of them by merging.
# ------------------------------------------------------------------------------------


cdef enum:
    NO_KEY = 0x7F000000
    BLOCK = 16  # keys of a column that are sorted in the registers


cdef inline void sort_four(int32_t* keys) noexcept nogil:
    """Sort four keys of each of the four columns: five exchanges, in registers."""
    cdef:
        Keys a = LOAD_KEYS(keys), b = LOAD_KEYS(keys + TILE_COLUMNS)
        Keys c = LOAD_KEYS(keys + 2 * TILE_COLUMNS)
        Keys d = LOAD_KEYS(keys + 3 * TILE_COLUMNS)
    EXCHANGE(a, b)
    EXCHANGE(c, d)
    EXCHANGE(a, c)
    EXCHANGE(b, d)
    EXCHANGE(b, c)
    STORE_KEYS(keys, a)
    STORE_KEYS(keys + TILE_COLUMNS, b)
    STORE_KEYS(keys + 2 * TILE_COLUMNS, c)
    STORE_KEYS(keys + 3 * TILE_COLUMNS, d)


cdef inline void sort_eight(int32_t* keys) noexcept nogil:
    """Sort eight keys of each column, by Batcher's odd-even merge sort of 19 exchanges.
    """
    cdef:
        Keys a = LOAD_KEYS(keys), b = LOAD_KEYS(keys + TILE_COLUMNS)
        Keys c = LOAD_KEYS(keys + 2 * TILE_COLUMNS)
        Keys d = LOAD_KEYS(keys + 3 * TILE_COLUMNS)
        Keys e = LOAD_KEYS(keys + 4 * TILE_COLUMNS)
        Keys f = LOAD_KEYS(keys + 5 * TILE_COLUMNS)
        Keys g = LOAD_KEYS(keys + 6 * TILE_COLUMNS)
        Keys h = LOAD_KEYS(keys + 7 * TILE_COLUMNS)
    EXCHANGE(a, b)
    EXCHANGE(c, d)
    EXCHANGE(e, f)
    EXCHANGE(g, h)
    EXCHANGE(a, c)
    EXCHANGE(b, d)
    EXCHANGE(e, g)
    EXCHANGE(f, h)
    EXCHANGE(b, c)
    EXCHANGE(f, g)
    EXCHANGE(a, e)
    EXCHANGE(b, f)
    EXCHANGE(c, g)
    EXCHANGE(d, h)
    EXCHANGE(c, e)
    EXCHANGE(d, f)
    EXCHANGE(b, c)
    EXCHANGE(d, e)
    EXCHANGE(f, g)
    STORE_KEYS(keys, a)
    STORE_KEYS(keys + TILE_COLUMNS, b)
    STORE_KEYS(keys + 2 * TILE_COLUMNS, c)
    STORE_KEYS(keys + 3 * TILE_COLUMNS, d)
    STORE_KEYS(keys + 4 * TILE_COLUMNS, e)
    STORE_KEYS(keys + 5 * TILE_COLUMNS, f)
    STORE_KEYS(keys + 6 * TILE_COLUMNS, g)
    STORE_KEYS(keys + 7 * TILE_COLUMNS, h)


cdef inline void exchange_run(
    int32_t* keys, int64_t start, int64_t stop, int64_t gap
) noexcept nogil:
    """Exchange the keys from start to stop with those that many places above."""
    cdef:
        int64_t i
        int32_t* low
        Keys a, b
    for i in range(start, stop):
        low = keys + TILE_COLUMNS * i
        a = LOAD_KEYS(low)
        b = LOAD_KEYS(low + TILE_COLUMNS * gap)
        EXCHANGE(a, b)
        STORE_KEYS(low, a)
        STORE_KEYS(low + TILE_COLUMNS * gap, b)


cdef inline void merge_halves(int32_t* keys, int64_t half, int64_t n) noexcept nogil:
    """Batcher's odd-even merging of two sorted halves, of which n keys are there: an
    exchange with a key that is not there would change nothing."""
    cdef int64_t gap = half // 2, start
    # Each key of the lower half with that of the upper half, then ever closer ones.
    exchange_run(keys, 0, min(half, n - half), half)
    while gap > 0:
        start = gap
        while start + gap < n:
            exchange_run(keys, start, min(start + gap, n - gap), gap)
            start += 2 * gap
        gap //= 2


cdef inline void sort_block(int32_t* keys, int64_t n) noexcept nogil:
    """Sort up to 16 keys; the array has a multiple of four entries."""
    cdef int64_t i
    # Fill up with keys that are larger than any other.
    for i in range(TILE_COLUMNS * n, TILE_COLUMNS * ((n + 3) // 4 * 4)):
        keys[i] = NO_KEY
    if n <= 4:
        sort_four(keys)
        return
    sort_eight(keys)
    if n <= 8:
        return
    if n <= 12:
        sort_four(keys + 8 * TILE_COLUMNS)
    else:
        sort_eight(keys + 8 * TILE_COLUMNS)
    merge_halves(keys, 8, n)


cdef wide_void sort_tile(int32_t* keys, int64_t n) noexcept nogil:
    """Sort n keys of each column; others are overwritten."""
    cdef int64_t start = 0, half = BLOCK
    while start < n:
        sort_block(keys + TILE_COLUMNS * start, min(n - start, <int64_t>BLOCK))
        start += BLOCK
    while half < n:
        start = 0
        while start + half < n:
            merge_halves(keys + TILE_COLUMNS * start, half, min(n - start, 2 * half))
            start += 2 * half
        half *= 2


# ------------------------------------------------------------------------------------
# Scores of all splits of up to four sorted columns, and the best of them.
# ------------------------------------------------------------------------------------


# Parts of a key.
cdef inline int64_t place_of(int32_t key) noexcept nogil:
    return key & (SMALL_ROWS - 1)


cdef inline uint32_t code_of(int32_t key) noexcept nogil:
    return <uint32_t>((key - MIN_KEY) >> ROW_BITS)


cdef inline bint same_code(int32_t key, int32_t other) noexcept nogil:
    """Whether two keys of a column differ by their places alone."""
    return (key ^ other) < SMALL_ROWS


cdef inline const double* amount_at(
    const SmallSearch* search, int32_t key
) noexcept nogil:
    # weight * (y - centre), and the weight.
    return search.amounts + 2 * place_of(key)


cdef inline void add_amount(
    const SmallSearch* search, int64_t place, double* first, double* weight
) noexcept nogil:
    # ``first`` is the sum of weight * (y - centre).
    first[0] += search.amounts[2 * place]
    weight[0] += search.amounts[2 * place + 1]


# -------------------------------------------------------- two classes, squared error


cdef wide_void score_pairs(
    const SmallSearch* search, int64_t lowest, Tile* tile
) noexcept nogil:
    """d^2 / (k (n - k)).

    Entry i is the score of the threshold above sorted sample i. Places that leave fewer
    than ``lowest`` samples get none.
    """
    cdef:
        const int32_t* keys = tile.keys
        double* score = tile.score
        int64_t i
        double n_weight = search.n_weight, total = search.total
        Amount a = NO_AMOUNT(), b = NO_AMOUNT(), c = NO_AMOUNT(), d = NO_AMOUNT()
    for i in range(search.n - lowest):
        ADD_AMOUNT(a, amount_at(search, keys[0]))
        ADD_AMOUNT(b, amount_at(search, keys[1]))
        ADD_AMOUNT(c, amount_at(search, keys[2]))
        ADD_AMOUNT(d, amount_at(search, keys[3]))
        if i >= lowest - 1:
            STORE_FOUR(score, SCORE_FOUR(a, b, c, d, n_weight, total, keys))
        keys += TILE_COLUMNS
        score += TILE_COLUMNS


# ---------------------------------------------------------------------------- classes


cdef void add_up_classes(
    const SmallSearch* search, const int32_t* keys, int64_t n, SideSums* sums
) noexcept nogil:
    """Gini: the sums of squared class weights of both sides."""
    cdef:
        double[TILE_COLUMNS * MAX_CLASSES] left
        double[TILE_COLUMNS] left_squares
        double[TILE_COLUMNS] right_squares
        double[TILE_COLUMNS] weights
        int64_t i, c, place, label
        double weight, here, there, squares = 0.0
    memset(left, 0, TILE_COLUMNS * search.n_classes * sizeof(double))
    for c in range(search.n_classes):
        squares += search.totals[c] * search.totals[c]
    for c in range(TILE_COLUMNS):
        left_squares[c] = weights[c] = 0.0
        right_squares[c] = squares
    for i in range(n):
        for c in range(TILE_COLUMNS):
            place = place_of(keys[TILE_COLUMNS * i + c])
            weight = search.amounts[2 * place + 1]
            label = <int64_t>search.y[place]
            here = left[TILE_COLUMNS * label + c]
            there = search.totals[label] - here
            left[TILE_COLUMNS * label + c] = here + weight
            # (l + w)^2 - l^2, and (r - w)^2 - r^2.
            left_squares[c] += weight * (2.0 * here + weight)
            right_squares[c] -= weight * (2.0 * there - weight)
            weights[c] += weight
            sums.left[TILE_COLUMNS * i + c] = left_squares[c]
            sums.right[TILE_COLUMNS * i + c] = right_squares[c]
            sums.weight[TILE_COLUMNS * i + c] = weights[c]


cdef wide_void score_squares(
    const SideSums* sums, const int32_t* keys, int64_t n, double n_weight, double base,
    double* score
) noexcept nogil:
    """Gini: the sum of squares over the weight, of both sides."""
    cdef:
        int64_t i
        double weight, value
    for i in range(n):
        weight = sums.weight[i]
        value = (sums.left[i] * (n_weight - weight) + sums.right[i] * weight) / (
            weight * (n_weight - weight)
        ) - base
        # A decrease below 0 is rounding; -1 marks equal codes.
        value = value if value > 0.0 else 0.0
        score[i] = -1.0 if same_code(keys[i], keys[i + TILE_COLUMNS]) else value


cdef double score_logarithms(
    const SmallSearch* search, const double* left, double weight
) noexcept nogil:
    """Entropy: sum T(l_c) + T(r_c), less T(k) + T(n - k) and the base."""
    cdef:
        const int64_t* table = search.entropy_table
        int64_t c, whole = 0
        double value = 0.0
    if table != NULL:
        for c in range(search.n_classes):
            whole += table[<int64_t>left[c]] + table[
                <int64_t>(search.totals[c] - left[c])
            ]
        whole -= table[<int64_t>weight] + table[<int64_t>(search.n_weight - weight)]
        return <double>(whole - search.whole_base) * search.unit
    for c in range(search.n_classes):
        value += times_log(left[c]) + times_log(search.totals[c] - left[c])
    return value - times_log(weight) - times_log(search.n_weight - weight) - search.base


cdef void score_whole_entropies(
    const SmallSearch* search, int64_t n, Tile* tile
) noexcept nogil:
    """Entropy of whole weights, by differences of the table."""
    cdef:
        const int64_t* table = search.entropy_table
        int64_t[TILE_COLUMNS * MAX_CLASSES] left
        int64_t[TILE_COLUMNS] sums
        int64_t[TILE_COLUMNS] weights
        int64_t _i, c, place, label, weight, here, there, whole
        int64_t n_weight = <int64_t>search.n_weight
        int64_t base = -table[n_weight]  # the differences are from the node's own sum
        const int32_t* keys = tile.keys
        double* score = tile.score
    memset(left, 0, TILE_COLUMNS * search.n_classes * sizeof(int64_t))
    for c in range(TILE_COLUMNS):
        sums[c] = weights[c] = 0
    for _i in range(n):
        for c in range(TILE_COLUMNS):
            place = place_of(keys[c])
            weight = <int64_t>search.amounts[2 * place + 1]
            label = <int64_t>search.y[place]
            here = left[TILE_COLUMNS * label + c]
            there = <int64_t>search.totals[label] - here
            left[TILE_COLUMNS * label + c] = here + weight
            # T(l + w) - T(l) + T(r - w) - T(r).
            sums[c] += (
                table[here + weight] - table[here]
                + table[there - weight] - table[there]
            )
            weights[c] += weight
            score[c] = -1.0
            if not same_code(keys[c], keys[c + TILE_COLUMNS]):
                whole = sums[c] - table[weights[c]] - table[n_weight - weights[c]]
                score[c] = max(<double>(whole - base) * search.unit, 0.0)
        keys += TILE_COLUMNS
        score += TILE_COLUMNS


cdef void score_entropies(
    const SmallSearch* search, int64_t n, Tile* tile
) noexcept nogil:
    """Entropy of real weights. All terms are added up anew for every threshold, in the
    order of the classes, so that equal class weights have equal scores."""
    cdef:
        double[MAX_CLASSES] left
        const int32_t* keys
        double* score
        int64_t i, c, place
        double weight
    for c in range(tile.n_columns):
        keys = tile.keys + c
        score = tile.score + c
        memset(left, 0, search.n_classes * sizeof(double))
        weight = 0.0
        for i in range(n):
            # The sample moves to the left.
            place = place_of(keys[TILE_COLUMNS * i])
            left[<int64_t>search.y[place]] += search.amounts[2 * place + 1]
            weight += search.amounts[2 * place + 1]
            score[TILE_COLUMNS * i] = -1.0
            if not same_code(keys[TILE_COLUMNS * i], keys[TILE_COLUMNS * (i + 1)]):
                score[TILE_COLUMNS * i] = max(
                    score_logarithms(search, left, weight), 0.0
                )


# ---------------------------------------------------------------------------- Poisson


cdef void add_up_moments(
    const SmallSearch* search, const int32_t* keys, int64_t n, SideSums* sums
) noexcept nogil:
    """Poisson: first moment and weight below every threshold."""
    cdef:
        double[TILE_COLUMNS] first
        double[TILE_COLUMNS] weight
        int64_t i, c
    for c in range(TILE_COLUMNS):
        first[c] = weight[c] = 0.0
    for i in range(n):
        for c in range(TILE_COLUMNS):
            add_amount(
                search, place_of(keys[TILE_COLUMNS * i + c]), &first[c], &weight[c]
            )
            sums.left[TILE_COLUMNS * i + c] = first[c]
            sums.weight[TILE_COLUMNS * i + c] = weight[c]


cdef wide_void bound_deviances_of_tile(
    const SideSums* sums, const int32_t* keys, int64_t n, double n_weight, double total,
    double* score
) noexcept nogil:
    """What the scores do not exceed."""
    cdef:
        int64_t i
        double weight, value, mean = total / n_weight, inverse_total = 1.0 / total
    for i in range(n):
        weight = sums.weight[i]
        value = mean * deviance_bound(
            sums.left[i] * n_weight - total * weight, weight, n_weight - weight,
            inverse_total
        )
        score[i] = -1.0 if same_code(keys[i], keys[i + TILE_COLUMNS]) else value


# -------------------------------------------------------------------------- one split


cdef double settle_score(
    const SmallSearch* search, int32_t column, double first, double weight, double score
) noexcept nogil:
    """The score of a split, -infinity if it is not allowed. For Poisson, in place of
    a bound."""
    cdef:
        const Problem* problem = search.problem
        double total = search.total, rest = search.n_weight - weight
    if weight < problem.min_weight_leaf or rest < problem.min_weight_leaf:
        return -INFINITY
    if problem.monotonic != NULL and breaks_constraint(
        search.centre + first / weight, search.centre + (total - first) / rest,
        search.lower, search.upper, problem.monotonic[column]
    ):
        return -INFINITY
    # Poisson was scored by a bound, and needs events on both sides.
    if problem.criterion != POISSON:
        return score
    if first <= 1e-12 * total or total - first <= 1e-12 * total:
        return -INFINITY
    return max(
        deviance_part(first, weight) + deviance_part(total - first, rest) - search.base,
        0.0
    )


cdef inline double score_split(
    const SmallSearch* search, int32_t column, const double* left, double first,
    double weight
) noexcept nogil:
    """The score of one split, -infinity if it is not allowed."""
    cdef:
        double left_squares = 0.0, right_squares = 0.0, there, score, d
        double n = search.n_weight, rest = n - weight
        int64_t c
    if search.is_entropy:
        score = score_logarithms(search, left, weight)
    elif search.is_classes:
        for c in range(search.n_classes):
            there = search.totals[c] - left[c]
            left_squares += left[c] * left[c]
            right_squares += there * there
        score = (left_squares * rest + right_squares * weight) / (
            weight * rest
        ) - search.base
    else:
        d = first * n - search.total * weight
        score = d * d / (weight * rest)
    if search.is_plain:
        return score
    return settle_score(search, column, first, weight, score)


# ------------------------------------------------------------------------ the best one


cdef inline void take_from_tile(
    const Tile* tile, int64_t i, int64_t c, double score, int32_t missing_child,
    SmallSearch* search
) noexcept nogil:
    """Take the split above sorted sample i in a column whose last samples may be
    missing: if they are all that is above, they stand alone."""
    cdef:
        const int32_t* keys = tile.keys + c
        int64_t n_missing = tile.n_missing[c]
    search.bound = score + search.margin
    search.column = tile.number[c]
    search.below = code_of(keys[TILE_COLUMNS * i])
    search.above = code_of(keys[TILE_COLUMNS * (i + 1)])
    search.missing_child = missing_child
    # Child 0 then has all that have a value.
    search.is_alone = missing_child == 1 and i + 1 == search.n - n_missing
    search.n_left = i + 1 + (n_missing if missing_child == 0 else 0)
    search.taken = c


cdef inline void keep_places(const Tile* tile, SmallSearch* search) noexcept nogil:
    """The samples of child 0 first; missing ones come first of these."""
    cdef:
        const int32_t* keys = tile.keys + search.taken
        int64_t j, n = search.n, n_first = 0
    if search.missing_child == 0:
        n_first = tile.n_missing[search.taken]
        for j in range(n_first):
            search.places[j] = <uint8_t>place_of(keys[TILE_COLUMNS * (n - n_first + j)])
    for j in range(n - n_first):
        search.places[n_first + j] = <uint8_t>place_of(keys[TILE_COLUMNS * j])


cdef void try_missing_left(
    const Tile* tile, int64_t c, int64_t lowest, double near, SmallSearch* search
) noexcept nogil:
    """Try the thresholds of a column with its missing samples in child 0."""
    cdef:
        double[MAX_CLASSES] left
        const int32_t* keys = tile.keys + c
        int64_t i, place, n_missing = tile.n_missing[c]
        int64_t n_present = search.n - n_missing
        double first = 0.0, weight = 0.0, score
    if search.is_classes:
        memset(left, 0, search.n_classes * sizeof(double))
    # The missing samples, which are sorted last, come first.
    for i in range(-n_missing, n_present - 1):
        place = place_of(keys[TILE_COLUMNS * (i if i >= 0 else search.n + i)])
        add_amount(search, place, &first, &weight)
        if search.is_classes:
            left[<int64_t>search.y[place]] += search.amounts[2 * place + 1]
        if i < 0 or same_code(keys[TILE_COLUMNS * i], keys[TILE_COLUMNS * (i + 1)]):
            continue
        if n_missing + i + 1 < lowest or n_present - i - 1 < lowest:
            continue
        score = score_split(search, tile.number[c], left, first, weight)
        if score >= near and score > search.bound:
            take_from_tile(tile, i, c, score, 0, search)


cdef double settle_end(
    const Tile* tile, int64_t i, int64_t c, const SmallSearch* search
) noexcept nogil:
    """The score of the split above sorted sample i, -infinity if it is not allowed."""
    cdef:
        double score = tile.score[TILE_COLUMNS * i + c], first = 0.0, weight = 0.0
        int64_t j
    if search.is_plain:
        return score
    for j in range(i + 1):
        add_amount(search, place_of(tile.keys[TILE_COLUMNS * j + c]), &first, &weight)
    return settle_score(search, tile.number[c], first, weight, score)


cdef inline void try_end(
    const Tile* tile, int64_t i, int64_t c, int32_t missing_child, double near,
    SmallSearch* search
) noexcept nogil:
    """Take the split above sorted sample i if it is better."""
    cdef double score = tile.score[TILE_COLUMNS * i + c]
    if not (score >= near and score > search.bound):
        return
    score = settle_end(tile, i, c, search)
    if score > search.bound:
        take_from_tile(tile, i, c, score, missing_child, search)


cdef void try_falling(
    Tile* tile, int64_t c, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Try the levels of a column once more, the large ones of equal means first."""
    cdef:
        int32_t[SMALL_ROWS] rising
        double[MAX_CLASSES] left
        int32_t* keys = tile.keys + c
        int32_t key
        int64_t i, j, place, n = search.n
        double first = 0.0, weight = 0.0, score, bound = search.bound
    # Sort again by the other ranks, by insertion.
    for i in range(n):
        rising[i] = keys[TILE_COLUMNS * i]
        key = make_key(tile.falling[c][code_of(rising[i])], place_of(rising[i]))
        j = i
        while j > 0 and keys[TILE_COLUMNS * (j - 1)] > key:
            keys[TILE_COLUMNS * j] = keys[TILE_COLUMNS * (j - 1)]
            j -= 1
        keys[TILE_COLUMNS * j] = key
    memset(left, 0, search.n_classes * sizeof(double))
    for i in range(n - lowest):
        place = place_of(keys[TILE_COLUMNS * i])
        add_amount(search, place, &first, &weight)
        if search.is_classes:
            left[<int64_t>search.y[place]] += search.amounts[2 * place + 1]
        if i + 1 < lowest or same_code(
            keys[TILE_COLUMNS * i], keys[TILE_COLUMNS * (i + 1)]
        ):
            continue
        score = score_split(search, tile.number[c], left, first, weight)
        if score > search.bound:
            take_from_tile(tile, i, c, score, -1, search)
    # Nothing better: the keys of a split taken before are needed.
    if search.bound == bound:
        for i in range(n):
            keys[TILE_COLUMNS * i] = rising[i]


cdef inline double find_tops(
    int64_t lowest, const SmallSearch* search, Tile* tile
) noexcept nogil:
    """The largest score of each column, and of all."""
    cdef:
        Four top = SAME_FOUR(-1.0)
        double largest = -1.0
        int64_t i
    # The largest of four columns at a time.
    for i in range(lowest - 1, search.n - lowest):
        KEEP_LARGER(top, LOAD_FOUR(tile.score + TILE_COLUMNS * i))
    STORE_FOUR(tile.top, top)
    for i in range(tile.n_columns):
        largest = max(largest, tile.top[i])
    return largest


cdef double find_near(
    const Tile* tile, int64_t lowest, double top, const SmallSearch* search
) noexcept nogil:
    """The score from which on the order of splits decides between them and the best."""
    cdef int64_t i = lowest - 1, c = 0
    if not search.is_plain and top >= 0.0:
        # It is a bound, or the split may not be allowed.
        while tile.top[c] != top:
            c += 1
        while tile.score[TILE_COLUMNS * i + c] != top:
            i += 1
        top = settle_end(tile, i, c, search)
    return max(top - 4.0 * search.margin, 0.0)


cdef inline void choose_in_tile(
    int64_t lowest, Tile* tile, SmallSearch* search
) noexcept nogil:
    """Take the best split; of those that come near, the first column's, the lowest
    threshold's, and missing samples in child 1, in child 0, and alone."""
    cdef:
        int64_t i, c, n_missing, n_present, last
        int32_t missing_child
        double near = find_near(
            tile, lowest, find_tops(lowest, search, tile), search
        )
    # Of scores below ``near`` none can win, which leaves few to be compared in order.
    for c in range(tile.n_columns):
        n_missing = tile.n_missing[c]
        n_present = search.n - n_missing
        missing_child = 1 if n_missing > 0 else -1
        if tile.top[c] >= near and tile.top[c] > search.bound:
            # The split of all present samples from missing ones comes last.
            last = min(search.n - lowest, n_present - (n_missing > 0))
            for i in range(lowest - 1, last):
                try_end(tile, i, c, missing_child, near, search)
        if tile.ties[c]:
            try_falling(tile, c, lowest, search)
        if n_missing == 0 or n_present == 0:
            continue
        try_missing_left(tile, c, lowest, near, search)
        if n_present >= lowest and n_missing >= lowest:
            try_end(tile, n_present - 1, c, 1, near, search)


cdef inline void search_tile(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Take the best split of sorted columns if it is better than what there is."""
    cdef:
        SideSums sums
        int64_t n = search.n - lowest
    search.taken = -1
    if search.is_entropy and search.entropy_table != NULL:
        score_whole_entropies(search, n, tile)
    elif search.is_entropy:
        score_entropies(search, n, tile)
    elif search.is_classes:
        add_up_classes(search, tile.keys, n, &sums)
        score_squares(
            &sums, tile.keys, TILE_COLUMNS * n, search.n_weight, search.base, tile.score
        )
    elif search.problem.criterion == POISSON:
        add_up_moments(search, tile.keys, n, &sums)
        bound_deviances_of_tile(
            &sums, tile.keys, TILE_COLUMNS * n, search.n_weight, search.total,
            tile.score
        )
    else:
        score_pairs(search, lowest, tile)
    choose_in_tile(lowest, tile, search)
    if search.taken >= 0:
        keep_places(tile, search)


# ------------------------------------------------------------------------------------
# Levels of the nominal columns of a small node. Columns of many levels, whose means are
# smoothed in larger nodes, keep their codes, as ordinal columns do.
# ------------------------------------------------------------------------------------


cdef inline bint stands_behind(
    const Level* one, const Level* other, int sign
) noexcept nogil:
    """Whether a level comes after another one; equal means as in ``order_ties``."""
    if one.mean != other.mean:
        return one.mean > other.mean
    if sign != 0 and one.n_rows != other.n_rows:
        return sign * (one.n_rows - other.n_rows) > 0
    if sign != 0 and one.weight != other.weight:
        return sign * (one.weight - other.weight) > 0.0
    return one.code > other.code


cdef inline bint sort_levels(Level* levels, int64_t n, int sign) noexcept nogil:
    """Sort levels by their means; returns whether some are equal."""
    cdef:
        int64_t i, j
        bint any_ties = False
        Level held
    for i in range(1, n):
        held = levels[i]
        j = i
        while j > 0 and stands_behind(&levels[j - 1], &held, sign):
            levels[j] = levels[j - 1]
            j -= 1
        levels[j] = held
    for i in range(1, n):
        any_ties |= levels[i].mean == levels[i - 1].mean
    return any_ties


cdef inline int64_t sum_levels_of_keys(
    const SmallSearch* search, const int32_t* keys, Level* levels, uint8_t* level_of
) noexcept nogil:
    """Sum up the samples of each level, whose keys are sorted, and write the level of
    each sample; returns the number of levels."""
    cdef:
        Level* level = levels
        int64_t i, place, n_levels = 0
    for i in range(search.n):
        if i == 0 or not same_code(keys[0], keys[-TILE_COLUMNS]):
            level = &levels[n_levels]
            level.code = code_of(keys[0])
            level.number = <uint8_t>n_levels
            n_levels += 1
            level.n_rows = 0
            level.first = level.weight = 0.0
        place = place_of(keys[0])
        # By place, as keys will be sorted otherwise.
        level_of[place] = level.number
        level.n_rows += 1
        add_amount(search, place, &level.first, &level.weight)
        keys += TILE_COLUMNS
    return n_levels


cdef void rank_levels(
    const SmallSearch* search, int64_t c, Tile* tile
) noexcept nogil:
    """Put ranks of the levels, by their means, in place of their codes: the best split
    is one of these ranks then. A missing value is a level. As ``try_ordered``."""
    cdef:
        int32_t* keys = tile.keys + c
        Level[SMALL_ROWS] levels
        uint8_t[SMALL_ROWS] level_of
        uint8_t[SMALL_ROWS] rank_of_level
        int64_t i, j, n_levels = sum_levels_of_keys(search, keys, levels, level_of)
    for j in range(n_levels):
        # On the grid of ``order_runs``, which makes means equal that differ by
        # rounding.
        levels[j].mean = floor(
            levels[j].first / levels[j].weight / search.grid + 0.5
        )
    tile.ties[c] = sort_levels(levels, n_levels, search.is_limited) and (
        search.is_limited
    )
    for j in range(n_levels):
        rank_of_level[levels[j].number] = <uint8_t>j
    for i in range(search.n):
        keys[TILE_COLUMNS * i] = make_key(rank_of_level[level_of[i]], i)
    if not tile.ties[c]:
        return
    for j in range(n_levels):
        # From the ranks with small levels first to those with large levels first.
        levels[j].code = j
    sort_levels(levels, n_levels, -1)
    for j in range(n_levels):
        tile.falling[c][levels[j].code] = <uint8_t>j


cdef void divide_by_search(
    const SmallSearch* search, int64_t c, Tile* tile
) noexcept nogil:
    """Put the child in the best division of the levels in place of their codes. The
    levels are searched as in larger nodes."""
    cdef:
        const Problem* problem = search.problem
        Scratch* scratch = search.scratch
        int32_t* keys = tile.keys + c
        int32_t column = tile.number[c]
        Level[SMALL_ROWS] levels
        uint8_t[SMALL_ROWS] level_of
        Split split
        int64_t i, run, size = problem.n_statistics, n_missing = 0
        int64_t n_levels = sum_levels_of_keys(search, keys, levels, level_of)
    for run in range(n_levels):
        scratch.run_rows[run] = levels[run].n_rows
        scratch.run_weight[run] = levels[run].weight
        scratch.run_sums[run * size] = levels[run].first
    # Missing values have the largest code.
    if levels[n_levels - 1].code == <uint32_t>problem.n_distinct[column]:
        n_missing = levels[n_levels - 1].n_rows
    if problem.is_classifier:
        memset(scratch.run_sums, 0, n_levels * size * sizeof(double))
        for i in range(search.n):
            scratch.run_sums[level_of[i] * size + <int64_t>search.y[i]] += (
                search.amounts[2 * i + 1]
            )
    memset(&split, 0, sizeof(Split))
    split.column = -1
    evaluate_runs(problem, scratch, &search.view, column, n_levels, n_missing, &split)
    # A column is not constant though none of its divisions is allowed.
    tile.varies[c] = n_levels > 1
    for i in range(search.n):
        keys[TILE_COLUMNS * i] = make_key(
            split.improved and not scratch.best_side[level_of[i]], i
        )


cdef inline bint recode_levels(
    const SmallSearch* search, Tile* tile
) noexcept nogil:
    """Order the levels of nominal columns, whose keys are sorted, so that the best
    division is a threshold. Returns whether there are any."""
    cdef:
        const Problem* problem = search.problem
        bint is_ordered = problem.categorical_split == SPLIT_SUBSET and (
            not problem.is_classifier or problem.n_statistics == 2
        )
        bint any_nominal = False
        int64_t c
    for c in range(tile.n_columns):
        if not divides_levels(problem, tile.number[c]):
            continue
        any_nominal = True
        if is_ordered:
            rank_levels(search, c, tile)
        else:
            divide_by_search(search, c, tile)
    return any_nominal


# ------------------------------------------------------------------------------------
# Sampling the columns of a small node, and the keys of its samples in up to four.
# ------------------------------------------------------------------------------------


cdef inline void start_small_sampler(
    const Problem* problem, const SmallNode* node, SmallSampler* sampler
) noexcept nogil:
    # A constant number of bytes is copied without a call.
    if problem.n_columns <= 64:
        memcpy(sampler.order, IN_ORDER, 64 * sizeof(uint16_t))
    else:
        memcpy(sampler.order, IN_ORDER, problem.n_columns * sizeof(uint16_t))
    start_sampler(node.random_state, &sampler.drawn)


cdef inline bint divides_levels(const Problem* problem, int32_t column) noexcept nogil:
    """Whether the levels of a column are divided by their means, or at random."""
    return problem.kind[column] == NOMINAL_COLUMN and not is_ordered_only(
        problem, column
    )


cdef inline void leave_column_out(SmallNode* node, int32_t number) noexcept nogil:
    """A constant column is constant in all nodes below."""
    node.active.words[number >> 6] &= ~(<uint64_t>1 << (number & 63))


cdef inline int64_t sample_tile(
    const Problem* problem, const SmallNode* node, SmallSampler* sampler,
    int32_t* numbers
) noexcept nogil:
    """Sample up to four columns; returns their number. The first one fills the rest."""
    cdef:
        int64_t n_columns = 0, c
        int32_t number
    while n_columns < TILE_COLUMNS:
        # Not known yet to vary: sampling goes on until one column does.
        sampler.drawn.n_waiting = n_columns
        number = draw_column(
            problem, &node.active, sampler.order, RECIPROCALS, &sampler.drawn
        )
        if number < 0:
            break
        numbers[n_columns] = number
        n_columns += 1
    for c in range(n_columns, TILE_COLUMNS):
        numbers[c] = numbers[0]
    return n_columns


cdef inline int32_t make_key(uint32_t code, int64_t place) noexcept nogil:
    # The layout is described at the head of the module.
    return <int32_t>(code << ROW_BITS) + <int32_t>place + MIN_KEY


cdef inline void fill_keys(
    const Code* kind, const SmallRows* rows, const SmallSearch* search, Tile* tile
) noexcept nogil:
    """Make keys of the samples, code and place in one number."""
    cdef:
        int64_t first = tile.number[0], second = tile.number[1]
        int64_t third = tile.number[2], fourth = tile.number[3], i
        int32_t* keys = tile.keys
        const Code* row
    for i in range(search.n):
        row = <const Code*>rows.codes[search.order[i]]
        keys[0] = make_key(row[first], i)
        keys[1] = make_key(row[second], i)
        keys[2] = make_key(row[third], i)
        keys[3] = make_key(row[fourth], i)
        keys += TILE_COLUMNS


cdef inline void fill_tile(
    const SmallRows* rows, const SmallSearch* search, Tile* tile
) noexcept nogil:
    """The same of codes of any width."""
    cdef int64_t c
    if rows.code_size == 1:
        fill_keys(<const uint8_t*>NULL, rows, search, tile)
    elif rows.code_size == 2:
        fill_keys(<const uint16_t*>NULL, rows, search, tile)
    else:
        fill_keys(<const uint32_t*>NULL, rows, search, tile)
    for c in range(TILE_COLUMNS):
        tile.n_missing[c] = 0
        tile.ties[c] = tile.varies[c] = False


cdef inline void count_missing_keys(
    const Problem* problem, int64_t n, Tile* tile
) noexcept nogil:
    """Count the samples of each column whose value is missing."""
    cdef:
        int64_t i, c
        int32_t least
    for c in range(tile.n_columns):
        if not problem.has_missing[tile.number[c]] or (
            divides_levels(problem, tile.number[c])
        ):
            continue
        least = make_key(<uint32_t>problem.n_distinct[tile.number[c]], 0)
        for i in range(n):
            tile.n_missing[c] += tile.keys[TILE_COLUMNS * i + c] >= least


cdef inline void try_columns(
    const Problem* problem, const SmallRows* rows, SmallNode* node, SmallSearch* search
) noexcept nogil:
    """Sample columns, and try all their splits."""
    cdef:
        SmallSampler sampler
        Tile tile
        int64_t c, last = TILE_COLUMNS * (search.n - 1)
    start_small_sampler(problem, node, &sampler)
    while True:
        tile.n_columns = sample_tile(problem, node, &sampler, tile.number)
        if tile.n_columns == 0:
            return
        fill_tile(rows, search, &tile)
        if rows.may_miss:
            count_missing_keys(problem, search.n, &tile)
        # Codes of nominal columns first, so that levels stand together.
        sort_tile(tile.keys, search.n)
        if problem.any_nominal and recode_levels(search, &tile):
            sort_tile(tile.keys, search.n)
        search_tile(&tile, max(problem.min_samples_leaf, 1), search)
        # The first and the last key tell whether a column varies.
        for c in range(tile.n_columns):
            if not tile.varies[c] and same_code(tile.keys[c], tile.keys[last + c]):
                leave_column_out(node, tile.number[c])
            else:
                sampler.drawn.n_found += 1


cdef inline bint separates_pair(
    const SmallRows* rows, const uint8_t* order, int32_t number, SmallSampler* sampler,
    bint* is_falling
) noexcept nogil:
    """Whether a random threshold separates two samples. It does not separate a missing
    value from another one, but a column that has both is not constant."""
    cdef:
        double one = values_of_sample(rows, order[0])[number]
        double other = values_of_sample(rows, order[1])[number]
    sampler.drawn.n_found += (one == one) != (other == other)
    is_falling[0] = one > other
    return one < other or one > other


cdef inline bint find_pair_split(
    const Problem* problem, const SmallRows* rows, const SmallNode* node,
    uint8_t* pair, SmallSearch* search
) noexcept nogil:
    """Find the first column in which the two samples of a node differ, and put them
    into order; False if none does."""
    cdef:
        SmallSampler sampler
        const uint8_t* order = rows.order + node.start
        int32_t number
        uint32_t one = 0, other = 0
        bint is_falling
    start_small_sampler(problem, node, &sampler)
    # Columns are drawn as in larger nodes, but the first that varies is the best one:
    # it separates the two samples, and the rest could only tie.
    while True:
        number = draw_column(
            problem, &node.active, sampler.order, RECIPROCALS, &sampler.drawn
        )
        if number < 0:
            return False
        if problem.random_splitter:
            if separates_pair(rows, order, number, &sampler, &is_falling):
                break
            continue
        one = code_in(rows, order[0], number)
        other = code_in(rows, order[1], number)
        if one != other:
            is_falling = one > other
            break
    # The sample with the lower value goes to child 0.
    pair[0] = order[is_falling]
    pair[1] = order[not is_falling]
    search.column = number
    search.n_left = 1
    search.missing_child = -1
    search.is_alone = False
    if problem.random_splitter:
        search.threshold = leave_bin(
            problem, number,
            random_threshold(
                node, number, values_of_sample(rows, pair[0])[number],
                values_of_sample(rows, pair[1])[number], &sampler.drawn.random_state
            )
        )
        return True
    search.below = min(one, other)
    search.above = max(one, other)
    search.threshold = NAN
    if problem.has_missing[number] and (
        search.above == <uint32_t>problem.n_distinct[number]
    ):
        search.is_alone = True
        search.missing_child = 1
    return True


# ------------------------------------------------------------------------------------
# One random threshold for each sampled column of a small node, four side by side.
# ------------------------------------------------------------------------------------


# Values in place of codes; n_left samples of each column are on the left.
cdef struct RandomTile:
    double[SMALL_ROWS * TILE_COLUMNS] values
    double[TILE_COLUMNS] smallest
    double[TILE_COLUMNS] largest
    double[TILE_COLUMNS] threshold
    double[TILE_COLUMNS] first
    double[TILE_COLUMNS] weight
    double[TILE_COLUMNS] n_left
    int64_t[TILE_COLUMNS] n_missing
    bint[TILE_COLUMNS] missing_left
    bint[TILE_COLUMNS] varies
    bint[TILE_COLUMNS] is_divided
    int32_t[TILE_COLUMNS] number


cdef inline void read_values(
    const SmallRows* rows, const SmallSearch* search, RandomTile* tile
) noexcept nogil:
    """The values of the columns, and their ranges."""
    cdef:
        int64_t first = tile.number[0], second = tile.number[1]
        int64_t third = tile.number[2], fourth = tile.number[3], i
        Four four, smallest = SAME_FOUR(INFINITY), largest = SAME_FOUR(-INFINITY)
    # NaN, for missing values, changes no range.
    for i in range(search.n):
        four = GATHER_FOUR(
            values_of_sample(rows, search.order[i]), first, second, third, fourth
        )
        WIDEN_FOUR(smallest, largest, four)
        STORE_FOUR(tile.values + TILE_COLUMNS * i, four)
    STORE_FOUR(tile.smallest, smallest)
    STORE_FOUR(tile.largest, largest)
    for i in range(TILE_COLUMNS):
        tile.n_missing[i] = 0
        tile.missing_left[i] = False


cdef inline double random_threshold(
    const SmallNode* node, int32_t number, double smallest, double largest,
    uint64_t* state
) noexcept nogil:
    """A threshold between the smallest and the largest value of a column."""
    cdef double threshold
    state[0] = child_state(node.random_state, ~<int64_t>number)
    threshold = smallest + random_unit(state) * (largest - smallest)
    return smallest + 0.0 if threshold >= largest else threshold  # not -0


cdef inline void sample_threshold(
    const SmallNode* node, int64_t n, bint may_miss, int64_t c, RandomTile* tile
) noexcept nogil:
    """A threshold of a column, and the side of missing values."""
    cdef:
        uint64_t state
        int64_t i
    tile.threshold[c] = random_threshold(
        node, tile.number[c], tile.smallest[c], tile.largest[c], &state
    )
    if not may_miss:
        return
    for i in range(n):
        tile.n_missing[c] += tile.values[TILE_COLUMNS * i + c] != (
            tile.values[TILE_COLUMNS * i + c]
        )
    if tile.n_missing[c] > 0:
        tile.missing_left[c] = random_below(&state, 2) == 1


cdef void sample_division(
    const Problem* problem, const SmallNode* node, int64_t n, int64_t c,
    const int32_t* keys, RandomTile* tile
) noexcept nogil:
    """Divide the levels, whose keys are sorted, at random as ``try_random``. Writes 0
    for child 0 and 1 for child 1 in place of the levels, so that 0.5 is a threshold."""
    cdef:
        int32_t[SMALL_ROWS] is_left
        uint8_t[SMALL_ROWS] level_of
        uint64_t state = child_state(node.random_state, ~<int64_t>tile.number[c])
        int64_t i, n_levels = 0
    # Number the levels in ascending order, as larger nodes do.
    for i in range(n):
        if i > 0:
            n_levels += not same_code(
                keys[TILE_COLUMNS * i + c], keys[TILE_COLUMNS * (i - 1) + c]
            )
        level_of[place_of(keys[TILE_COLUMNS * i + c])] = <uint8_t>n_levels
    n_levels += 1
    tile.is_divided[c] = tile.varies[c] = n_levels > 1
    if n_levels == 1:
        return
    sample_sides(
        problem.categorical_split == SPLIT_ONE_VS_REST, n_levels, &state, is_left
    )
    tile.threshold[c] = 0.5
    for i in range(n):
        tile.values[TILE_COLUMNS * i + c] = 0.0 if is_left[level_of[i]] else 1.0


cdef inline void sort_levels_of_tile(
    const Problem* problem, int64_t n, const RandomTile* tile, int32_t* keys
) noexcept nogil:
    """Make keys of the levels of nominal columns, and sort them."""
    cdef:
        int64_t i, c
        uint32_t code
        double value
    for i in range(n):
        for c in range(TILE_COLUMNS):
            # Other columns are sorted with them, for nothing.
            code = 0
            if problem.kind[tile.number[c]] == NOMINAL_COLUMN:
                value = tile.values[TILE_COLUMNS * i + c]
                code = <uint32_t>(
                    value if value == value else problem.n_levels[tile.number[c]]
                )
            keys[TILE_COLUMNS * i + c] = make_key(code, i)
    sort_tile(keys, n)


cdef inline void sample_tests(
    const Problem* problem, const SmallNode* node, int64_t n, int64_t n_columns,
    RandomTile* tile
) noexcept nogil:
    """A threshold, or a division of the levels, of each column."""
    cdef:
        int32_t[SMALL_ROWS * TILE_COLUMNS] keys
        int64_t c
        bint any_nominal = False
    for c in range(n_columns):
        any_nominal |= problem.kind[tile.number[c]] == NOMINAL_COLUMN
    if any_nominal:
        sort_levels_of_tile(problem, n, tile, keys)
    for c in range(n_columns):
        if problem.kind[tile.number[c]] == NOMINAL_COLUMN:
            sample_division(problem, node, n, c, keys, tile)
            continue
        sample_threshold(node, n, problem.has_missing[tile.number[c]], c, tile)
        tile.is_divided[c] = tile.smallest[c] < tile.largest[c]
        tile.varies[c] = tile.is_divided[c] or 0 < tile.n_missing[c] < n
    for c in range(n_columns, TILE_COLUMNS):
        tile.threshold[c] = tile.threshold[0]


cdef inline bint goes_left(
    const RandomTile* tile, int64_t i, int64_t c
) noexcept nogil:
    # No branch to predict.
    cdef double value = tile.values[TILE_COLUMNS * i + c]
    return (value <= tile.threshold[c]) | ((value != value) & tile.missing_left[c])


cdef inline void add_up_left(
    const SmallSearch* search, RandomTile* tile
) noexcept nogil:
    """First moments, weights and numbers of the samples on the left; missing ones are
    on the right."""
    cdef:
        # Loads of four numbers stored one by one stall.
        Four threshold = GATHER_FOUR(tile.threshold, 0, 1, 2, 3), is_left
        Four first = SAME_FOUR(0.0), weight = first, count = first
        int64_t i
    for i in range(search.n):
        is_left = AT_MOST(LOAD_FOUR(tile.values + TILE_COLUMNS * i), threshold)
        ADD_WHERE(first, is_left, search.amounts[2 * i])
        ADD_WHERE(weight, is_left, search.amounts[2 * i + 1])
        ADD_WHERE(count, is_left, 1.0)
    STORE_FOUR(tile.first, first)
    STORE_FOUR(tile.weight, weight)
    STORE_FOUR(tile.n_left, count)


cdef double score_threshold(
    const SmallSearch* search, const RandomTile* tile, int64_t c, int64_t* n_left
) noexcept nogil:
    """The score of a threshold, and how many samples are on the left."""
    cdef:
        double[MAX_CLASSES] left
        double first = tile.first[c], weight = tile.weight[c]
        int64_t i
    n_left[0] = <int64_t>tile.n_left[c]
    # ``add_up_left`` has neither classes nor missing samples on the left.
    if search.is_classes or tile.missing_left[c]:
        memset(left, 0, search.n_classes * sizeof(double))
        first = weight = 0.0
        n_left[0] = 0
        for i in range(search.n):
            if not goes_left(tile, i, c):
                continue
            n_left[0] += 1
            add_amount(search, i, &first, &weight)
            if search.is_classes:
                left[<int64_t>search.y[i]] += search.amounts[2 * i + 1]
    return score_split(search, tile.number[c], left, first, weight)


cdef inline void take_random(
    const RandomTile* tile, int64_t c, int64_t n_left, double score,
    SmallSearch* search
) noexcept nogil:
    """Keep a random test that is better, and for levels which samples go to the left.
    """
    cdef int64_t i
    search.bound = score + search.margin
    search.column = tile.number[c]
    search.threshold = tile.threshold[c]
    search.is_alone = False
    search.missing_child = -1
    if tile.n_missing[c] > 0:
        search.missing_child = 0 if tile.missing_left[c] else 1
    search.n_left = n_left
    if search.problem.kind[search.column] == NOMINAL_COLUMN:
        search.goes_left = 0
        for i in range(search.n):
            search.goes_left |= <uint64_t>goes_left(tile, i, c) << i


cdef inline void list_children(
    const Problem* problem, const SmallRows* rows, SmallSearch* search
) noexcept nogil:
    """List the samples of child 0, then those of child 1."""
    cdef:
        uint8_t[SMALL_ROWS] right
        double threshold = search.threshold, value
        int64_t i, n_left = 0
        bint missing_left = search.missing_child == 0, is_left
        bint is_nominal = problem.kind[search.column] == NOMINAL_COLUMN
    # Both stores happen always; only the counter depends on the child.
    for i in range(search.n):
        search.places[n_left] = <uint8_t>i
        right[i - n_left] = <uint8_t>i
        if is_nominal:
            is_left = search.goes_left >> i & 1
        else:
            value = values_of_sample(rows, search.order[i])[search.column]
            is_left = (value <= threshold) | ((value != value) & missing_left)
        n_left += is_left
    memcpy(search.places + n_left, right, search.n - n_left)
    # Of levels there is a map in place of a threshold.
    search.threshold = (
        NAN if is_nominal else leave_bin(problem, search.column, threshold)
    )


cdef void try_random_columns(
    const Problem* problem, const SmallRows* rows, SmallNode* node, SmallSearch* search
) noexcept nogil:
    """Sample columns, and one threshold of each."""
    cdef:
        SmallSampler sampler
        RandomTile tile
        int64_t c, n = search.n, n_columns, n_left
        int64_t lowest = max(problem.min_samples_leaf, 1)
        double score
    start_small_sampler(problem, node, &sampler)
    while True:
        n_columns = sample_tile(problem, node, &sampler, tile.number)
        if n_columns == 0:
            break
        read_values(rows, search, &tile)
        sample_tests(problem, node, n, n_columns, &tile)
        if not search.is_classes:
            add_up_left(search, &tile)
        for c in range(n_columns):
            # Left out below, and not counted among those that were sampled.
            if not tile.varies[c]:
                leave_column_out(node, tile.number[c])
                continue
            sampler.drawn.n_found += 1
            if not tile.is_divided[c]:
                continue
            score = score_threshold(search, &tile, c, &n_left)
            if lowest <= n_left <= n - lowest and score > search.bound:
                take_random(&tile, c, n_left, score, search)
    if search.column >= 0:
        list_children(problem, rows, search)


# ------------------------------------------------------------------------------------
# Splitting a small node: what its children hold, and their records.
# ------------------------------------------------------------------------------------


cdef inline void write_child(
    const Problem* problem, NodeBuffer* buffer, int64_t number, int32_t parent,
    bint is_plain, const Child* child
) noexcept nogil:
    """Write the record of a child, and its statistics: the value, or two classes where
    all splits are plain. Other statistics are in place already."""
    cdef double* statistics
    write_leaf(
        buffer, number, parent, child.n_rows, child.weight, child.impurity
    )
    if not problem.is_classifier:
        buffer.statistics[number] = child.value
    elif problem.n_statistics == 2 and is_plain:
        statistics = buffer.statistics + 2 * number
        statistics[0] = child.weight - child.first
        statistics[1] = child.first


cdef inline void write_test(
    const Problem* problem, Node* node, const SmallSearch* search, int64_t first
) noexcept nogil:
    """Turn the record of the node into that of an inner node."""
    cdef int64_t[2] n_rows
    n_rows[0] = search.n_left
    n_rows[1] = node.n_samples - search.n_left
    node.first_child = <int32_t>first
    node.n_children = 2
    node.feature = search.column
    node.kind = problem.kind[search.column]
    node.missing_branch = branch_for_missing(
        problem, search.missing_child, n_rows, 2
    )
    node.threshold = INFINITY if search.is_alone else search.threshold
    node.map_start = -1
    # Codes on both sides of the threshold, for the midpoint in the end.
    if node.threshold != node.threshold:
        node.map_start = <int64_t>(<uint64_t>search.below << 32 | search.above)


cdef void split_pair(
    const Problem* problem, const SmallRows* rows, SmallNode* node, NodeBuffer* buffer
) noexcept nogil:
    """Split two samples by the first column in which they differ."""
    cdef:
        SmallSearch search
        uint8_t[2] pair
        Child child
        int64_t first = buffer.n_nodes, c
        Node* record = &buffer.nodes[node.node]
        double* statistics
    # A child without events has no finite deviance.
    if problem.criterion == POISSON and not (
        rows.y[rows.order[node.start]] > 0.0
        and rows.y[rows.order[node.start + 1]] > 0.0
    ):
        return
    if not find_pair_split(problem, rows, node, pair, &search):
        return
    # Single samples have no impurity: all of it is gained.
    if not accepts_split(problem, record, record.impurity):
        return
    write_test(problem, record, &search, first)
    for c in range(2):
        # Of two classes, ``first`` is the weight of the second.
        child.n_rows = 1
        child.weight = rows.weight[pair[c]]
        child.value = rows.y[pair[c]]
        child.first = child.weight * child.value
        child.impurity = 0.0
        write_child(problem, buffer, first + c, node.node, True, &child)
        if problem.n_statistics > 2:
            statistics = buffer.statistics + (first + c) * problem.n_statistics
            clear_statistics(statistics, problem.n_statistics)
            statistics[<int64_t>child.value] = child.weight
    buffer.n_nodes += 2


cdef void order_samples(
    const Problem* problem, const SmallRows* rows, SmallSearch* search, uint8_t* held
) noexcept nogil:
    """Sum up the samples of each child in the order of the column, and hold them in
    that of the list, as larger nodes do."""
    cdef:
        uint32_t[SMALL_ROWS] keys
        int64_t i, j, low = 0, high = search.n_left
        uint32_t key
        uint8_t place, row
        uint8_t[SMALL_ROWS] is_right
    # By child, code and place: sums of larger nodes are taken in this order.
    for i in range(search.n):
        place = search.places[i]
        is_right[place] = i >= search.n_left
        row = search.order[place]
        key = make_key(code_in(rows, row, search.column), place)
        key |= <uint32_t>(i >= search.n_left) << 31
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
    # Places in the order of the column for the sums, samples in that of the list for
    # the nodes below.
    for i in range(search.n):
        search.places[i] = <uint8_t>place_of(keys[i])
        held[high if is_right[i] else low] = search.order[i]
        low += not is_right[i]
        high += is_right[i]


cdef void measure_classes(
    const Problem* problem, const SmallSearch* search, Child* children, double* sums
) noexcept nogil:
    """Class weights of the children, and their impurity as in ``finish_classes``."""
    cdef:
        int64_t i, c, size = problem.n_statistics
        uint8_t place
    clear_statistics(sums, 2 * size)
    for i in range(search.n):
        place = search.places[i]
        c = size if i >= search.n_left else 0
        sums[c + <int64_t>search.y[place]] += search.amounts[2 * place + 1]
    for c in range(2):
        children[c].impurity = 0.0
        if children[c].varies:
            children[c].impurity = class_impurity(
                problem, sums + c * size, children[c].weight
            )
        if size == 2:
            children[c].first = sums[2 * c + 1]


cdef inline void sum_children(
    const SmallSearch* search, bint is_classifier, Child* children, uint8_t* rows
) noexcept nogil:
    """What the children hold, and their samples."""
    cdef:
        int64_t i, c, start, stop
        double y, first, weight, squares
        uint8_t place
        bint varies
    for c in range(2):
        start = search.n_left if c else 0
        stop = search.n if c else search.n_left
        # The first value, with which the others are compared for purity.
        y = search.y[search.places[start]]
        first = weight = squares = 0.0
        varies = False
        for i in range(start, stop):
            place = search.places[i]
            rows[i] = search.order[place]
            first += search.amounts[2 * place]
            weight += search.amounts[2 * place + 1]
            varies |= search.y[place] != y
            if not is_classifier:
                squares += search.squares[place]
        children[c].n_rows = stop - start
        children[c].y = y
        children[c].first = first
        children[c].weight = weight
        children[c].squares = squares
        children[c].varies = varies


cdef inline void finish_child(
    const Problem* problem, double centre, Child* child
) noexcept nogil:
    """Value and impurity of a child, of two classes or of values."""
    cdef:
        double[2] values
        double[2] impurities
        double zero_fraction, one_fraction
    if problem.is_classifier:
        # As in ``class_impurity``.
        child.impurity = 0.0
        if child.varies:
            zero_fraction = (child.weight - child.first) / child.weight
            one_fraction = child.first / child.weight
            child.impurity = 1.0 - (
                zero_fraction * zero_fraction + one_fraction * one_fraction
            )
        elif child.y == 1.0:
            child.first = child.weight
        return
    # Both results are computed, and one selected: no branch to predict. A pure child
    # keeps the very value of its samples.
    values[0] = child.y
    impurities[0] = 0.0
    finish_value(
        centre, child.weight, child.first, child.squares, problem.criterion == POISSON,
        &values[1], &impurities[1]
    )
    child.value = values[child.varies]
    child.impurity = impurities[child.varies]


cdef inline double value_of_child(
    const Problem* problem, const Child* child
) noexcept nogil:
    """For monotonic constraints."""
    return child.first / child.weight if problem.is_classifier else child.value


cdef inline int32_t level_in(
    const Problem* problem, const SmallRows* rows, uint8_t row, int32_t column
) noexcept nogil:
    """The level of a sample, -1 if it is missing."""
    cdef:
        double value
        uint32_t code
    if problem.random_splitter:
        value = values_of_sample(rows, row)[column]
        return <int32_t>value if value == value else -1
    code = code_in(rows, row, column)
    if code == <uint32_t>problem.n_distinct[column]:
        return -1
    return <int32_t>problem.values[column * problem.values_stride + code]


cdef int64_t write_levels_of_places(
    const Problem* problem, const SmallRows* rows, SmallSearch* search,
    NodeBuffer* buffer
) noexcept nogil:
    """Write the level map of a nominal split, and find the child of missing values.
    Returns where the map starts, or -1 without memory."""
    cdef:
        uint64_t[SMALL_ROWS] cells  # as those of a sorted column
        int32_t[SMALL_ROWS] levels
        int32_t[SMALL_ROWS] run_child
        int64_t i, j, n = 0, n_runs = 0
        int32_t level
        uint64_t cell
    # Level and child in one number, sorted by insertion; missing samples all go to one
    # child.
    for i in range(search.n):
        level = level_in(problem, rows, search.order[search.places[i]], search.column)
        if level < 0:
            search.missing_child = i >= search.n_left
            continue
        cell = <uint64_t>level << 32 | <uint64_t>(i >= search.n_left)
        j = n
        while j > 0 and cells[j - 1] > cell:
            cells[j] = cells[j - 1]
            j -= 1
        cells[j] = cell
        n += 1
    for i in range(n):
        if i == 0 or cells[i] != cells[i - 1]:
            levels[n_runs] = <int32_t>(cells[i] >> 32)
            run_child[n_runs] = <int32_t>(cells[i] & 1)
            n_runs += 1
    return write_level_map(
        problem, buffer, search.column, n_runs, levels, run_child, False
    )


cdef int64_t split_node(
    const Problem* problem, const SmallRows* rows, SmallNode* node,
    SmallSearch* search, NodeBuffer* buffer, Child* children
) noexcept nogil:
    """Make the children. Returns the number of the first, 0 if the node remains a leaf,
    or -1 without memory."""
    cdef:
        Node* record = &buffer.nodes[node.node]
        uint8_t[SMALL_ROWS] held
        uint8_t[SMALL_ROWS] stable
        int64_t c, map_start, first = buffer.n_nodes
        double decrease = record.impurity
        # Of a random test, the samples are in the order of the list already.
        bint keeps_order = search.is_plain or problem.random_splitter
    if not keeps_order:
        order_samples(problem, rows, search, stable)
    # The loop is compiled for both.
    if problem.is_classifier:
        sum_children(search, True, children, held)
    else:
        sum_children(search, False, children, held)
    if search.sums_classes:
        # Written behind the last node, and kept if the split is accepted.
        measure_classes(
            problem, search, children, buffer.statistics + first * problem.n_statistics
        )
    for c in range(2):
        if not search.sums_classes:
            finish_child(problem, search.centre, &children[c])
        decrease -= children[c].weight / record.weight * children[c].impurity
    if not accepts_split(problem, record, max(decrease, 0.0)):
        return 0
    if problem.kind[search.column] == NOMINAL_COLUMN:
        search.missing_child = -1
        search.is_alone = False  # missing values are a level
        map_start = write_levels_of_places(problem, rows, search, buffer)
        if map_start < 0:
            return -1
        write_test(problem, record, search, first)
        record.map_start = map_start
    else:
        write_test(problem, record, search, first)
    for c in range(2):
        write_child(
            problem, buffer, first + c, node.node, search.is_plain, &children[c]
        )
    if problem.monotonic != NULL:
        bound_children(
            problem, search.column, value_of_child(problem, &children[0]),
            value_of_child(problem, &children[1]), search.lower, search.upper, 2,
            buffer.bounds + 2 * first
        )
    buffer.n_nodes += 2
    if keeps_order:
        memcpy(search.order, held, search.n)
    else:
        memcpy(search.order, stable, search.n)
    return first


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
    # Of classes it knows two criteria.
    if problem.is_classifier and (
        problem.criterion != GINI and problem.criterion != ENTROPY
    ):
        return False
    if problem.n_columns > MAX_COLUMNS:
        return False
    if max(samples.table.n_rows, problem.max_levels) >= MAX_CODES:
        return False
    if problem.is_classifier and problem.n_statistics > MAX_CLASSES:
        return False
    # Missing values go to child 0 or 1 here, and to no third one.
    if problem.missing_mode != MISSING_LEARNED and samples.value_limit != NULL:
        return False
    if problem.random_splitter and samples.row_values == NULL:
        return False
    if problem.is_smoothed != NULL and problem.categorical_split != SPLIT_SUBSET:
        return False
    return not problem.any_nominal or problem.categorical_split != SPLIT_MULTIWAY


# ------------------------------------------------------------------------------------
# Reading the rows of a small subtree, and what its nodes hold.
# ------------------------------------------------------------------------------------


cdef const void* find_rows(const SampleList* samples, int64_t* size) noexcept nogil:
    """Where the codes of the samples stand row by row, and how wide they are."""
    size[0] = samples.table.code_size
    if not samples.is_local:
        return samples.table.row_codes
    if samples.table.row_codes == samples.table.row_bins:
        return samples.local_bins
    return samples.local_codes


cdef void prefetch_small(
    const SampleList* samples, const Frame* root
) noexcept nogil:
    """Prefetch the codes of a subtree, if it is of few samples."""
    cdef:
        const uint64_t* entries = samples.entries + root.start
        const BinaryCounts* counted = NULL
        const Moments* listed = NULL
        int64_t i, j, size, number
        const char* codes = <const char*>find_rows(samples, &size)
        const double* values
    size *= samples.table.n_columns
    if root.n_rows > SMALL_ROWS:
        return
    for i in range(root.n_rows):
        if samples.kind == LIST_BINARY:
            number = number_of(counted, entries[i])
        else:
            number = number_of(listed, entries[i])
        # Values are eight to a cache line; of codes the first and the last line are
        # enough for all but wide tables.
        if samples.row_values != NULL:
            if samples.is_local:
                number = samples.local_row[number]
            values = samples.row_values + number * samples.table.n_columns
            for j in range(0, samples.table.n_columns, 8):
                PREFETCH(values + j)
            PREFETCH(values + samples.table.n_columns - 1)
            continue
        PREFETCH(codes + number * size)
        PREFETCH(codes + (number + 1) * size - 1)


cdef void read_rows(
    const Problem* problem, const SampleList* samples, const Frame* root,
    SmallRows* rows
) noexcept nogil:
    """Find what is known of the samples of the subtree."""
    cdef:
        const uint64_t* entries = samples.entries + root.start
        const BinaryCounts* counted = NULL
        const Moments* listed = NULL
        const double* y = samples.local_y if samples.is_local else samples.y
        const double* logarithm = samples.logarithm
        const double* weights = samples.weight
        int64_t i, number, width = problem.n_columns
        const char* codes = <const char*>find_rows(samples, &rows.code_size)
    if weights != NULL and samples.is_local:
        weights = samples.local_weight
    if logarithm != NULL and samples.is_local:
        logarithm = samples.local_logarithm
    rows.may_miss = samples.value_limit != NULL
    rows.is_plain = is_plain(problem) and problem.criterion != POISSON
    rows.is_classes = problem.is_classifier and (
        problem.n_statistics != 2 or problem.criterion != GINI
    )
    for i in range(root.n_rows):
        rows.order[i] = <uint8_t>i
        # Of two classes y is 0 or 1, whatever the weight.
        if samples.kind == LIST_BINARY:
            number = number_of(counted, entries[i])
            rows.y[i] = <double>(ones_in(entries[i]) > 0)
            rows.weight[i] = <double>weight_in(entries[i])
        else:
            number = number_of(listed, entries[i])
            rows.y[i] = (
                <double>class_of(entries[i]) if problem.is_classifier else y[number]
            )
            rows.weight[i] = (
                <double>whole_weight_of(entries[i]) if weights == NULL
                else weights[number]
            )
        if logarithm != NULL:
            rows.logarithm[i] = logarithm[number]
        if problem.random_splitter:
            if samples.is_local:
                number = samples.local_row[number]
            rows.codes[i] = samples.row_values + number * width
        else:
            rows.codes[i] = codes + number * width * rows.code_size


cdef void view_classes(
    const Problem* problem, const double* statistics, double margin,
    SmallSearch* search
) noexcept nogil:
    """Several classes, or entropy."""
    cdef:
        const int64_t* table = problem.entropy_table
        int64_t c
    search.totals = statistics
    search.entropy_table = table if search.is_entropy else NULL
    search.margin = margin
    search.unit = 1.0
    search.base = goodness(problem, statistics, search.n_weight)
    if search.entropy_table == NULL:
        return
    search.unit = problem.entropy_unit
    search.margin += TABLE_ROUNDING * search.unit
    # sum T(t_c) - T(n) of the node itself.
    search.whole_base = -table[<int64_t>search.n_weight]
    for c in range(search.n_classes):
        search.whole_base += table[<int64_t>statistics[c]]


cdef inline double class_noise(double weight) noexcept nogil:
    """As ``rounding_noise``; whole weights are looked up."""
    cdef int64_t whole = <int64_t>weight if weight <= MAX_WEIGHT else <int64_t>0
    if <double>whole == weight:
        return NOISE[whole]
    return 1e-15 * weight * (1.0 + fabs(log2(weight)))


cdef void view_margin(
    const Problem* problem, const Node* record, const double* statistics,
    SmallSearch* search
) noexcept nogil:
    """By how much a score must be larger to be better, as in ``view_node``."""
    cdef double spread = record.impurity * record.weight
    if problem.is_classifier or problem.criterion == POISSON:
        search.margin = 1e-12 * spread + class_noise(record.weight)
        search.view.margin = search.margin
        if search.is_classes:
            view_classes(problem, statistics, search.margin, search)
        elif problem.is_classifier:
            # In units of d^2 / (k (n - k)), as the bound is: a score of two classes is
            # 2 / n of that, one of values 1 / n.
            search.margin *= 0.5 * record.weight
        else:
            search.margin += deviance_noise(statistics[0], record.weight)
            search.view.margin = search.margin
    else:
        search.margin = record.weight * (
            1e-12 * spread + 1e-15 * fabs(search.centre) * sqrt(record.weight * spread)
        )
        search.view.margin = search.margin / record.weight
    search.grid = 1.0
    if not problem.is_classifier and spread > 0.0:
        search.grid = sqrt(spread / record.weight)
    search.grid /= 1099511627776.0


cdef void view_levels(
    const Problem* problem, const SmallNode* node, const Node* record,
    double* statistics, Scratch* scratch, SmallSearch* search
) noexcept nogil:
    """The node as the search of levels sees it; the margin is there already."""
    cdef NodeView* view = &search.view
    search.scratch = scratch
    view.lower = view.upper = 0.0
    if problem.monotonic != NULL:
        view.lower = search.lower
        view.upper = search.upper
    view.random_state = node.random_state
    view.totals.rows = node.n_rows
    view.totals.weight = record.weight
    view.totals.centre = scratch.zeros
    view.totals.sums = scratch.zeros
    if problem.is_classifier:
        view.totals.sums = statistics
    elif problem.criterion == POISSON:
        view.totals.sums = &search.total
    else:
        view.totals.centre = statistics
    view.totals.squares = record.impurity * record.weight
    view.totals.goodness = goodness(problem, view.totals.sums, record.weight)


cdef void view_rows(
    const Problem* problem, const SmallRows* rows, const SmallNode* node,
    Worker* worker, SmallSearch* search
) noexcept nogil:
    """Put the samples of the node side by side."""
    cdef:
        const NodeBuffer* buffer = &worker.buffer
        const Node* record = &buffer.nodes[node.node]
        double* statistics = (
            buffer.statistics + node.node * problem.n_statistics
        )
        double total = 0.0, first, mean = 0.0
        int64_t i
        uint8_t row
        bint is_poisson = problem.criterion == POISSON
    if not problem.is_classifier and not is_poisson:
        mean = statistics[0]
    search.problem = problem
    search.n = node.n_rows
    search.order = <uint8_t*>rows.order + node.start
    search.is_plain = rows.is_plain
    search.is_limited = limits_children(problem)
    search.is_classes = rows.is_classes
    search.n_classes = problem.n_statistics if rows.is_classes else 0
    search.is_entropy = rows.is_classes and problem.criterion != GINI
    search.sums_classes = rows.is_classes or (
        problem.is_classifier and not rows.is_plain
    )
    search.centre = mean
    search.n_weight = record.weight
    view_margin(problem, record, statistics, search)
    search.bound = -INFINITY
    search.threshold = NAN
    search.column = -1
    # Side by side, by place, as the loops over keys read them.
    for i in range(search.n):
        row = search.order[i]
        first = rows.weight[row] * (rows.y[row] - mean)
        search.y[i] = rows.y[row]
        search.amounts[2 * i] = first
        search.amounts[2 * i + 1] = rows.weight[row]
        if not problem.is_classifier:
            search.squares[i] = first * (
                rows.logarithm[row] if is_poisson else rows.y[row] - mean
            )
        total += first
    search.total = total
    if is_poisson:
        search.base = deviance_part(total, record.weight)
    if problem.monotonic != NULL:
        search.lower = buffer.bounds[2 * node.node]
        search.upper = buffer.bounds[2 * node.node + 1]
    if problem.any_nominal:
        view_levels(problem, node, record, statistics, &worker.scratch, search)


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
    # Once: n samples have at most 2 n - 1 nodes, and records do not move then.
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
    # Depth first. Nodes that wait have two samples or more each, so 64 places are
    # enough.
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
    # The ring is full: the place of the oldest is the next to be used.
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
