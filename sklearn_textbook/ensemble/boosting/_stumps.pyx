"""Best stumps by weighted error, round after round, over one encoded table.

Each numeric column is divided once into at most 256 bins of about as many rows; a
level of a nominal column is a bin of its own. The weight of each class in each bin is
kept from round to round: as weights are not normalised, a round only adds to those of
the rows that were wrong. A stump (a, b) is right for what class a has on the left and
class b on the right; inside of a bin that cannot be more than all that a has up to its
end and b from its start on. Bins that may hold better than the best end of a bin are
walked row by row, in the order of the column, so that the stump is the best of all.

Tasks are blocks of rows and groups of columns, and sums are taken in the order of the
rows: the result does not depend on the number of threads.

The general engine (``tree/grow``) grows the same stumps as trees of depth one, but
counts all rows anew in every round. A fit of AdaBoost takes 3 to 7 times longer by it
with 1,000 rows (100 rounds), 9 to 21 times with 10,000 and 15 to 24 times with 50,000
rows (50 rounds); 10 and 50 columns, of numbers only or two fifths of them text and 5 %
missing, two and five classes (50,000 rows: 10 columns alone), on one thread of an AMD
EPYC.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from sklearn_textbook._contract._threads cimport (
    ThreadTeam,
    run_in_threads,
    run_tasks,
    start_team,
    stop_team,
)
from sklearn_textbook.tree.members._level_search cimport (
    LevelSearch,
    divide_summed_levels,
    free_level_search,
    start_level_search,
)

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define PREFETCH(address) __builtin_prefetch(address)
    #else
    #define PREFETCH(address) ((void)0)
    #endif
    """
    void PREFETCH(const void* address) nogil

cdef enum:
    FETCH_AHEAD = 12  # rows that are prefetched
    MOST_BINS = 256  # numbers of bins fit into a byte
    LEAST_BINS = 16
    LEAST_BIN_ROWS = 8
    MOST_SUMS = 1 << 24  # bins times classes; above, there are fewer bins
    BLOCK_ROWS = 8192
    TURNED_ROWS = 256
    GROUP_COLUMNS = 12  # their sums stay in the level 1 cache
    LANES = 4  # independent sums, so that additions do not wait for each other
    REBUILT_ROUNDS = 16  # rounds after which sums are recomputed

# Where a row ends up. Rows that are not used for learning may have a level that no
# other row has, or a missing value in a column without missing values.
cdef enum:
    UNSEEN = 2  # stays in the root
    UNKNOWN = 3  # goes to the child with more rows
    N_ENDS = 4
    PARTED = 4  # instead of a child: the bin is divided

cdef uint32_t ROW_MASK = 0x7FFFFFFF
cdef double LARGEST_TOTAL = 1e100
cdef double LARGEST_FACTOR = 1e30
cdef double MARGIN = 1e-12  # of the total weight; scores that differ less are equal

# A column and its bins.
cdef struct Column:
    const uint32_t* order
    const double* values  # by rank
    const uint8_t* bins  # of all rows
    const uint32_t* codes  # instead of bins, if there are more than fit into a byte
    const int64_t* start  # numeric: first position of each bin, and the end of the last
    int64_t first  # number of its first bin among those of all columns
    int64_t n_bins  # without the bin of missing values, which follows
    bint is_nominal
    bint is_exact  # every bin is one value
    bint has_missing
    # nominal, of many levels that are smoothed: rows and child of each, and of missing
    # values; else NULL
    int64_t* level_rows
    int8_t* level_child

# The best stump of a column.
cdef struct Stump:
    double score  # weight of the rows classified correctly
    int64_t position  # numeric: present rows on the left
    int32_t missing_child
    bint is_alone  # present values against missing ones
    int32_t low_class  # nominal: levels go to the child of one of these
    int32_t high_class

# Everything that tasks read and write.
cdef struct Work:
    int64_t n_rows
    int64_t n_columns
    int64_t n_classes
    int64_t n_all_bins
    int64_t n_blocks
    int64_t n_groups
    int64_t width  # bins from the first of a column to the first of the next
    Column* columns
    const uint8_t* bins  # of all columns, row by row
    const int32_t* labels
    double* weight
    const double* learned  # weights to learn from: the same, or counts of draws
    bint is_drawn
    # the last stump, and how it changes the weights
    uint8_t* side
    const int32_t* predicted  # by end
    double right_factor
    double wrong_factor
    bint is_rebuilt
    # changes of the sums: rows and weights, block by block
    uint32_t* entry_row
    double* entry_weight
    int64_t* n_entries
    double* block_totals
    double* sums  # by class and bin
    double* totals  # by class
    double* best_end  # by column
    double margin
    double limit  # lower scores cannot be the best
    Stump* stumps
    double* scratch  # of each thread
    LevelSearch* level_search  # of each thread; NULL: no column is smoothed
    double design_effect  # of the weights, per unit of their sum
    # dividing the rows
    const Column* column  # NULL: a leaf
    const int8_t* child_of_bin
    double* child_sums  # by block, kind of weight, end and class
    int64_t* child_rows  # by block and end


# ------------------------------------------------------------------------------------
# Dividing columns into bins.
# ------------------------------------------------------------------------------------


cdef struct Binning:
    Column* columns
    uint8_t* bins  # column by column
    uint8_t* row_bins
    uint32_t* codes  # column by column
    int64_t* start
    const int64_t* n_missing
    const int64_t* n_distinct
    const int64_t* wide_number
    int64_t n_rows
    int64_t n_columns
    int64_t width


