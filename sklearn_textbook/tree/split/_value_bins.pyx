"""Squared error: best threshold of columns whose many rows are not sorted.

The way is that of ``_histogram``. With residuals from the mean of the node, s their sum
on the left and S in all, k the weight on the left and n in all, the decrease is
d^2 / (n k (n - k)) with d = s n - S k. No part of a bin moves s by more than its
positive residuals, or than its negative ones. Residuals are whole numbers, so sums do
not depend on the order of the rows.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._counted cimport (
    FETCH_AHEAD,
    FETCH_EARLY,
    MOST_BINS,
    TILE_COLUMNS,
    sort_keys,
)
from sklearn_textbook.tree.split._listed cimport (
    exponent_of,
    number_of,
    power_of_two,
)
from sklearn_textbook.tree.split._wide_units cimport wide_void


cdef enum:
    MOST_BITS = 50  # of a residual
    SUM_BITS = 62  # of a sum of residuals
    LEAST_EXPONENT = -900  # units stay numbers that have a reciprocal
    LANES = 4

# Added to a number below 2^51, it leaves the whole part in the lowest bits.
cdef double SHIFTED = 6755399441055744.0
cdef int64_t SHIFTED_BITS
cdef double MOST_RESIDUAL = 1125899906842624.0
cdef double GRAINS = 1048576.0  # of the bound of positive residuals, in all


# -------------------------------------------------------------------- what is counted


cdef inline double measure_distances(
    const double* distance, int64_t n, double* size
) noexcept nogil:
    """The largest absolute value, and the sum of all, several at a time."""
    cdef:
        double[LANES] top
        double[LANES] part
        double absolute, largest = 0.0
        int64_t i, c, whole = n // LANES
    for c in range(LANES):
        top[c] = part[c] = 0.0
    for i in range(whole):
        for c in range(LANES):
            absolute = fabs(distance[LANES * i + c])
            top[c] = absolute if absolute > top[c] else top[c]
            part[c] += absolute
    for i in range(LANES * whole, n):
        absolute = fabs(distance[i])
        top[0] = absolute if absolute > top[0] else top[0]
        part[0] += absolute
    size[0] = 0.0
    for c in range(LANES):
        largest = top[c] if top[c] > largest else largest
        size[0] += part[c]
    return largest


cdef wide_void find_distances(
    const double* y, const uint64_t* rows, int64_t n, double centre, double* distance
) noexcept nogil:
    """Weighted distances from the centre."""
    cdef int64_t i
    for i in range(n):
        distance[i] = (y[i] - centre) * <double><int32_t>(rows[i] >> 48)


cdef wide_void find_amounts(
    const uint64_t* rows, const double* distance, int64_t n, double scale,
    double finest, Amount* amounts
) noexcept nogil:
    """Distances as whole numbers, and the bounds of positive ones."""
    cdef:
        int64_t i, whole
        double shifted, size
    for i in range(n):
        shifted = distance[i] * scale + SHIFTED
        memcpy(&whole, &shifted, sizeof(double))
        amounts[i].residual = <uint64_t>(whole - SHIFTED_BITS)
        size = distance[i] if distance[i] > 0.0 else 0.0
        amounts[i].counts = (
            <uint64_t>1 << ROWS_SHIFT
            | (rows[i] >> 48) << WEIGHT_SHIFT
            | <uint64_t>(<int32_t>(size * finest) + 1)
        )


cdef void describe_values(
    const double* y, NodeView* view, ListedRows* listed, Amount* amounts,
    ValueContest* contest
) noexcept nogil:
    """Gather y, and turn its distance from the mean of the node into whole numbers, as
    fine as their sum allows. The node's margin then covers that rounding."""
    cdef:
        int64_t i, exponent, bits = SUM_BITS, n = listed.n
        double centre = view.totals.centre[0], largest, scale, finest, size
        double weight = view.totals.weight
        double* distance = <double*>listed.residuals
        const uint64_t* rows = listed.rows
        uint64_t total = 0
    for i in range(n):
        listed.y[i] = y[number_of(rows[i])]
    find_distances(listed.y, rows, n, centre, distance)
    largest = measure_distances(distance, n, &size)
    exponent = max(exponent_of(largest), <int64_t>LEAST_EXPONENT)
    while n > 0:
        n >>= 1
        bits -= 1
    n = listed.n
    bits = min(bits, <int64_t>MOST_BITS)
    listed.unit = power_of_two(exponent - bits)
    scale = power_of_two(bits - exponent)
    finest = GRAINS / size if size > 0.0 else 0.0
    if not finest < INFINITY:
        finest = 0.0
    find_amounts(rows, distance, n, scale, finest, amounts)
    for i in range(n):
        total += amounts[i].residual
    listed.total = <int64_t>total
    view.margin += 8.0 * listed.unit * sqrt(weight * view.totals.squares)
    contest.amounts = amounts
    contest.n_rows = n
    contest.n = weight
    contest.total = <double>listed.total
    # A little more than it is, for the rounding of residuals.
    contest.grain = scale / finest * (1.0 + 1e-6) if finest > 0.0 else MOST_RESIDUAL
    contest.margin = view.margin
    contest.worth = listed.unit * listed.unit / weight
    contest.bound = score_to_beat(
        contest.problem, &contest.division.best, contest.margin
    ) / contest.worth


