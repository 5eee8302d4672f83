"""Thresholds drawn at random: four columns of a node of some dozen rows, side by side.

Values of these rows are at hand. Smallest and largest, and what a threshold leaves on
the left, are found for four columns in one pass. A node of two rows is divided by the
first column that tells them apart.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from sklearn_textbook.tree.grow._drawn_rows cimport (
    TILE_COLUMNS,
    StepDraw,
    draw_numbers,
    finish_draw,
    rounding_of,
    start_draw,
)
from sklearn_textbook.tree.grow._drawn_threshold cimport (
    draw_threshold,
    goodness_of,
    leaves_enough,
    start_best,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._sums cimport ones_in, samples_in, weight_in
from sklearn_textbook.tree.split._listed cimport LISTED_VALUES
from sklearn_textbook.tree.split._types cimport ERROR, GINI, MISSING_SURROGATE


# One threshold for each of four columns.
cdef struct FourCuts:
    int32_t[TILE_COLUMNS] number
    double[SMALL_ROWS * TILE_COLUMNS] cells  # row by row
    double[TILE_COLUMNS] smallest
    double[TILE_COLUMNS] largest
    double[TILE_COLUMNS] threshold


cdef void start_search(
    const Problem* problem, const DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, const Node* record, const double* statistics,
    SmallSearch* search
) noexcept nogil:
    """As in ``view_node``."""
    cdef:
        double weight = record.weight, spread = record.impurity * weight
        const uint8_t* order = rows.order + small.first
        int64_t i
    search.weight = weight
    if table.listed.kind == LISTED_VALUES:
        search.centre = statistics[0]
        search.margin = 1e-12 * spread + (
            1e-15 * fabs(statistics[0]) * sqrt(weight * spread)
        )
        search.bound = -INFINITY
        search.total = 0.0
        for i in range(small.node.n_rows):
            search.residuals[i] = rows.weight[order[i]] * (
                rows.y[order[i]] - search.centre
            )
            search.total += search.residuals[i]
    else:
        search.sums[0] = statistics[0]
        search.sums[1] = statistics[1]
        search.goodness = goodness_of(
            problem, problem.criterion == GINI, statistics, weight
        )
        search.margin = 1e-12 * spread + (
            table.rounding[<int64_t>weight] if weight <= SMALL_ROWS
            else rounding_of(weight)
        )
    start_best(&search.best)


cdef void try_counts(
    const Problem* problem, int64_t n, int32_t number, double threshold,
    uint64_t counts, SmallSearch* search
) noexcept nogil:
    """Two classes: take a division if it is better than the best one so far."""
    cdef:
        double weight = <double>weight_in(counts), score = -search.goodness
        double[2] left
        double[2] right
        bint is_gini = problem.criterion == GINI
    if not leaves_enough(problem, n, samples_in(counts), search.weight, weight):
        return
    left[1] = <double>ones_in(counts)
    left[0] = weight - left[1]
    right[0] = search.sums[0] - left[0]
    right[1] = search.sums[1] - left[1]
    score += goodness_of(problem, is_gini, left, weight)
    score += goodness_of(problem, is_gini, right, search.weight - weight)
    if score > score_to_beat(problem, &search.best, search.margin):
        take(&search.best, score, samples_in(counts), -1)
        search.best.column = number
        search.best.threshold = threshold
        search.counts = counts


cdef void try_sums(
    const Problem* problem, int64_t n, int32_t number, double threshold,
    uint64_t counts, double left, SmallSearch* search
) noexcept nogil:
    """Values: the same. d^2 / (k (n - k)), times 1 / n, is the score."""
    cdef double weight = <double>weight_in(counts), d, area
    if not leaves_enough(problem, n, samples_in(counts), search.weight, weight):
        return
    d = left * search.weight - search.total * weight
    area = weight * (search.weight - weight)
    if d * d > search.bound * area:
        search.bound = d * d / area + search.margin * search.weight
        take(&search.best, 0.0, samples_in(counts), -1)
        search.best.column = number
        search.best.threshold = threshold


cdef void draw_cuts(
    const SmallNode* small, const SmallRows* rows, FourCuts* cuts
) noexcept nogil:
    """Read four columns, and draw a threshold of each."""
    cdef:
        double[TILE_COLUMNS] smallest
        double[TILE_COLUMNS] largest
        const uint8_t* order = rows.order + small.first
        const double* values
        double* row = cuts.cells
        int64_t first = cuts.number[0], second = cuts.number[1]
        int64_t third = cuts.number[2], fourth = cuts.number[3]
        int64_t i, c
    for i in range(small.node.n_rows):
        values = rows.values[order[i]]
        row[0] = values[first]
        row[1] = values[second]
        row[2] = values[third]
        row[3] = values[fourth]
        row += TILE_COLUMNS
    for c in range(TILE_COLUMNS):
        smallest[c] = largest[c] = cuts.cells[c]
    for i in range(1, small.node.n_rows):
        row = cuts.cells + TILE_COLUMNS * i
        for c in range(TILE_COLUMNS):
            smallest[c] = row[c] if row[c] < smallest[c] else smallest[c]
            largest[c] = row[c] if row[c] > largest[c] else largest[c]
    for c in range(TILE_COLUMNS):
        cuts.smallest[c] = smallest[c]
        cuts.largest[c] = largest[c]
        cuts.threshold[c] = draw_threshold(
            small.node.random_state, smallest[c], largest[c], cuts.number[c]
        )


cdef void count_cuts(
    const SmallNode* small, const SmallRows* rows, const FourCuts* cuts,
    uint64_t* left
) noexcept nogil:
    """Counts of the rows that the thresholds leave on the left."""
    cdef:
        const uint8_t* order = rows.order + small.first
        const double* row
        double[TILE_COLUMNS] threshold
        uint64_t[TILE_COLUMNS] sums
        uint64_t counts
        int64_t i, c
    for c in range(TILE_COLUMNS):
        threshold[c] = cuts.threshold[c]
        sums[c] = 0
    for i in range(small.node.n_rows):
        counts = rows.counts[order[i]]
        row = cuts.cells + TILE_COLUMNS * i
        for c in range(TILE_COLUMNS):
            # A mask, as branches here are guessed wrong half of the time.
            sums[c] += counts & (0 - <uint64_t>(row[c] <= threshold[c]))
    for c in range(TILE_COLUMNS):
        left[c] = sums[c]


cdef void sum_cuts(
    const SmallNode* small, const SmallSearch* search, const FourCuts* cuts,
    double* left
) noexcept nogil:
    """Values: residuals of the same rows."""
    cdef:
        const double* row
        double[TILE_COLUMNS] threshold
        double[TILE_COLUMNS] sums
        double residual
        uint64_t bits, masked
        int64_t i, c
    for c in range(TILE_COLUMNS):
        threshold[c] = cuts.threshold[c]
        sums[c] = 0.0
    for i in range(small.node.n_rows):
        memcpy(&bits, &search.residuals[i], sizeof(double))
        row = cuts.cells + TILE_COLUMNS * i
        for c in range(TILE_COLUMNS):
            masked = bits & (0 - <uint64_t>(row[c] <= threshold[c]))
            memcpy(&residual, &masked, sizeof(double))
            sums[c] += residual
    for c in range(TILE_COLUMNS):
        left[c] = sums[c]


cdef void try_four(
    const Problem* problem, DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, FourCuts* cuts, int64_t n_columns, StepDraw* draw,
    SmallSearch* search
) noexcept nogil:
    """A threshold for each of up to four columns."""
    cdef:
        uint64_t[TILE_COLUMNS] counts
        double[TILE_COLUMNS] left
        int64_t c, n = small.node.n_rows
        bint is_value = table.listed.kind == LISTED_VALUES
    draw_cuts(small, rows, cuts)
    count_cuts(small, rows, cuts, counts)
    if is_value:
        sum_cuts(small, search, cuts, left)
    for c in range(n_columns):
        if not cuts.smallest[c] < cuts.largest[c]:
            table.active[0] &= ~(<uint64_t>1 << cuts.number[c])
            continue
        draw.n_found += 1
        if is_value:
            try_sums(
                problem, n, cuts.number[c], cuts.threshold[c], counts[c], left[c],
                search
            )
        else:
            try_counts(
                problem, n, cuts.number[c], cuts.threshold[c], counts[c], search
            )


cdef void search_columns(
    const Problem* problem, DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, SmallSearch* search
) noexcept nogil:
    """One threshold for every column that is drawn."""
    cdef:
        StepDraw draw
        FourCuts cuts
        int64_t n, c
    start_draw(&small.node, &draw)
    while True:
        n = draw_numbers(problem, table, &draw, TILE_COLUMNS, cuts.number)
        if n == 0:
            break
        # A column that is compared twice costs less than loops for fewer of them.
        for c in range(n, TILE_COLUMNS):
            cuts.number[c] = cuts.number[0]
        try_four(problem, table, small, rows, &cuts, n, &draw, search)
    finish_draw(problem, table, &draw)


cdef bint is_pair(const Problem* problem, int64_t n_rows) noexcept nogil:
    """Whether the node has two rows, which any column divides that tells them apart."""
    return (
        n_rows == 2
        and problem.min_samples_leaf <= 1
        and problem.min_weight_leaf <= 0.0
        and problem.missing_mode != MISSING_SURROGATE
        and problem.criterion != ERROR
    )


cdef void divide_pair(
    const Problem* problem, DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, SmallSearch* search
) noexcept nogil:
    """Divide two rows by the first column that tells them apart."""
    cdef:
        const double* first = rows.values[rows.order[small.first]]
        const double* second = rows.values[rows.order[small.first + 1]]
        double low, high
        StepDraw draw
        int32_t number
        bint first_is_low
    start_draw(&small.node, &draw)
    while draw_numbers(problem, table, &draw, 1, &number) > 0:
        if first[number] != second[number]:
            first_is_low = first[number] < second[number]
            low = first[number] if first_is_low else second[number]
            high = second[number] if first_is_low else first[number]
            search.best.column = number
            search.best.position = 1
            search.best.threshold = draw_threshold(
                small.node.random_state, low, high, number
            )
            search.counts = rows.counts[
                rows.order[small.first if first_is_low else small.first + 1]
            ]
            break
    finish_draw(problem, table, &draw)


cdef void search_small(
    const Problem* problem, DrawnTable* table, const NodeBuffer* buffer,
    const SmallNode* small, const SmallRows* rows, SmallSearch* search
) noexcept nogil:
    """Find the best division of a node; its column is -1 if there is none."""
    start_search(
        problem, table, small, rows, &buffer.nodes[small.node.node],
        buffer.statistics + problem.n_statistics * small.node.node, search
    )
    if is_pair(problem, small.node.n_rows):
        divide_pair(problem, table, small, rows, search)
    else:
        search_columns(problem, table, small, rows, search)
