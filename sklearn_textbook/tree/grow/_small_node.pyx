"""Subtrees of up to 64 samples.

A tree has more nodes in them than elsewhere. Codes, targets and weights of the samples
are copied once, and a node is a stretch of a list of their numbers. Four columns are
tried side by side (``_small_tile``). Sampling of columns, limits and records are those
of larger nodes; a node takes less time than some calls into another module, so all is
inline.
"""

from libc.math cimport INFINITY, NAN, fabs, log2, sqrt
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer, reserve_nodes
from sklearn_textbook.tree.grow._lanes cimport RANGE_FOUR, SUM_FOUR
from sklearn_textbook.tree.grow._layout cimport FRACTIONAL, LEAF, STAY, Node
from sklearn_textbook.tree.grow._children cimport finish_value
from sklearn_textbook.tree.grow._node cimport must_be_leaf
from sklearn_textbook.tree.grow._sample_list cimport (
    LIST_BINARY,
    LIST_CLASS_COUNTS,
    LIST_CLASS_WEIGHTS,
    LIST_GENERAL,
)
from sklearn_textbook.tree.grow._small_tile cimport (
    FEW_KEYS,
    LANES,
    LEAST_KEY,
    MOST_CLASSES,
    MOST_CODES,
    ROW_BITS,
    SMALL_ROWS,
    SmallSearch,
    Tile,
    choose_class_split,
    choose_split,
    judge_classes,
    sort_tile,
    try_few,
    try_with_missing,
)
from sklearn_textbook.tree.split._bin_end cimport leave_bin
from sklearn_textbook.tree.split._criterion cimport class_impurity, goodness
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
    random_below_known,
    random_unit,
    reciprocal_of,
)
from sklearn_textbook.tree.split._sums cimport (
    PREFETCH,
    BinaryCounts,
    Moments,
    class_of,
    number_of,
    ones_in,
    weight_in,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport (
    GINI,
    MISSING_FRACTIONAL,
    MISSING_LEARNED,
    MISSING_SURROGATE,
    POISSON,
)


cdef enum:
    MOST_COLUMNS = 64  # a bit for each
    TABLE_ROUNDING = 8  # units by which equal sums of T may differ
    # Of whole weights two scores d^2 / (k (n - k)) in a node of weight n are equal, or
    # differ by 16 / n^4 or more. Up to this weight that is more than twice the margin,
    # so that candidates are told apart however their scores are rounded.
    MOST_WEIGHT = 160

# Nodes of about the same size wait together, so that branches are predicted better.
# Leaves do not wait.
cdef enum:
    ALONE = 0
    PAIR = 1
    FEW = 2
    MANY = 3
    N_SIZES = 4

# The samples of the subtree, and their numbers in an order that keeps nodes together.
cdef struct SmallRows:
    uint32_t[SMALL_ROWS * MOST_COLUMNS] codes  # row by row
    const double* values[SMALL_ROWS]  # random thresholds: in place of the codes
    double[SMALL_ROWS] y  # or the class
    double[SMALL_ROWS] weight
    uint8_t[SMALL_ROWS] order

# A node that waits to be split.
cdef struct SmallNode:
    int64_t start
    int64_t n_rows
    int64_t depth
    uint64_t random_state
    uint64_t active  # a bit for every column that is not known to be constant
    int32_t node

cdef struct SmallQueue:
    int64_t n_waiting
    SmallNode[SMALL_ROWS] nodes

# Columns being sampled for a node.
cdef struct SmallSampler:
    uint8_t[MOST_COLUMNS] order
    uint64_t random_state
    int64_t place
    int64_t n_found

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

# A column that tells two samples apart.
cdef struct PairSplit:
    int32_t column
    uint8_t low
    uint8_t high
    uint32_t below
    uint32_t above

cdef uint8_t[MOST_COLUMNS] IN_ORDER
cdef uint64_t[MOST_COLUMNS + 1] RECIPROCALS
cdef double[MOST_WEIGHT + 1] NOISE  # of scores of two classes


# ------------------------------------------------------------------------ the subtree


cdef bint is_small(
    const Problem* problem, const SampleList* samples, const Worker* worker,
    const Frame* frame
) noexcept nogil:
    """Whether ``grow_small`` serves the subtree."""
    if frame.n_rows > SMALL_ROWS or not samples.may_be_small:
        return False
    return samples.weight != NULL or not problem.is_classifier or (
        worker.buffer.nodes[frame.node].weight <= MOST_WEIGHT
    )


cdef bint may_be_small(
    const Problem* problem, const SampleList* samples
) noexcept nogil:
    """Whether the problem is one of those that ``grow_small`` serves."""
    return (
        samples.kind != LIST_GENERAL
        and (not problem.is_classifier or problem.n_statistics <= MOST_CLASSES)
        and problem.criterion != POISSON
        and problem.n_columns <= MOST_COLUMNS
        and samples.table.n_rows < MOST_CODES
        and problem.missing_mode != MISSING_SURROGATE
        and (problem.missing_mode == MISSING_LEARNED or samples.value_limit == NULL)
        and problem.min_weight_leaf <= 0.0
        and problem.monotonic == NULL
        and problem.top_splits == 1
        and (not problem.random_splitter or samples.row_values != NULL)
        and not problem.any_nominal
    )


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
    size *= samples.table.n_columns
    if root.n_rows > SMALL_ROWS:
        return
    for i in range(root.n_rows):
        if samples.kind == LIST_BINARY:
            number = number_of(counted, entries[i])
        else:
            number = number_of(listed, entries[i])
        if samples.row_values != NULL:
            if samples.is_local:
                number = samples.local_row[number]
            j = 0
            while j < samples.table.n_columns:
                PREFETCH(samples.row_values + number * samples.table.n_columns + j)
                j += 8
            continue
        PREFETCH(codes + number * size)
        PREFETCH(codes + (number + 1) * size - 1)


cdef inline void copy_codes(
    const void* codes, int64_t size, int64_t number, int64_t n_columns, uint32_t* target
) noexcept nogil:
    """One row of a table of codes that have so many bytes."""
    cdef:
        int64_t j, first = number * n_columns
        const uint8_t* bytes = <const uint8_t*>codes + first
        const uint16_t* words = <const uint16_t*>codes + first
    if size == 1:
        for j in range(n_columns):
            target[j] = bytes[j]
    elif size == 2:
        for j in range(n_columns):
            target[j] = words[j]
    else:
        memcpy(
            target, <const uint32_t*>codes + first, n_columns * sizeof(uint32_t)
        )


cdef void read_rows(
    const Problem* problem, const SampleList* samples, const Frame* root,
    SmallRows* rows
) noexcept nogil:
    """Copy what is known of the samples of the subtree."""
    cdef:
        const uint64_t* entries = samples.entries + root.start
        const BinaryCounts* counted = NULL
        const Moments* listed = NULL
        const double* y = samples.local_y if samples.is_local else samples.y
        const double* weights = samples.weight
        int64_t i, size, number, width = problem.n_columns
        const void* codes = find_rows(samples, &size)
    if weights != NULL and samples.is_local:
        weights = samples.local_weight
    for i in range(root.n_rows):
        rows.order[i] = <uint8_t>i
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
        if problem.random_splitter:
            if samples.is_local:
                number = samples.local_row[number]
            rows.values[i] = samples.row_values + number * width
        else:
            copy_codes(codes, size, number, width, rows.codes + i * width)


cdef void view_classes(
    const Problem* problem, const double* statistics, double margin,
    SmallSearch* search
) noexcept nogil:
    """Several classes, or entropy."""
    cdef:
        const int64_t* table = problem.entropy_table
        int64_t c
    search.n_classes = problem.n_statistics
    search.totals = statistics
    search.is_gini = problem.criterion == GINI
    search.entropy_table = NULL if search.is_gini else table
    search.margin = margin
    search.unit = 1.0
    search.base = goodness(problem, statistics, search.n_weight)
    if search.entropy_table == NULL:
        return
    search.unit = problem.entropy_unit
    search.margin += TABLE_ROUNDING * search.unit
    search.whole_base = -table[<int64_t>search.n_weight]
    for c in range(search.n_classes):
        search.whole_base += table[<int64_t>statistics[c]]


cdef inline double class_noise(double weight) noexcept nogil:
    """As ``rounding_noise``; whole weights are looked up."""
    cdef int64_t whole = <int64_t>weight if weight <= MOST_WEIGHT else <int64_t>0
    if <double>whole == weight:
        return NOISE[whole]
    return 1e-15 * weight * (1.0 + fabs(log2(weight)))


cdef void view_rows(
    const Problem* problem, const SmallRows* rows, bint is_classes,
    const SmallNode* node, const Node* record, const double* statistics,
    SmallSearch* search
) noexcept nogil:
    """Put the samples of the node side by side."""
    cdef:
        double spread = record.impurity * record.weight, total = 0.0, first, margin
        double mean = 0.0 if problem.is_classifier else statistics[0]
        int64_t i, n = node.n_rows
        uint8_t row
    search.n = n
    search.order = <uint8_t*>rows.order + node.start
    search.centre = mean
    search.n_weight = record.weight
    search.is_classes = is_classes
    # As in ``view_node``.
    if problem.is_classifier:
        margin = 1e-12 * spread + class_noise(record.weight)
        search.margin = 0.5 * record.weight * margin
        if is_classes:
            view_classes(problem, statistics, margin, search)
    else:
        search.margin = record.weight * (
            1e-12 * spread + 1e-15 * fabs(mean) * sqrt(record.weight * spread)
        )
    search.bound = -INFINITY
    search.column = -1
    for i in range(n):
        row = search.order[i]
        first = rows.weight[row] * (rows.y[row] - mean)
        search.y[i] = rows.y[row]
        search.amounts[2 * i] = first
        search.amounts[2 * i + 1] = rows.weight[row]
        total += first
    search.total = total


# ---------------------------------------------------------------------------- columns


cdef inline void start_sampling(
    const SmallNode* node, SmallSampler* sampler
) noexcept nogil:
    memcpy(sampler.order, IN_ORDER, MOST_COLUMNS)
    sampler.random_state = child_state(node.random_state, 7)
    sampler.place = 0
    sampler.n_found = 0


cdef inline int32_t sample_column(
    const Problem* problem, const SmallNode* node, SmallSampler* sampler,
    int64_t n_waiting
) noexcept nogil:
    """The next column that is not known to be constant, or -1; n_waiting of those
    sampled before may turn out to be. As in ``_column_sampler``."""
    cdef:
        int64_t j, n_left
        int32_t number
    while sampler.place < problem.n_columns:
        number = sampler.order[sampler.place]
        if problem.shuffle_columns:
            if sampler.place >= problem.max_features and (
                sampler.n_found + n_waiting >= 1
            ):
                return -1
            n_left = problem.n_columns - sampler.place
            j = sampler.place + random_below_known(
                &sampler.random_state, n_left, RECIPROCALS[n_left]
            )
            number = sampler.order[j]
            sampler.order[j] = sampler.order[sampler.place]
        sampler.place += 1
        if node.active >> number & 1:
            return number
    return -1


cdef inline void fill_tile(
    const Problem* problem, const uint32_t* codes, const SmallSearch* search,
    Tile* tile
) noexcept nogil:
    """Keys of the samples, code and place in one number, and which are missing."""
    cdef:
        int64_t i, c
        const uint32_t* row
        uint32_t code
    for i in range(search.n):
        row = codes + search.order[i] * problem.n_columns
        for c in range(LANES):
            code = row[tile.number[c]]
            tile.keys[LANES * i + c] = (
                <int32_t>(code << ROW_BITS) + <int32_t>i + LEAST_KEY
            )
    tile.any_missing = False
    for c in range(LANES):
        tile.n_missing[c] = 0


cdef inline void count_missing(
    const Problem* problem, int64_t n, Tile* tile
) noexcept nogil:
    """Count the samples of each column whose value is missing."""
    cdef:
        int64_t i, c
        int32_t least
    for c in range(tile.n_columns):
        if not problem.has_missing[tile.number[c]]:
            continue
        least = <int32_t>(problem.n_distinct[tile.number[c]] << ROW_BITS) + LEAST_KEY
        for i in range(n):
            tile.n_missing[c] += tile.keys[LANES * i + c] >= least
        tile.any_missing = tile.any_missing or tile.n_missing[c] > 0


cdef inline void try_columns(
    const Problem* problem, const SampleList* samples, const uint32_t* codes,
    SmallNode* node, SmallSearch* search
) noexcept nogil:
    """Sample columns and try them. Codes stand row by row."""
    cdef:
        SmallSampler sampler
        Tile tile
        int64_t c, n = search.n, n_columns, lowest = max(problem.min_samples_leaf, 1)
        int32_t number
    start_sampling(node, &sampler)
    while True:
        n_columns = 0
        while n_columns < LANES:
            number = sample_column(problem, node, &sampler, n_columns)
            if number < 0:
                break
            tile.number[n_columns] = number
            n_columns += 1
        if n_columns == 0:
            return
        for c in range(n_columns, LANES):
            tile.number[c] = tile.number[0]
        tile.n_columns = n_columns
        fill_tile(problem, codes, search, &tile)
        if samples.value_limit != NULL:
            count_missing(problem, n, &tile)
        if search.is_classes:
            sort_tile(&tile, n)
            choose_class_split(&tile, lowest, search)
        elif tile.any_missing:
            sort_tile(&tile, n)
            try_with_missing(&tile, lowest, search)
        elif n <= FEW_KEYS:
            try_few(&tile, lowest, search)
        else:
            sort_tile(&tile, n)
            choose_split(&tile, lowest, search)
        for c in range(n_columns):
            if tile.keys[c] >> ROW_BITS == tile.keys[LANES * (n - 1) + c] >> ROW_BITS:
                node.active &= ~(<uint64_t>1 << tile.number[c])
            else:
                sampler.n_found += 1


# ------------------------------------------------------------------ random thresholds


# One threshold of each of four columns, side by side.
cdef struct RandomTile:
    double[SMALL_ROWS * LANES] values
    double[LANES] smallest
    double[LANES] largest
    double[LANES] threshold
    int64_t[LANES] n_missing
    bint[LANES] missing_left
    int32_t[LANES] number


cdef inline void view_tile(
    const SmallRows* rows, const SmallSearch* search, RandomTile* tile
) noexcept nogil:
    """The values of the columns, and their ranges."""
    cdef:
        int64_t first = tile.number[0], second = tile.number[1]
        int64_t third = tile.number[2], fourth = tile.number[3], i, c
        const double* row
        double* values = tile.values
    for i in range(search.n):
        row = rows.values[search.order[i]]
        values[0] = row[first]
        values[1] = row[second]
        values[2] = row[third]
        values[3] = row[fourth]
        values += LANES
    for c in range(LANES):
        tile.smallest[c] = INFINITY
        tile.largest[c] = -INFINITY
        tile.n_missing[c] = 0
    RANGE_FOUR(tile.values, search.n, tile.smallest, tile.largest)


cdef inline void sample_threshold(
    const SmallNode* node, int64_t n, bint may_miss, int64_t c, RandomTile* tile
) noexcept nogil:
    """A threshold between the smallest and the largest value of a column, and the side
    of missing ones."""
    cdef:
        uint64_t state = child_state(node.random_state, ~<int64_t>tile.number[c])
        double smallest = tile.smallest[c], largest = tile.largest[c]
        double threshold = smallest + random_unit(&state) * (largest - smallest)
        int64_t i
    tile.threshold[c] = smallest + 0.0 if threshold >= largest else threshold  # not -0
    tile.missing_left[c] = False
    if may_miss:
        for i in range(n):
            tile.n_missing[c] += tile.values[LANES * i + c] != (
                tile.values[LANES * i + c]
            )
        if tile.n_missing[c] > 0:
            tile.missing_left[c] = random_below(&state, 2) == 1


cdef inline void score_tile(
    const SmallSearch* search, const RandomTile* tile, double* score, int64_t* n_left
) noexcept nogil:
    """Scores of the thresholds, in units of the bound, and how many samples are on the
    left."""
    cdef:
        double[LANES] first
        double[LANES] weight
        double[LANES] count
        double d, n = search.n_weight
        int64_t c
    SUM_FOUR(
        tile.values, tile.threshold, search.amounts, search.n, first, weight, count
    )
    for c in range(LANES):
        d = first[c] * n - search.total * weight[c]
        score[c] = d * d / (weight[c] * (n - weight[c]))
        n_left[c] = <int64_t>count[c]


cdef inline bint goes_left(
    const RandomTile* tile, int64_t i, int64_t c
) noexcept nogil:
    # No branch to predict.
    cdef double value = tile.values[LANES * i + c]
    return (value <= tile.threshold[c]) | ((value != value) & tile.missing_left[c])


cdef double score_lane(
    const SmallSearch* search, const RandomTile* tile, int64_t c, int64_t* n_left
) noexcept nogil:
    """The same of one column of several classes, or with missing values."""
    cdef:
        double[MOST_CLASSES] left
        double first = 0.0, weight = 0.0, d, n = search.n_weight
        int64_t i
        bint is_left
    n_left[0] = 0
    if search.is_classes:
        memset(left, 0, search.n_classes * sizeof(double))
    for i in range(search.n):
        is_left = goes_left(tile, i, c)
        n_left[0] += is_left
        first += search.amounts[2 * i] * <double>is_left
        weight += search.amounts[2 * i + 1] * <double>is_left
        if search.is_classes:
            left[<int64_t>search.y[i]] += search.amounts[2 * i + 1] * <double>is_left
    if search.is_classes:
        return judge_classes(search, left, weight)
    d = first * n - search.total * weight
    return d * d / (weight * (n - weight))


cdef inline void take_random(
    const Problem* problem, const RandomTile* tile, int64_t c, int64_t n_left,
    double score, SmallSearch* search
) noexcept nogil:
    cdef:
        int64_t i, low = 0, high = n_left
        bint is_left
    search.bound = score + search.margin
    search.column = tile.number[c]
    search.threshold = leave_bin(problem, tile.number[c], tile.threshold[c])
    search.missing_child = -1
    if tile.n_missing[c] > 0:
        search.missing_child = 0 if tile.missing_left[c] else 1
    search.n_left = n_left
    # The samples of child 0 first.
    for i in range(search.n):
        is_left = goes_left(tile, i, c)
        search.places[low if is_left else high] = <uint8_t>i
        low += is_left
        high += 1 - is_left


cdef void split_random_pair(
    const Problem* problem, const SmallRows* rows, SmallNode* node, SmallSearch* search
) noexcept nogil:
    """Two samples without missing values: the first column that tells them apart has
    the best split."""
    cdef:
        SmallSampler sampler
        const double* one = rows.values[search.order[0]]
        const double* other = rows.values[search.order[1]]
        double low, high, threshold
        int32_t number
        uint64_t state
    start_sampling(node, &sampler)
    while True:
        number = sample_column(problem, node, &sampler, 0)
        if number < 0:
            return
        low = one[number]
        high = other[number]
        if low == high:
            continue
        search.places[0] = low > high
        search.places[1] = low < high
        if low > high:
            low, high = high, low
        state = child_state(node.random_state, ~<int64_t>number)
        threshold = low + random_unit(&state) * (high - low)
        search.threshold = leave_bin(
            problem, number, low + 0.0 if threshold >= high else threshold
        )
        search.column = number
        search.n_left = 1
        search.missing_child = -1
        return


cdef void try_random_columns(
    const Problem* problem, const SmallRows* rows, SmallNode* node, SmallSearch* search
) noexcept nogil:
    """Sample columns, and one threshold of each."""
    cdef:
        SmallSampler sampler
        RandomTile tile
        double[LANES] score
        int64_t[LANES] n_left
        int64_t c, n = search.n, n_columns, lowest = max(problem.min_samples_leaf, 1)
        int32_t number
        bint varies
    if n == 2 and lowest == 1 and not search.may_miss:
        split_random_pair(problem, rows, node, search)
        return
    start_sampling(node, &sampler)
    while True:
        n_columns = 0
        while n_columns < LANES:
            number = sample_column(problem, node, &sampler, n_columns)
            if number < 0:
                break
            tile.number[n_columns] = number
            n_columns += 1
        if n_columns == 0:
            return
        for c in range(n_columns, LANES):
            tile.number[c] = tile.number[0]
        view_tile(rows, search, &tile)
        for c in range(LANES):
            sample_threshold(
                node, n, problem.has_missing[tile.number[c]], c, &tile
            )
        if not search.is_classes:
            score_tile(search, &tile, score, n_left)
        for c in range(n_columns):
            varies = tile.smallest[c] < tile.largest[c]
            if not varies and not 0 < tile.n_missing[c] < n:
                node.active &= ~(<uint64_t>1 << tile.number[c])
                continue
            sampler.n_found += 1
            if not varies:
                continue
            if search.is_classes or tile.missing_left[c]:
                score[c] = score_lane(search, &tile, c, &n_left[c])
            if lowest <= n_left[c] <= n - lowest and score[c] > search.bound:
                take_random(problem, &tile, c, n_left[c], score[c], search)


cdef inline bint find_pair_split(
    const Problem* problem, const uint32_t* codes, const uint8_t* order,
    const SmallNode* node, PairSplit* split
) noexcept nogil:
    """Find the first column that tells the two samples of a node apart; False if none
    does."""
    cdef:
        SmallSampler sampler
        uint8_t low = order[node.start], high = order[node.start + 1]
        uint32_t below = 0, above = 0
        int32_t number = -1
    start_sampling(node, &sampler)
    while below == above:
        number = sample_column(problem, node, &sampler, 0)
        if number < 0:
            return False
        below = codes[low * problem.n_columns + number]
        above = codes[high * problem.n_columns + number]
    if below > above:
        low, high = high, low
        below, above = above, below
    split.column = number
    split.low = low
    split.high = high
    split.below = below
    split.above = above
    return True


# ---------------------------------------------------------------------------- records


cdef inline void write_leaf(
    const Problem* problem, NodeBuffer* buffer, int64_t number, int32_t parent,
    const Child* child
) noexcept nogil:
    cdef:
        Node* node = &buffer.nodes[number]
        double* statistics
    node.first_child = -1
    node.n_children = 0
    node.feature = -2
    node.missing_branch = STAY
    node.kind = LEAF
    node.parent = parent
    node.map_start = -1
    node.threshold = -2.0
    node.improvement = 0.0
    node.n_samples = child.n_rows
    node.weight = child.weight
    node.impurity = child.impurity
    buffer.task[number] = -1
    if not problem.is_classifier:
        buffer.statistics[number] = child.value
    elif problem.n_statistics == 2:
        statistics = buffer.statistics + 2 * number
        statistics[0] = child.weight - child.first
        statistics[1] = child.first


cdef inline void write_test(
    const Problem* problem, Node* node, int32_t column, uint32_t below, uint32_t above,
    int32_t missing_child, bint is_alone, int64_t n_left, int64_t first
) noexcept nogil:
    node.first_child = <int32_t>first
    node.n_children = 2
    node.feature = column
    node.kind = problem.kind[column]
    # As in ``branch_for_missing``.
    if missing_child >= 0:
        node.missing_branch = missing_child
    elif problem.missing_mode == MISSING_FRACTIONAL:
        node.missing_branch = FRACTIONAL
    elif problem.missing_mode == MISSING_LEARNED:
        node.missing_branch = node.n_samples - n_left >= n_left
    else:
        node.missing_branch = problem.unseen_branch
    node.threshold = INFINITY if is_alone else NAN
    node.map_start = (
        <int64_t>-1 if is_alone else <int64_t>(<uint64_t>below << 32 | above)
    )


cdef inline bint accepts_split(const Problem* problem, Node* node) noexcept nogil:
    """Whether the improvement is as large as is asked for."""
    if node.improvement * node.weight / problem.total_weight + 2.2e-16 < (
        problem.min_impurity_decrease
    ):
        node.improvement = 0.0
        return False
    return True


# --------------------------------------------------------------------------- children


cdef inline void make_single(
    const SmallRows* rows, uint8_t row, Child* child
) noexcept nogil:
    """A child of one sample; of two classes ``first`` is the weight of the second."""
    child.n_rows = 1
    child.weight = rows.weight[row]
    child.first = rows.weight[row] * rows.y[row]
    child.value = rows.y[row]
    child.impurity = 0.0


cdef inline void write_class(
    const Problem* problem, NodeBuffer* buffer, int64_t number, const SmallRows* rows,
    uint8_t row
) noexcept nogil:
    """The classes of a child of one sample."""
    cdef double* statistics = buffer.statistics + number * problem.n_statistics
    if problem.n_statistics > 2:
        memset(statistics, 0, problem.n_statistics * sizeof(double))
        statistics[<int64_t>rows.y[row]] = rows.weight[row]


cdef void split_pair(
    const Problem* problem, const SmallRows* rows, SmallNode* node, NodeBuffer* buffer
) noexcept nogil:
    """Split two samples by the first column that tells them apart."""
    cdef:
        PairSplit split
        Child child
        int64_t first = buffer.n_nodes
        Node* record = &buffer.nodes[node.node]
        bint is_alone
    if not find_pair_split(problem, rows.codes, rows.order, node, &split):
        return
    record.improvement = record.impurity
    if not accepts_split(problem, record):
        return
    is_alone = problem.has_missing[split.column] and (
        split.above == <uint32_t>problem.n_distinct[split.column]
    )
    write_test(
        problem, record, split.column, split.below, split.above, 1 if is_alone else -1,
        is_alone, 1, first
    )
    make_single(rows, split.low, &child)
    write_leaf(problem, buffer, first, node.node, &child)
    write_class(problem, buffer, first, rows, split.low)
    make_single(rows, split.high, &child)
    write_leaf(problem, buffer, first + 1, node.node, &child)
    write_class(problem, buffer, first + 1, rows, split.high)
    buffer.n_nodes += 2


cdef void measure_classes(
    const Problem* problem, const SmallSearch* search, Child* children, double* sums
) noexcept nogil:
    """Class weights of the children, and their impurity as in ``finish_classes``."""
    cdef:
        int64_t i, c, size = problem.n_statistics
        uint8_t place
    memset(sums, 0, 2 * size * sizeof(double))
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


cdef inline void measure_children(
    const SmallSearch* search, bint is_classifier, Child* children, uint8_t* rows
) noexcept nogil:
    """What the children hold, and their samples. They are chosen by their numbers, as
    a branch on the size of the first one is not predictable."""
    cdef:
        int64_t i, c
        double value, first
        uint8_t place
        Child* child
    for c in range(2):
        child = &children[c]
        child.n_rows = search.n - search.n_left if c else search.n_left
        child.y = search.y[search.places[search.n_left if c else 0]]
        child.weight = child.first = child.squares = 0.0
        child.varies = False
    for i in range(search.n):
        child = &children[i >= search.n_left]
        place = search.places[i]
        rows[i] = search.order[place]
        value = search.y[place]
        first = search.amounts[2 * place]
        child.first += first
        child.weight += search.amounts[2 * place + 1]
        child.varies |= value != child.y
        if not is_classifier:
            child.squares += first * (value - search.centre)


cdef inline void finish_child(
    bint is_classifier, double centre, Child* child
) noexcept nogil:
    cdef:
        double[2] values
        double[2] impurities
        double zero_share, one_share
    if is_classifier:
        # As in ``class_impurity``.
        child.impurity = 0.0
        if child.varies:
            zero_share = (child.weight - child.first) / child.weight
            one_share = child.first / child.weight
            child.impurity = 1.0 - (zero_share * zero_share + one_share * one_share)
        elif child.y == 1.0:
            child.first = child.weight
        return
    values[0] = child.y
    impurities[0] = 0.0
    finish_value(
        centre, child.weight, child.first, child.squares, &values[1], &impurities[1]
    )
    child.value = values[child.varies]
    child.impurity = impurities[child.varies]


cdef int64_t split_node(
    const Problem* problem, SmallNode* node, const SmallSearch* search,
    NodeBuffer* buffer, Child* children
) noexcept nogil:
    """Make the children. Returns the number of the first, or 0 if the node remains a
    leaf."""
    cdef:
        Node* record = &buffer.nodes[node.node]
        uint8_t[SMALL_ROWS] held
        int64_t c, first = buffer.n_nodes
        double decrease = record.impurity
    if problem.is_classifier:
        measure_children(search, True, children, held)
    else:
        measure_children(search, False, children, held)
    if search.is_classes:
        # Written behind the last node, and kept if the split is accepted.
        measure_classes(
            problem, search, children, buffer.statistics + first * problem.n_statistics
        )
    for c in range(2):
        if not search.is_classes:
            finish_child(problem.is_classifier, search.centre, &children[c])
        decrease -= children[c].weight / record.weight * children[c].impurity
    record.improvement = max(decrease, 0.0)
    if not accepts_split(problem, record):
        return 0
    write_test(
        problem, record, search.column, search.below, search.above,
        search.missing_child, search.is_alone, search.n_left, first
    )
    if problem.random_splitter:
        record.threshold = search.threshold
        record.map_start = -1
    for c in range(2):
        if search.is_classes and problem.n_statistics == 2:
            children[c].first = buffer.statistics[2 * (first + c) + 1]
        write_leaf(problem, buffer, first + c, node.node, &children[c])
    buffer.n_nodes += 2
    memcpy(search.order, held, search.n)
    return first


# ----------------------------------------------------------------------------- queues


cdef inline int64_t size_of(int64_t n_rows, bint is_random) noexcept nogil:
    # With random thresholds, the first column that tells two samples apart may not be
    # able to separate a missing value.
    return (n_rows > 1) + ((n_rows > 2) | is_random) + (n_rows > FEW_KEYS)


cdef inline SmallQueue* start_queues(
    const SmallRoot* root, bint is_random, SmallQueue* queues
) noexcept nogil:
    """All queues are empty but for the root; returns that of the largest nodes."""
    cdef:
        const Frame* frame = &root.frame
        int64_t i
        SmallNode* node
    for i in range(N_SIZES):
        queues[i].n_waiting = 0
    i = size_of(frame.n_rows, is_random)
    queues[i].n_waiting = 1
    node = &queues[i].nodes[0]
    node.start = 0
    node.n_rows = frame.n_rows
    node.depth = frame.depth
    node.random_state = frame.random_state
    node.node = frame.node
    node.active = root.active
    return &queues[MANY]


cdef inline void start_child(
    const SmallNode* parent, int64_t child, int64_t n_left, int64_t n_rows,
    int64_t first, bint is_leaf, bint is_random, SmallQueue* queues
) noexcept nogil:
    # Written in any case, and kept if it is no leaf: no branch to predict.
    cdef:
        SmallQueue* queue = &queues[ALONE if is_leaf else size_of(n_rows, is_random)]
        SmallNode* node = &queue.nodes[queue.n_waiting]
    node.start = parent.start + (n_left if child else 0)
    node.n_rows = n_rows
    node.depth = parent.depth + 1
    node.random_state = child_state(parent.random_state, child)
    node.active = parent.active
    node.node = <int32_t>(first + child)
    queue.n_waiting += not is_leaf


cdef int grow_small(
    const Problem* problem, const SampleList* samples, Worker* worker,
    const SmallRoot* root
) noexcept nogil:
    """Grow a subtree of few samples. Returns -1 when memory runs out."""
    cdef:
        SmallQueue[N_SIZES] queues
        SmallQueue* queue
        SmallNode node
        SmallRows rows
        SmallSearch search
        Child[2] children
        NodeBuffer* buffer = &worker.buffer
        int64_t i, first
        bint is_classes = (
            samples.kind == LIST_CLASS_COUNTS or samples.kind == LIST_CLASS_WEIGHTS
        )
    if reserve_nodes(buffer, 2 * root.frame.n_rows) < 0:
        return -1
    search.may_miss = samples.value_limit != NULL
    read_rows(problem, samples, &root.frame, &rows)
    queue = start_queues(root, problem.random_splitter, queues)
    while queue > &queues[PAIR]:
        if queue.n_waiting == 0:
            queue -= 1
            continue
        queue.n_waiting -= 1
        node = queue.nodes[queue.n_waiting]
        view_rows(
            problem, &rows, is_classes, &node, &buffer.nodes[node.node],
            buffer.statistics + node.node * problem.n_statistics, &search
        )
        if problem.random_splitter:
            try_random_columns(problem, &rows, &node, &search)
        else:
            try_columns(problem, samples, rows.codes, &node, &search)
        if search.column < 0:
            continue
        first = split_node(problem, &node, &search, buffer, children)
        if first == 0:
            continue
        for i in range(2):
            start_child(
                &node, i, search.n_left, children[i].n_rows, first, must_be_leaf(
                    problem, children[i].n_rows, children[i].weight, node.depth + 1,
                    not children[i].varies
                ), problem.random_splitter, queues
            )
    for i in range(queues[PAIR].n_waiting):
        split_pair(problem, &rows, &queues[PAIR].nodes[i], buffer)
    return 0


cdef int wait_small(
    const Problem* problem, const SampleList* samples, Worker* worker,
    const Frame* frame, SmallRoots* roots
) noexcept nogil:
    """Prefetch a subtree, and grow the one that has waited longest. Returns -1 when
    memory runs out."""
    cdef:
        SmallRoot* root = &roots.waiting[roots.n_met % MOST_WAITING]
        int64_t i
    prefetch_small(samples, frame)
    if roots.n_met - roots.n_grown == MOST_WAITING:
        roots.n_grown += 1
        if grow_small(problem, samples, worker, root) < 0:
            return -1
    root.frame = frame[0]
    root.active = 0
    for i in range(frame.n_active):
        root.active |= <uint64_t>1 << worker.active[i]
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
            &roots.waiting[(roots.n_grown - 1) % MOST_WAITING]
        ) < 0:
            return -1
    return 0


for place in range(MOST_COLUMNS):
    IN_ORDER[place] = place
    RECIPROCALS[place + 1] = reciprocal_of(place + 1)
NOISE[0] = 0.0
for place in range(1, MOST_WEIGHT + 1):
    NOISE[place] = 1e-15 * place * (1.0 + log2(place))