cdef inline void add_to(
    Amount* slot, uint64_t counts, uint64_t residual
) noexcept nogil:
    slot.counts += counts
    slot.residual += residual


cdef inline void count_four(
    const uint8_t* row_bins, int64_t width, const uint64_t* rows, int64_t n,
    const Amount* amounts, ValueColumn** columns, int32_t coarseness, bint is_far,
    uint8_t* tile_bins, Amount* tile
) noexcept nogil:
    """Four columns in one pass: their bins stand in the same line of the cache. They
    are kept, as some will be asked for again."""
    cdef:
        const uint8_t* first = row_bins + columns[0].number
        const uint8_t* second = row_bins + columns[1].number
        const uint8_t* third = row_bins + columns[2].number
        const uint8_t* fourth = row_bins + columns[3].number
        int64_t stride = MOST_BINS >> coarseness
        Amount* second_tile = tile + stride
        Amount* third_tile = tile + 2 * stride
        Amount* fourth_tile = tile + 3 * stride
        int64_t i, place, a, b, c, d
        uint64_t counts, residual
        uint8_t[TILE_COLUMNS] four
    for i in range(n):
        place = number_of(rows[i]) * width
        counts = amounts[i].counts
        residual = amounts[i].residual
        if is_far:
            FETCH_EARLY(row_bins + number_of(rows[i + FETCH_AHEAD]) * width)
        a = first[place] >> coarseness
        b = second[place] >> coarseness
        c = third[place] >> coarseness
        d = fourth[place] >> coarseness
        # In one step.
        four[0] = <uint8_t>a
        four[1] = <uint8_t>b
        four[2] = <uint8_t>c
        four[3] = <uint8_t>d
        memcpy(tile_bins + TILE_COLUMNS * i, four, TILE_COLUMNS)
        add_to(tile + a, counts, residual)
        add_to(second_tile + b, counts, residual)
        add_to(third_tile + c, counts, residual)
        add_to(fourth_tile + d, counts, residual)


cdef void count_columns(
    const uint8_t* row_bins, int64_t width, const ListedRows* listed,
    const Amount* amounts, ValueColumn** columns, int64_t n_columns,
    int32_t coarseness, bint is_far, uint8_t* tile_bins, Amount* tile
) noexcept nogil:
    """Count the rows of up to four columns; MOST_BINS >> coarseness entries of the tile
    for each. Were they 4096 bytes apart, processors would wait for one as for the
    other."""
    cdef:
        const uint64_t* rows = listed.rows
        ValueColumn* all_columns[TILE_COLUMNS]
        int64_t i, n = listed.n
    # A column that is counted twice costs less than a loop for every number.
    for i in range(TILE_COLUMNS):
        all_columns[i] = columns[min(i, n_columns - 1)]
        memset(
            tile + i * (MOST_BINS >> coarseness), 0,
            all_columns[i].n_bins * sizeof(Amount)
        )
    for i in range(n_columns):
        columns[i].row_bins = tile_bins + i
    # Numbers that the compiler knows make loops of their own.
    if coarseness > 0:
        count_four(
            row_bins, width, rows, n, amounts, all_columns, coarseness, False,
            tile_bins, tile
        )
    elif is_far:
        count_four(
            row_bins, width, rows, n, amounts, all_columns, 0, True, tile_bins, tile
        )
    else:
        count_four(
            row_bins, width, rows, n, amounts, all_columns, 0, False, tile_bins, tile
        )