cdef void bin_column(void* context, int64_t c, int thread) noexcept nogil:
    """Divide a column into bins."""
    cdef:
        Binning* work = <Binning*>context
        Column* column = work.columns + c
        int64_t n_rows = work.n_rows, n_present = n_rows - work.n_missing[c]
        int64_t most = work.width - column.has_missing, target = 0, b = -1, i
        int64_t* start = work.start + c * (MOST_BINS + 1)
        uint8_t* bins = work.bins + c * n_rows
        uint32_t* codes = NULL
        uint32_t row
    if work.wide_number[c] >= 0:
        codes = work.codes + work.wide_number[c] * n_rows
    elif work.n_distinct[c] > most:
        target = max(1 + (n_present - 1) // most, <int64_t>LEAST_BIN_ROWS)
    column.is_exact = target == 0
    for i in range(n_rows):
        row = column.order[i]
        if i == n_present or (
            row > ROW_MASK and i < n_present
            and (b < 0 or column.is_nominal or i - start[b] >= target)
        ):
            # A new bin: the missing values, or at a new value, which for a numeric
            # column waits until the bin has ``target`` rows.
            b += 1
            if not column.is_nominal:
                start[b] = i
        row &= ROW_MASK
        if codes != NULL:
            codes[row] = <uint32_t>b
        else:
            bins[row] = <uint8_t>b
    column.n_bins = b + 1 - column.has_missing
    if not column.is_nominal:
        start[column.n_bins] = n_present


cdef void turn_block(void* context, int64_t block, int thread) noexcept nogil:
    """Store the bins of some rows row by row."""
    cdef:
        Binning* work = <Binning*>context
        int64_t first = block * TURNED_ROWS, c, row
        int64_t last = min(first + TURNED_ROWS, work.n_rows)
    for c in range(work.n_columns):
        for row in range(first, last):
            work.row_bins[row * work.n_columns + c] = work.bins[c * work.n_rows + row]


# ------------------------------------------------------------------------------------
# The rows of a round: their weights, and their children.
# ------------------------------------------------------------------------------------


cdef void reweigh_block(void* context, int64_t block, int thread) noexcept nogil:
    """Change the weights of a block and list the changes of the sums."""
    cdef:
        Work* work = <Work*>context
        int64_t row, first = block * BLOCK_ROWS, n = first
        int64_t last = min(first + BLOCK_ROWS, work.n_rows)
        double* totals = work.block_totals + block * work.n_classes
        # Read once: the compiler cannot know that they do not alias what is written.
        const int32_t* labels = work.labels
        const int32_t* predicted = work.predicted
        const uint8_t* side = work.side
        double* weights = work.weight
        uint32_t* entry_row = work.entry_row
        double* entry_weight = work.entry_weight
        bint is_rebuilt = work.is_rebuilt
        double[2] factor
        double weight, new_weight
        bint is_wrong
    factor[0], factor[1] = work.right_factor, work.wrong_factor
    memset(totals, 0, work.n_classes * sizeof(double))
    for row in range(first, last):
        is_wrong = labels[row] != predicted[side[row]]
        weight = weights[row]
        new_weight = weight * factor[is_wrong]
        weights[row] = new_weight
        entry_row[n] = <uint32_t>row
        # Written in any case and kept where n moves on. Rebuilt: the sums start at 0
        # and get every weight; else only rows that were wrong have changed.
        if is_rebuilt:
            entry_weight[n] = work.learned[row]
            n += entry_weight[n] > 0.0
        else:
            entry_weight[n] = new_weight - weight
            n += is_wrong
    for row in range(first, n):
        totals[work.labels[work.entry_row[row]]] += work.entry_weight[row]
    work.n_entries[block] = n - first


cdef inline void add_to_bins(
    double* sums, int64_t width, const uint8_t* bins, int64_t n, double change
) noexcept nogil:
    """Add to the bin of a row in each of some columns; four at a time, since a
    compiler cannot know that sums and bins do not alias."""
    cdef:
        int64_t c, _c
        uint8_t b0, b1, b2, b3
    for _c in range(0, n - 3, 4):
        b0, b1, b2, b3 = bins[0], bins[1], bins[2], bins[3]
        sums[b0] += change
        sums[width + b1] += change
        sums[2 * width + b2] += change
        sums[3 * width + b3] += change
        bins += 4
        sums += 4 * width
    for c in range(n & 3):
        sums[c * width + bins[c]] += change


cdef void add_entries(Work* work, int64_t first, int64_t last) noexcept nogil:
    """Add the changes to the sums of some columns."""
    cdef:
        int64_t block, i, c, start, row, width = work.width
        double change
        double* sums
        const uint8_t* bins
        const uint32_t* codes
    for block in range(work.n_blocks):
        start = block * BLOCK_ROWS
        for i in range(start, start + work.n_entries[block]):
            # A row's bins stand side by side; the next rows' are fetched early.
            row = work.entry_row[i]
            change = work.entry_weight[i]
            sums = work.sums + work.labels[row] * work.n_all_bins
            bins = work.bins + row * work.n_columns
            PREFETCH(work.bins + work.entry_row[i + FETCH_AHEAD] * work.n_columns)
            add_to_bins(sums + first * width, width, bins + first, last - first, change)
    for c in range(first, last):
        # Columns of more levels than fit into a byte have codes of their own.
        codes = work.columns[c].codes
        if codes == NULL:
            continue
        for block in range(work.n_blocks):
            start = block * BLOCK_ROWS
            for i in range(start, start + work.n_entries[block]):
                row = work.entry_row[i]
                sums = work.sums + work.labels[row] * work.n_all_bins
                sums[work.columns[c].first + codes[row]] += work.entry_weight[i]


cdef void divide_block(void* context, int64_t block, int thread) noexcept nogil:
    """Assign the rows of a block to the children and sum their weights."""
    cdef:
        Work* work = <Work*>context
        int64_t row, first = block * BLOCK_ROWS, size = N_ENDS * work.n_classes
        int64_t last = min(first + BLOCK_ROWS, work.n_rows)
        double* sums = work.child_sums + block * LANES * 2 * size
        int64_t* n_rows = work.child_rows + block * LANES * N_ENDS
        const uint8_t* bins = NULL
        const uint32_t* codes = NULL
        const int8_t* child_of_bin = work.child_of_bin
        const int32_t* labels = work.labels
        const double* learned = work.learned
        const double* weight = work.weight
        uint8_t* side = work.side
        int64_t n_classes = work.n_classes, slot, lane
        bint is_leaf = work.column == NULL, is_drawn = work.is_drawn
        int8_t child = 0
    if not is_leaf:
        bins, codes = work.column.bins, work.column.codes
    memset(sums, 0, LANES * 2 * size * sizeof(double))
    memset(n_rows, 0, LANES * N_ENDS * sizeof(int64_t))
    for row in range(first, last):
        if not is_leaf:
            child = child_of_bin[codes[row] if codes != NULL else bins[row]]
            if child == PARTED:
                child = <int8_t>side[row]
        side[row] = <uint8_t>child
        # Neighbouring rows add to different sums; by the row's number, so that the
        # order of additions is fixed.
        lane = row & (LANES - 1)
        slot = lane * 2 * size + child * n_classes + labels[row]
        sums[slot] += learned[row]
        n_rows[lane * N_ENDS + child] += learned[row] > 0.0
        if is_drawn:
            sums[size + slot] += weight[row]


cdef double place_threshold(
    const Work* work, const Column* column, int64_t* position
) noexcept nogil:
    """Midpoint between the values next to a position, among rows with weight.
    Moves the position, so that others between them stand on their side of it."""
    cdef:
        int64_t below = position[0] - 1, above = position[0], rank = -1, i
        double low, high, threshold
    while not work.learned[column.order[below] & ROW_MASK] > 0.0:
        below -= 1
    while not work.learned[column.order[above] & ROW_MASK] > 0.0:
        above += 1
    # The marks in the order count the values: ranks up to this row.
    for i in range(below + 1):
        rank += column.order[i] >> 31
    low = column.values[rank]
    for i in range(below + 1, above + 1):
        rank += column.order[i] >> 31
    high = column.values[rank]
    threshold = low / 2 + high / 2
    # Rounded up to the upper value, which must not go left.
    if not threshold < high:
        threshold = low
    # From the upper one down, past rows without weight whose value is above the
    # threshold.
    position[0] = above
    while position[0] > below + 1:
        rank -= column.order[position[0]] >> 31
        if column.values[rank] <= threshold:
            break
        position[0] -= 1
    return threshold


# ------------------------------------------------------------------------------------
# The best stump of each column.
# ------------------------------------------------------------------------------------


cdef inline double score(
    const double* left, const double* totals, int64_t n_classes
) noexcept nogil:
    """Weight classified correctly if both sides predict their heaviest class."""
    cdef double most_left = left[0], most_right = totals[0] - left[0]
    cdef int64_t k
    for k in range(1, n_classes):
        most_left = max(most_left, left[k])
        most_right = max(most_right, totals[k] - left[k])
    return most_left + most_right


cdef inline double bound(
    const double* left, const double* sums, const double* totals, int64_t n_classes,
    int64_t stride
) noexcept nogil:
    """No division inside of a bin scores more, if its sides predict different classes;
    of each class there is the weight left of the bin, inside of it, and in all."""
    cdef:
        double most = -INFINITY, next_most = -INFINITY, best = -INFINITY, value
        int64_t k, chosen = 0
    for k in range(n_classes):
        value = left[k] + sums[k * stride]
        if value > most:
            next_most = most
            most = value
            # Two largest, so that the right side can take another class than the left.
            chosen = k
        elif value > next_most:
            next_most = value
    for k in range(n_classes):
        value = totals[k] - left[k] + (next_most if k == chosen else most)
        if value > best:
            best = value
    return best


cdef inline void consider(
    const Work* work, const double* left, int64_t position, int32_t missing_child,
    Stump* best
) noexcept nogil:
    """Take a threshold if it is better than the best so far by more than the margin, so
    that the first of equal ones stays."""
    cdef double value = score(left, work.totals, work.n_classes)
    if value > best.score + work.margin:
        best.score = value
        best.position = position
        best.missing_child = missing_child
        best.is_alone = False


cdef void walk_bin(
    const Work* work, const Column* column, int64_t b, const double* left,
    double* inside, int32_t missing_child, Stump* best
) noexcept nogil:
    """Try the thresholds within a bin."""
    cdef int64_t i, k, row
    for k in range(work.n_classes):
        inside[k] = left[k]
    for i in range(column.start[b], column.start[b + 1]):
        if column.order[i] > ROW_MASK and i > column.start[b]:
            consider(work, inside, i, missing_child, best)
        row = column.order[i] & ROW_MASK
        inside[work.labels[row]] += work.learned[row]


cdef void pass_column(
    const Work* work, const Column* column, double* left, double* inside,
    int32_t missing_child, bint is_refined, Stump* best
) noexcept nogil:
    """Try the ends of all bins, and what lies inside of some; ``left`` is what is in
    child 0 before the first row."""
    cdef:
        const double* sums
        int64_t b, k
    for b in range(column.n_bins):
        sums = work.sums + column.first + b
        if is_refined and not column.is_exact and bound(
            left, sums, work.totals, work.n_classes, work.n_all_bins
        ) >= work.limit:
            walk_bin(work, column, b, left, inside, missing_child, best)
        for k in range(work.n_classes):
            left[k] += sums[k * work.n_all_bins]
        if b + 1 < column.n_bins:
            consider(work, left, column.start[b + 1], missing_child, best)


cdef void search_numeric(
    const Work* work, const Column* column, double* scratch, bint is_refined,
    Stump* best
) noexcept nogil:
    """Best threshold: missing values right, then left, then alone."""
    cdef:
        int64_t k
        double* left = scratch
        const double* missing = work.sums + column.first + column.n_bins
        double heaviest = 0.0
    memset(left, 0, work.n_classes * sizeof(double))
    if column.has_missing:
        for k in range(work.n_classes):
            heaviest = max(heaviest, missing[k * work.n_all_bins])
    # No missing value has weight: one pass, and they go to the child with more rows.
    if heaviest <= 0.0:
        pass_column(
            work, column, left, scratch + work.n_classes, -1, is_refined, best
        )
        return
    pass_column(work, column, left, scratch + work.n_classes, 1, is_refined, best)
    for k in range(work.n_classes):
        left[k] = missing[k * work.n_all_bins]
    pass_column(work, column, left, scratch + work.n_classes, 0, is_refined, best)
    for k in range(work.n_classes):
        left[k] = work.totals[k] - missing[k * work.n_all_bins]
    if score(left, work.totals, work.n_classes) > best.score + work.margin:
        consider(work, left, column.start[column.n_bins], 1, best)
        best.is_alone = True


cdef void search_nominal(
    const Work* work, const Column* column, Stump* best
) noexcept nogil:
    """Best division of the levels: two classes share them, each level going to the
    one that has more of it. Missing values are one more level."""
    cdef:
        int64_t a, c, b, n_bins = column.n_bins + column.has_missing
        const double* first
        const double* second
        double value
    for a in range(work.n_classes):
        first = work.sums + a * work.n_all_bins + column.first
        for c in range(a + 1, work.n_classes):
            second = work.sums + c * work.n_all_bins + column.first
            value = 0.0
            for b in range(n_bins):
                value += max(first[b], second[b])
            if value > best.score + work.margin:
                best.score = value
                best.low_class = <int32_t>a
                best.high_class = <int32_t>c


cdef void search_smoothed(
    const Work* work, const Column* column, int thread, Stump* best
) noexcept nogil:
    """Best division of many levels, whose weights are smoothed, as trees find it."""
    cdef:
        int64_t k
        double total = 0.0
    for k in range(work.n_classes):
        total += work.totals[k]
    best.score = divide_summed_levels(
        &work.level_search[thread], work.sums + column.first, work.n_all_bins,
        column.level_rows, column.n_bins + column.has_missing, column.has_missing,
        work.totals, work.design_effect * total, column.level_child
    )


cdef void clear_stump(Stump* stump) noexcept nogil:
    """No stump yet: any score is better."""
    memset(stump, 0, sizeof(Stump))
    stump.score = -INFINITY


cdef void update_group(void* context, int64_t group, int thread) noexcept nogil:
    """Update the sums of some columns and try the ends of their bins."""
    cdef:
        Work* work = <Work*>context
        int64_t first = group * work.n_columns // work.n_groups
        int64_t last = (group + 1) * work.n_columns // work.n_groups, c, k
        double* scratch = work.scratch + thread * 2 * work.n_classes
        Column* column
    if work.is_rebuilt:
        for k in range(work.n_classes):
            for c in range(first, last):
                column = work.columns + c
                memset(
                    work.sums + k * work.n_all_bins + column.first, 0,
                    (column.n_bins + column.has_missing) * sizeof(double)
                )
    add_entries(work, first, last)
    for c in range(first, last):
        clear_stump(work.stumps + c)
        column = work.columns + c
        if column.level_child != NULL:
            search_smoothed(work, column, thread, work.stumps + c)
        elif column.is_nominal:
            search_nominal(work, column, work.stumps + c)
        else:
            search_numeric(work, column, scratch, False, work.stumps + c)
        work.best_end[c] = work.stumps[c].score


cdef void refine_column(void* context, int64_t c, int thread) noexcept nogil:
    """Find the best stump of a column if it may be the best of all."""
    cdef:
        Work* work = <Work*>context
        double* scratch = work.scratch + thread * 2 * work.n_classes
    if work.columns[c].is_nominal or work.columns[c].is_exact:
        return
    clear_stump(work.stumps + c)
    search_numeric(work, work.columns + c, scratch, True, work.stumps + c)


# ------------------------------------------------------------------------------------
# Adding up the votes of many stumps, column by column.
# ------------------------------------------------------------------------------------


ctypedef fused cell_t:
    float
    double


# For each tested column, the steps of the sum of its stumps.
cdef struct Steps:
    int64_t n_rows
    int64_t n_classes
    int64_t n_steps
    const int64_t* column
    const uint8_t* kind  # NUMBERS, or a kind of levels, whose codes may be negative
    const int64_t* first_threshold  # of each column, and the end of the last
    const double* thresholds
    const int64_t* first_vote  # of each column, and the end of the last
    const double* votes
    double* out
    const char* cells
    int64_t row_stride
    int64_t column_stride
    bint is_double

cdef enum:
    NUMBERS = 0
    ORDERED_LEVELS = 1
    LEVELS = 2


cdef inline int64_t count_below(
    const double* thresholds, int64_t n, double value
) noexcept nogil:
    """Number of thresholds below a value; thresholds ascend."""
    cdef int64_t below = 0, half
    while n > 0:
        half = n >> 1
        if thresholds[below + half] < value:
            below += half + 1
            n -= half + 1
        else:
            n = half
    return below


cdef void add_row_votes(const Steps* steps, int64_t row) noexcept nogil:
    """Add, for each tested column, what all its stumps together vote for the value."""
    cdef:
        int64_t i, k, place, first
        double value
        const char* cell
        const double* votes
        double* out = steps.out + row * steps.n_classes
    for i in range(steps.n_steps):
        cell = (
            steps.cells + row * steps.row_stride
            + steps.column[i] * steps.column_stride
        )
        value = (<double*>cell)[0] if steps.is_double else (<float*>cell)[0]
        first = steps.first_threshold[i]
        # The last two places are those of unseen levels and of missing values.
        if value != value:
            place = steps.first_vote[i + 1] - 1
        elif value < 0.0 and steps.kind[i] != NUMBERS:
            place = steps.first_vote[i + 1] - 2
        elif steps.kind[i] == LEVELS:
            place = steps.first_vote[i] + <int64_t>value
        else:
            place = steps.first_vote[i] + count_below(
                steps.thresholds + first, steps.first_threshold[i + 1] - first, value
            )
        votes = steps.votes + place * steps.n_classes
        for k in range(steps.n_classes):
            out[k] += votes[k]


cdef void add_block_votes(void* context, int64_t block, int thread) noexcept nogil:
    """Add the votes for a block of rows."""
    cdef:
        const Steps* steps = <Steps*>context
        int64_t row, first = block * TURNED_ROWS
        int64_t last = min(first + TURNED_ROWS, steps.n_rows)
    for row in range(first, last):
        add_row_votes(steps, row)


def add_steps(
    const cell_t[:, :] matrix, const int64_t[::1] columns, const uint8_t[::1] kinds,
    const int64_t[::1] first_threshold, const double[::1] thresholds,
    const int64_t[::1] first_vote, const double[:, ::1] votes, double[:, ::1] out,
    int n_threads,
):
    """Add the votes of the columns for each row.

    Parameters
    ----------
    matrix : memoryview of float64 or float32, shape (n_rows, n_columns)
        Numbers and level codes; -1 is an unseen level, and NaN a missing value.
    columns : memoryview of int64, shape (n,)
        Columns that stumps test.
    kinds : memoryview of uint8, shape (n,)
        0: numbers; 1: ordered levels; 2: levels.
    first_threshold : memoryview of int64, shape (n + 1,)
        First threshold of each column, and behind the last.
    thresholds : memoryview of float64
        Those of each column ascending.
    first_vote : memoryview of int64, shape (n + 1,)
        First row of ``votes`` of each column, and behind the last.
    votes : memoryview of float64, shape (n_places, n_classes)
        What is added: of numbers, for each count of thresholds below the value; of
        levels, for each code; then for an unseen level, and for a missing value.
    out : memoryview of float64, shape (n_rows, n_classes)
        Out: the sums.
    n_threads : int
        Number of threads.
    """
    cdef Steps steps
    steps.n_rows, steps.n_classes = out.shape[0], out.shape[1]
    steps.n_steps = columns.shape[0]
    if steps.n_rows == 0 or steps.n_steps == 0:
        return
    steps.column, steps.kind = &columns[0], &kinds[0]
    steps.first_threshold, steps.first_vote = &first_threshold[0], &first_vote[0]
    steps.thresholds, steps.votes = &thresholds[0], &votes[0, 0]
    steps.out, steps.cells = &out[0, 0], <const char*>&matrix[0, 0]
    steps.row_stride, steps.column_stride = matrix.strides[0], matrix.strides[1]
    steps.is_double = cell_t is double
    run_in_threads(
        n_threads, add_block_votes, &steps, 1 + (steps.n_rows - 1) // TURNED_ROWS
    )


cdef class StumpSearch:
    """Finds the best stump of every round over one table.

    Parameters
    ----------
    order : ndarray of uint32, shape (n_columns, n_rows)
        Sorted columns, as in ``EncodedTable``.
    values : ndarray of float64, shape (n_columns, n)
        Their distinct values.
    n_distinct, n_missing : ndarray of int64, shape (n_columns,)
        Distinct values, and missing ones, of each column.
    is_nominal : ndarray of bool, shape (n_columns,)
        Whether the values of a column are levels without order.
    labels : ndarray of int32, shape (n_rows,)
        Class numbers.
    n_classes : int
        Number of classes.
    weight : ndarray of float64, shape (n_rows,)
        First weights of the rows; they are copied.
    n_threads : int
        Number of threads.
    is_smoothed : ndarray of bool, shape (n_columns,)
        Whether the levels of a nominal column are smoothed; see ``smoothing``.
    smoothing : float
        ``categorical_smoothing`` of the stumps; below 0: "auto".
    """

    cdef:
        Work work
        ThreadTeam* team
        int n_threads
        int64_t n_since
        double largest_weight
        object arrays, labels
        double[::1] weight, totals, block_totals, best_end, child_sums
        int32_t[::1] predicted
        int64_t[::1] n_entries, child_rows, level_rows
        int8_t[::1] level_child
        uint8_t[::1] side

    def __cinit__(
        self, const uint32_t[:, ::1] order, const double[:, ::1] values,
        const int64_t[::1] n_distinct,
        const int64_t[::1] n_missing, const uint8_t[::1] is_nominal,
        const int32_t[::1] labels, int64_t n_classes, weight, int n_threads,
        const uint8_t[::1] is_smoothed, double smoothing,
    ):
        cdef:
            int64_t n_columns = order.shape[0], n_rows = order.shape[1]
            int64_t width = MOST_SUMS // (n_columns * n_classes), c
        width = min(max(width, <int64_t>LEAST_BINS), <int64_t>MOST_BINS)
        self.n_threads = n_threads
        # The first round recomputes the sums.
        self.n_since = -1
        self.work.n_rows, self.work.n_columns = n_rows, n_columns
        self.work.n_classes = n_classes
        self.work.width = width
        self.work.n_blocks = 1 + (n_rows - 1) // BLOCK_ROWS
        # As many for each thread.
        self.work.n_groups = 1 + (n_columns - 1) // (GROUP_COLUMNS * n_threads)
        self.work.n_groups = min(self.work.n_groups * n_threads, n_columns)
        self._bin(order, n_distinct, n_missing, is_nominal, width)
        for c in range(n_columns):
            self.work.columns[c].values = &values[c, 0]
        self._allocate(labels, weight)
        self.arrays.append(values)
        self._start_levels(is_smoothed, smoothing)
        self.team = start_team(n_threads, NULL)

    def __dealloc__(self):
        """Stop the threads; they have no task, as every call waits for its tasks."""
        cdef int i
        with nogil:
            stop_team(self.team)
        if self.work.level_search != NULL:
            for i in range(self.n_threads):
                free_level_search(&self.work.level_search[i])
            free(self.work.level_search)

    cdef _start_levels(self, const uint8_t[::1] is_smoothed, double smoothing):
        """Allocate for columns of many levels, and count their rows."""
        cdef:
            Work* work = &self.work
            Column* column
            int64_t c, i, place = 0, most = 0
            uint32_t code = 0
        for c in range(work.n_columns):
            if is_smoothed[c]:
                most = max(most, work.columns[c].n_bins + 1)
                place += work.columns[c].n_bins + 1
        if most == 0:
            return
        self.level_rows = np.zeros(place, dtype=np.int64)
        self.level_child = np.zeros(place, dtype=np.int8)
        place = 0
        for c in range(work.n_columns):
            if not is_smoothed[c]:
                continue
            column = work.columns + c
            column.level_rows = &self.level_rows[place]
            column.level_child = &self.level_child[place]
            place += column.n_bins + 1
            for i in range(work.n_rows):
                code = column.bins[i] if column.codes == NULL else column.codes[i]
                column.level_rows[code] += 1
        work.level_search = <LevelSearch*>calloc(self.n_threads, sizeof(LevelSearch))
        if work.level_search == NULL:
            raise MemoryError()
        for i in range(self.n_threads):
            if start_level_search(
                &work.level_search[i], work.n_classes, most, smoothing
            ) < 0:
                raise MemoryError()

    cdef _bin(
        self, const uint32_t[:, ::1] order, const int64_t[::1] n_distinct,
        const int64_t[::1] n_missing, const uint8_t[::1] is_nominal, int64_t width
    ):
        """Divide the columns into bins and number these."""
        cdef:
            int64_t n_columns = order.shape[0], n_rows = order.shape[1], c
            Binning binning
            # Those of wide columns stay 0.
            uint8_t[:, ::1] bins = np.zeros((n_columns, n_rows), dtype=np.uint8)
            uint8_t[:, ::1] row_bins = np.empty((n_rows, n_columns), dtype=np.uint8)
            uint8_t[::1] columns = np.zeros(n_columns * sizeof(Column), dtype=np.uint8)
            int64_t[:, ::1] start = np.zeros((n_columns, MOST_BINS + 1), dtype=np.int64)
            Column* column
        n_bins = np.asarray(n_distinct) + (np.asarray(n_missing) > 0)
        is_wide = (np.asarray(is_nominal) > 0) & (n_bins > width)
        cdef:
            int64_t[::1] wide = np.where(is_wide, np.cumsum(is_wide) - 1, -1)
            int64_t[::1] places = np.cumsum(np.where(is_wide, n_bins, 0))
            uint32_t[:, ::1] codes = np.empty(
                (max(is_wide.sum(), 1), n_rows), dtype=np.uint32
            )
        self.work.columns = <Column*>&columns[0]
        self.work.bins = &row_bins[0, 0]
        self.work.n_all_bins = width * n_columns + places[n_columns - 1]
        for c in range(n_columns):
            column = self.work.columns + c
            column.order = &order[c, 0]
            column.bins = &bins[c, 0]
            column.start = &start[c, 0]
            column.is_nominal = is_nominal[c] != 0
            column.has_missing = n_missing[c] > 0
            column.first = c * width
            column.codes = NULL
            if wide[c] >= 0:
                column.codes = &codes[wide[c], 0]
                column.first = width * n_columns + places[c] - n_bins[c]
        binning.columns = self.work.columns
        binning.bins, binning.row_bins = &bins[0, 0], &row_bins[0, 0]
        binning.codes = &codes[0, 0]
        binning.start, binning.wide_number = &start[0, 0], &wide[0]
        binning.n_missing, binning.n_distinct = &n_missing[0], &n_distinct[0]
        binning.n_rows, binning.n_columns = n_rows, n_columns
        binning.width = width
        run_in_threads(self.n_threads, bin_column, &binning, n_columns)
        run_in_threads(
            self.n_threads, turn_block, &binning, 1 + (n_rows - 1) // TURNED_ROWS
        )
        self.arrays = [order, bins, row_bins, columns, start, codes]

    cdef _allocate(self, const int32_t[::1] labels, weight):
        """Allocate the memory of the rounds."""
        cdef:
            Work* work = &self.work
            int64_t n_rows = work.n_rows, n_classes = work.n_classes
            uint32_t[::1] entry_row = np.zeros(
                work.n_blocks * BLOCK_ROWS + FETCH_AHEAD, dtype=np.uint32
            )
            double[::1] entry_weight = np.empty(work.n_blocks * BLOCK_ROWS + 1)
            double[::1] sums = np.zeros(work.n_all_bins * n_classes)
            double[::1] scratch = np.empty(2 * n_classes * self.n_threads)
            uint8_t[::1] stumps = np.zeros(
                work.n_columns * sizeof(Stump), dtype=np.uint8
            )
        self.weight = np.array(weight, dtype=np.float64)
        self.largest_weight = LARGEST_TOTAL
        self.totals, self.predicted = np.zeros(n_classes), np.zeros(N_ENDS, np.int32)
        self.block_totals = np.empty(work.n_blocks * n_classes)
        self.best_end = np.empty(work.n_columns)
        self.n_entries = np.zeros(work.n_blocks, dtype=np.int64)
        self.child_sums = np.empty(work.n_blocks * LANES * 2 * N_ENDS * n_classes)
        self.child_rows = np.empty(work.n_blocks * LANES * N_ENDS, np.int64)
        self.side = np.zeros(n_rows, dtype=np.uint8)
        self.labels = np.asarray(labels)
        self.arrays += [entry_row, entry_weight, sums, scratch, stumps]
        work.labels, work.weight = &labels[0], &self.weight[0]
        work.totals, work.predicted = &self.totals[0], &self.predicted[0]
        work.block_totals, work.best_end = &self.block_totals[0], &self.best_end[0]
        work.n_entries, work.side = &self.n_entries[0], &self.side[0]
        work.child_sums, work.child_rows = &self.child_sums[0], &self.child_rows[0]
        work.entry_row, work.entry_weight = &entry_row[0], &entry_weight[0]
        work.sums, work.scratch = &sums[0], &scratch[0]
        work.stumps = <Stump*>&stumps[0]
        work.learned, work.is_drawn = work.weight, False

    def copy_weights(self):
        """Copy the weights, which are not normalised.

        Returns
        -------
        weight : ndarray of float64, shape (n_rows,)
        """
        return np.array(self.weight)

    def mark_wrong(self):
        """Mark the rows that the last stump misclassified.

        Returns
        -------
        is_wrong : ndarray of bool, shape (n_rows,)
        """
        return np.asarray(self.predicted)[np.asarray(self.side)] != self.labels

    def find(
        self, double factor, const double[::1] drawn=None, double design_effect=0.0
    ):
        """Multiply the weights of the rows that the last stump misclassified, and find
        the best stump for the new ones.

        Parameters
        ----------
        factor : double
            At least 1.
        drawn : ndarray of float64, shape (n_rows,), default=None
            Weights to learn from in place of those of the rows, such as counts.
        design_effect : double, default=0.0
            That of the weights to learn from (see ``GrowthRules``), divided by their
            sum. Used only with smoothed columns.

        Returns
        -------
        found : dict
            ``column``, -1 for a leaf; ``threshold``, infinite where present values are
            parted from missing ones; ``missing_child``; ``level_child`` of a nominal
            column, by rank, -1 for a level without rows;
            by child ``weights`` of the classes and ``n_rows``; ``wrong`` and
            ``total``, weights of rows.
        """
        cdef:
            Work* work = &self.work
            ThreadTeam* team = self.team
            Stump best
            int64_t c
        work.design_effect = design_effect
        self._choose_factors(factor, drawn is not None)
        work.learned, work.is_drawn = work.weight, drawn is not None
        if drawn is not None:
            work.learned = &drawn[0]
        with nogil:
            run_tasks(team, reweigh_block, work, work.n_blocks)
            self._add_totals()
            run_tasks(team, update_group, work, work.n_groups)
            # No column's best stump scores less than its best end of a bin: what is
            # below the best of these, up to the margin, cannot win.
            work.limit = -INFINITY
            for c in range(work.n_columns):
                work.limit = max(work.limit, work.best_end[c] - work.margin)
            run_tasks(team, refine_column, work, work.n_columns)
            c = self._choose(&best)
        found = self._start_division(c, &best)
        with nogil:
            run_tasks(team, divide_block, work, work.n_blocks)
        return self._describe(found, c)

    cdef _choose_factors(self, double factor, bint is_drawn):
        """Set how weights change, and whether sums are recomputed."""
        cdef:
            Work* work = &self.work
            bint is_large = factor > LARGEST_FACTOR
        self.n_since += 1
        work.is_rebuilt = (
            is_drawn or is_large or self.n_since % REBUILT_ROUNDS == 0
            or self.largest_weight >= LARGEST_TOTAL
        )
        work.right_factor, work.wrong_factor = 1.0, factor
        if work.is_rebuilt:
            self.n_since = 0
            # Normalised when the sums are recomputed anyway. A large factor divides the
            # others' weights instead, so that none overflows.
            work.right_factor = 1.0 / np.sum(self.weight)
            work.wrong_factor = factor * work.right_factor
            if is_large:
                work.wrong_factor = work.right_factor
                work.right_factor /= factor

    cdef void _add_totals(self) noexcept nogil:
        """Update the weights of the classes."""
        cdef int64_t block, k
        cdef double total = 0.0
        if self.work.is_rebuilt:
            memset(self.work.totals, 0, self.work.n_classes * sizeof(double))
        for block in range(self.work.n_blocks):
            for k in range(self.work.n_classes):
                self.work.totals[k] += self.work.block_totals[
                    block * self.work.n_classes + k
                ]
        for k in range(self.work.n_classes):
            total += self.work.totals[k]
        self.work.margin = MARGIN * total

    cdef int64_t _choose(self, Stump* best) noexcept nogil:
        """The best column, the first of equal ones; -1: none is better than a leaf."""
        cdef int64_t c, chosen = -1
        clear_stump(best)
        best.score = 0.0
        for c in range(self.work.n_classes):
            best.score = max(best.score, self.work.totals[c])
        for c in range(self.work.n_columns):
            if self.work.stumps[c].score > best.score + self.work.margin:
                best[0] = self.work.stumps[c]
                chosen = c
        return chosen

    cdef _start_division(self, int64_t c, Stump* best):
        """Find the child of every bin, and of each row in a divided bin."""
        cdef:
            Work* work = &self.work
            Column* column
            int64_t b, i
            int8_t[::1] child_of_bin
        work.column = NULL
        if c < 0:
            return {"column": -1}
        column = work.column = work.columns + c
        child_of_bin = np.zeros(column.n_bins + 1, dtype=np.int8)
        found = {"column": c, "children": child_of_bin, "missing_child": -1}
        work.child_of_bin = &child_of_bin[0]
        if column.level_child != NULL:
            for b in range(column.n_bins + column.has_missing):
                child_of_bin[b] = column.level_child[b]
                if child_of_bin[b] < 0:
                    child_of_bin[b] = UNSEEN if b < column.n_bins else UNKNOWN
            return found
        if column.is_nominal:
            self._divide_levels(best, child_of_bin)
            return found
        found["threshold"] = INFINITY
        if not best.is_alone:
            found["threshold"] = place_threshold(work, column, &best.position)
        for b in range(column.n_bins):
            # A bin is right or left of the position, or divided by it, row by row.
            if column.start[b] >= best.position:
                child_of_bin[b] = 1
            elif column.start[b + 1] > best.position:
                child_of_bin[b] = PARTED
                for i in range(column.start[b], column.start[b + 1]):
                    work.side[column.order[i] & ROW_MASK] = i >= best.position
        child_of_bin[column.n_bins] = (
            UNKNOWN if best.missing_child < 0 else best.missing_child
        )
        found["missing_child"] = best.missing_child
        return found

    cdef _divide_levels(self, Stump* best, int8_t[::1] child_of_bin):
        """Child 0 gets the levels with more weight of one of the classes."""
        cdef:
            Work* work = &self.work
            const double* low = (
                work.sums + best.low_class * work.n_all_bins + work.column.first
            )
            const double* high = (
                work.sums + best.high_class * work.n_all_bins + work.column.first
            )
            int64_t b, k, n_bins = work.column.n_bins + work.column.has_missing
            int8_t last = 1
            double heaviest
        for b in range(n_bins):
            # Equal weights, but for rounding, go to child 1.
            child_of_bin[b] = not low[b] > high[b] + work.margin
            heaviest = 0.0
            for k in range(work.n_classes):
                heaviest = max(
                    heaviest,
                    work.sums[k * work.n_all_bins + work.column.first + b],
                )
            if heaviest > 0.0:
                last = child_of_bin[b]
            else:
                child_of_bin[b] = UNSEEN if b < work.column.n_bins else UNKNOWN
        # The last level with weight is in child 1, as where trees try every division.
        if work.n_classes > 2 and last == 0:
            for b in range(n_bins):
                if child_of_bin[b] < UNSEEN:
                    child_of_bin[b] = 1 - child_of_bin[b]

    cdef _describe(self, found, int64_t c):
        """Sum the weights of the children."""
        cdef:
            Work* work = &self.work
            int64_t n_classes = work.n_classes
            int64_t end
        shape = (-1, 2, N_ENDS, n_classes)
        sums = np.asarray(self.child_sums).reshape(shape).sum(axis=0)
        n_rows = np.asarray(self.child_rows).reshape(-1, N_ENDS).sum(axis=0)
        # What was learned from, and the weights of the rows, which differ if rows were
        # drawn.
        weights, real = sums[0, :2], sums[int(work.is_drawn)]
        found.update(weights=weights, n_rows=n_rows[:2], total=real.sum())
        self.largest_weight = found["total"]
        # By end: the classes of the two children, of the root for unseen levels, and,
        # if there is a test, of the child for unknown values.
        predicted = [*weights.argmax(axis=1), weights.sum(axis=0).argmax(), 0]
        if c >= 0:
            self._finish(found, work.columns + c)
            predicted[UNKNOWN] = predicted[found["missing_child"]]
        for end in range(N_ENDS):
            self.predicted[end] = predicted[end]
        is_wrong = np.arange(n_classes) != np.array(predicted)[:, np.newaxis]
        found["wrong"] = real[is_wrong].sum()
        return found

    cdef _finish(self, found, const Column* column):
        """Return where levels and missing values go."""
        cdef int64_t n_bins = column.n_bins
        children = np.array(found.pop("children"), dtype=np.int32)
        found["level_child"] = None
        if column.is_nominal:
            found["level_child"] = np.where(children < UNSEEN, children, -1)[:n_bins]
            if column.has_missing and children[n_bins] < UNSEEN:
                found["missing_child"] = int(children[n_bins])
        if found["missing_child"] < 0:
            # As a tree does with unknown levels: to the child with more rows.
            found["missing_child"] = int(found["n_rows"][1] >= found["n_rows"][0])