cdef void count_codes(
    const ValueColumn* column, const Amount* amounts, int64_t n, Amount* tile
) noexcept nogil:
    """Count the rows of a column whose codes are gathered."""
    cdef int64_t i
    memset(tile, 0, column.n_bins * sizeof(Amount))
    for i in range(n):
        add_to(
            &tile[(column.codes[i] - column.smallest) >> column.shift],
            amounts[i].counts, amounts[i].residual
        )


cdef int64_t add_up_bins(ValueColumn* column, const Amount* tile) noexcept nogil:
    """Turn amounts in bins into amounts below them; returns the bins that hold
    rows."""
    cdef:
        int64_t b, n_used = 0
        uint64_t counts = 0, residual = 0
        Amount* below = column.below
    below[0].counts = below[0].residual = 0
    for b in range(column.n_bins):
        n_used += tile[b].counts != 0
        counts += tile[b].counts
        residual += tile[b].residual
        below[b + 1].counts = counts
        below[b + 1].residual = residual
    return n_used


# ------------------------------------------------------------------------- searching


cdef inline double double_of(uint64_t number) noexcept nogil:
    """A whole number with a sign, whose halves are put into the digits of two doubles:
    vector units convert no other way. What is taken off leaves the halves exactly."""
    cdef:
        uint64_t high_bits = (number >> 32) ^ <uint64_t>0x4530000080000000
        uint64_t low_bits = <uint64_t><uint32_t>number | <uint64_t>0x4330000000000000
        double high, low
    memcpy(&high, &high_bits, sizeof(double))
    memcpy(&low, &low_bits, sizeof(double))
    # 2^84 + 2^63, and 2^52.
    return (high - 19342822337206103650074624.0) + (low - 4503599627370496.0)


cdef inline double short_double_of(uint64_t number) noexcept nogil:
    """A whole number below 2^52."""
    cdef:
        uint64_t bits = number | <uint64_t>0x4330000000000000
        double shifted
    memcpy(&shifted, &bits, sizeof(double))
    return shifted - 4503599627370496.0


cdef wide_void measure_ends(
    const Amount* below, int64_t n_ends, double n, double total, double grain,
    double* cross, double* area, double* positive
) noexcept nogil:
    """What the ends of bins need for their scores."""
    cdef:
        int64_t b
        double k
    for b in range(n_ends):
        k = short_double_of((below[b].counts >> WEIGHT_SHIFT) & WEIGHT_MASK)
        cross[b] = double_of(below[b].residual) * n - total * k
        area[b] = k * (n - k)
        positive[b] = short_double_of(below[b].counts & POSITIVE_MASK) * grain


cdef wide_void score_ends(
    const double* cross, const double* area, int64_t first, int64_t stop, double* score
) noexcept nogil:
    cdef int64_t b
    for b in range(first, stop):
        score[b] = cross[b] * cross[b] / area[b]


cdef inline double largest_of(const double* score, int64_t n) noexcept nogil:
    """The largest of some numbers and -1, several at a time."""
    cdef:
        double[LANES] top
        int64_t b, c, whole = n // LANES
    for c in range(LANES):
        top[c] = -1.0
    for b in range(whole):
        for c in range(LANES):
            top[c] = score[LANES * b + c] if score[LANES * b + c] > top[c] else top[c]
    for b in range(LANES * whole, n):
        top[0] = score[b] if score[b] > top[0] else top[0]
    for c in range(1, LANES):
        top[0] = top[c] if top[c] > top[0] else top[0]
    return top[0]


cdef wide_void find_excess(
    const double* cross, const double* area, const double* positive, int64_t n_bins,
    double n, double drift, double bound, double* excess
) noexcept nogil:
    """By how much the bins may exceed a bound."""
    cdef:
        int64_t b
        double gained, high, low, square, smaller
    # In a bin, d lies between what its positive residuals alone and what its negative
    # ones alone would make of it, and k (n - k) is not below that of one of the ends.
    # The factor covers what rounding may take from the largest.
    for b in range(n_bins):
        gained = (positive[b + 1] - positive[b]) + drift * n
        high = cross[b] + gained
        low = cross[b + 1] - gained
        high *= high
        low *= low
        square = high if high > low else low
        smaller = area[b] if area[b] < area[b + 1] else area[b + 1]
        smaller = smaller if smaller > n - 1.0 else n - 1.0
        excess[b] = square * (1.0 + 1e-14) - bound * smaller


cdef void find_edge(const ValueContest* contest, ValueColumn* column) noexcept nogil:
    """The best end of a bin. Empty bins repeat a candidate, which is cheaper than to
    ask for them."""
    cdef:
        int64_t first = 0, stop = column.n_bins + 1
        const Amount* below = column.below
        double* score = column.score
        double best
    measure_ends(
        below, stop, contest.n, contest.total, contest.grain * contest.n, column.cross,
        column.area, column.positive
    )
    while first < stop and rows_in(below[first].counts) < contest.lowest:
        score[first] = -1.0
        first += 1
    while stop > first and rows_in(below[stop - 1].counts) > contest.highest:
        stop -= 1
        score[stop] = -1.0
    score_ends(column.cross, column.area, first, stop, score)
    best = largest_of(score + first, stop - first)
    column.edge = best if best >= 0.0 else -INFINITY


cdef int64_t open_bins(
    const ValueContest* contest, const ValueColumn* column, double bound,
    double* excess, uint8_t* is_open
) noexcept nogil:
    """Mark the bins that may hold something better; returns how many rows they have."""
    cdef:
        int64_t b, inside, n_open = 0
        const Amount* below = column.below
    find_excess(
        column.cross, column.area, column.positive, column.n_bins, contest.n,
        2.0 * fabs(contest.total), bound, excess
    )
    for b in range(column.n_bins):
        is_open[b] = False
        if excess[b] > 0.0:
            inside = rows_in(below[b + 1].counts - below[b].counts)
            if inside > 1:
                is_open[b] = True
                n_open += inside
    return n_open


cdef void try_division(
    ValueContest* contest, int64_t place, const Amount* left, uint32_t cut,
    uint32_t above, bint is_between
) noexcept nogil:
    """Take the division with this on the left if it is better."""
    cdef:
        Division* division = contest.division
        double n = contest.n, k = <double>weight_in(left.counts), area = k * (n - k)
        double d = <double><int64_t>left.residual * n - contest.total * k, score
    if not d * d > contest.bound * area:
        return
    if not contest.lowest <= rows_in(left.counts) <= contest.highest:
        return
    score = d * d / area * contest.worth
    take(&division.best, score, rows_in(left.counts), -1)
    division.counts = <uint64_t>rows_in(left.counts) << 32 | <uint64_t>(
        weight_in(left.counts)
    )
    division.sum = <int64_t>left.residual
    division.cut = cut
    division.above = above
    division.is_between = is_between
    contest.place = place
    contest.bound = (score + contest.margin) / contest.worth


cdef void walk_up(
    ValueContest* contest, const ValueColumn* column, int64_t place,
    const uint64_t* keys, int64_t n, const Amount* below
) noexcept nogil:
    """Try the divisions between sorted rows."""
    cdef:
        const Amount* amounts = contest.amounts
        const Amount* row
        Amount left = below[0]
        uint32_t code = <uint32_t>(keys[0] >> 32), above
        double weight = contest.n, total = contest.total, bound = contest.bound, k, d
        int64_t i
    for i in range(1, n):
        row = amounts + <uint32_t>keys[i - 1]
        left.counts += row.counts
        left.residual += row.residual
        above = <uint32_t>(keys[i] >> 32)
        k = <double>weight_in(left.counts)
        d = <double><int64_t>left.residual * weight - total * k
        if d * d > bound * (k * (weight - k)) and above != code:
            try_division(
                contest, place, &left, column.smallest + code,
                column.smallest + above, True
            )
            bound = contest.bound
        code = above


cdef void try_column(
    ValueContest* contest, ValueColumn* column, int64_t place,
    const uint8_t* is_open, uint64_t* keys, uint64_t* spare
) noexcept nogil:
    """All candidates in ascending order: those inside open bins, whose keys stand
    together but are not sorted, and the ends."""
    cdef:
        int64_t b, inside, first = 0
        const Amount* below = column.below
        const double* score = column.score
    for b in range(column.n_bins):
        if is_open[b]:
            inside = rows_in(below[b + 1].counts - below[b].counts)
            # Above the shift, all codes of a bin are equal.
            sort_keys(keys + first, inside, spare, (<uint32_t>1 << column.shift) - 1)
            walk_up(contest, column, place, keys + first, inside, &below[b])
            first += inside
        if score[b + 1] > contest.bound:
            try_division(
                contest, place, &below[b + 1],
                column.smallest + (<uint32_t>(b + 1) << column.shift) - 1, 0, False
            )


memcpy(&SHIFTED_BITS, &SHIFTED, sizeof(double))
