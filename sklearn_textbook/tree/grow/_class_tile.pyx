"""Classes: four columns of a node of up to 64 rows, side by side.

Their keys are sorted as those of regression are (``_coded_tile``). The sums of the four
do not wait for each other, and all values are computed before the first is looked at.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from sklearn_textbook.tree.grow._coded_tile cimport LANES, LEAST_KEY, ROW_BITS
from sklearn_textbook.tree.split._wide_units cimport wide_void


cdef enum:
    CELLS = 256  # rows times columns


# What is on the left of every division, lane by lane: its weight; the sum of squared
# class weights, and that of their products with those of the node.
cdef struct LeftSums:
    int32_t[CELLS] weight
    int32_t[CELLS] squares
    int32_t[CELLS] products


cdef void add_up_rows(
    const ClassSearch* search, const int32_t* keys, int64_t n, LeftSums* sums
) noexcept nogil:
    """The sums of the first n divisions."""
    cdef:
        int32_t[LANES * MOST_CLASSES] left
        int32_t[LANES] squares
        int32_t[LANES] products
        int32_t[LANES] weights
        int64_t i, c, place
        int32_t weight, label, here
    memset(left, 0, LANES * search.n_classes * sizeof(int32_t))
    for c in range(LANES):
        squares[c] = products[c] = weights[c] = 0
    for i in range(n):
        for c in range(LANES):
            place = keys[LANES * i + c] & (SMALL_ROWS - 1)
            weight = search.weight[place]
            label = search.label[place]
            here = left[LANES * label + c]
            left[LANES * label + c] = here + weight
            squares[c] += weight * (2 * here + weight)
            products[c] += weight * search.totals[label]
            weights[c] += weight
            sums.squares[LANES * i + c] = squares[c]
            sums.products[LANES * i + c] = products[c]
            sums.weight[LANES * i + c] = weights[c]


cdef wide_void judge_squares(
    const LeftSums* sums, const int32_t* keys, int64_t n, double all_weight,
    double all_squares, double* score
) noexcept nogil:
    """Gini: the sum of squares over the weight, of both sides; -inf between equal
    codes."""
    cdef:
        int64_t i
        double weight, left, right, value
    for i in range(n):
        weight = <double>sums.weight[i]
        left = <double>sums.squares[i]
        right = all_squares - 2.0 * <double>sums.products[i] + left
        value = (left * (all_weight - weight) + right * weight) / (
            weight * (all_weight - weight)
        )
        score[i] = value if (keys[i] ^ keys[i + LANES]) >= SMALL_ROWS else -INFINITY


cdef void judge_logarithms(
    const ClassSearch* search, const int32_t* keys, int64_t n, double* score
) noexcept nogil:
    """Entropy: the same of the sum of T(l_c) + T(r_c), less T(k) + T(n - k)."""
    cdef:
        const int64_t* table = search.entropy_table
        int32_t[LANES * MOST_CLASSES] left
        int64_t[LANES] sums
        int64_t[LANES] weights
        int64_t i, j, c, place, k
        int32_t weight, label, here, there
    memset(left, 0, LANES * search.n_classes * sizeof(int32_t))
    for c in range(LANES):
        sums[c] = weights[c] = 0
    for i in range(n):
        for c in range(LANES):
            place = keys[LANES * i + c] & (SMALL_ROWS - 1)
            weight = search.weight[place]
            label = search.label[place]
            here = left[LANES * label + c]
            there = search.totals[label] - here
            left[LANES * label + c] = here + weight
            sums[c] += (
                table[here + weight] - table[here]
                + table[there - weight] - table[there]
            )
            weights[c] += weight
            k = weights[c]
            j = LANES * i + c
            score[j] = -INFINITY
            if (keys[j] ^ keys[j + LANES]) >= SMALL_ROWS:
                score[j] = <double>(
                    sums[c] - table[k] - table[search.n_weight - k]
                    - search.whole_base
                )


cdef inline double largest_of(
    const double* score, int64_t first, int64_t stop
) noexcept nogil:
    """The largest of all lanes."""
    cdef:
        double[LANES] top
        int64_t i, c
    for c in range(LANES):
        top[c] = -INFINITY
    for i in range(first, stop):
        for c in range(LANES):
            top[c] = score[LANES * i + c] if score[LANES * i + c] > top[c] else top[c]
    for c in range(1, LANES):
        top[0] = top[c] if top[c] > top[0] else top[0]
    return top[0]


cdef inline int64_t code_of(int32_t key) noexcept nogil:
    return (key - LEAST_KEY) >> ROW_BITS


cdef void choose_division(
    Tile* tile, int64_t lowest, ClassSearch* search
) noexcept nogil:
    """Take the best division of sorted columns that leaves so many rows on both sides,
    if it is better than what was found before. Candidates are compared column by
    column, from the lowest threshold on."""
    cdef:
        LeftSums sums
        const int32_t* keys = tile.keys
        double* scores = tile.score
        double largest, beat = search.bound, score
        int64_t i, c, best = -1, lane = 0, first = lowest - 1, stop = search.n - lowest
    if stop <= first:
        return
    if search.entropy_table == NULL:
        add_up_rows(search, keys, stop, &sums)
        judge_squares(
            &sums, keys, LANES * stop, <double>search.n_weight,
            <double>search.whole_base, scores
        )
    else:
        judge_logarithms(search, keys, stop, scores)
    largest = largest_of(scores, first, stop)
    if not largest > beat:
        return
    if search.entropy_table == NULL:
        # No others come near but those that are equal.
        beat = max(beat, largest - search.margin)
    for c in range(tile.n_columns):
        for i in range(first, stop):
            score = scores[LANES * i + c]
            if score > beat:
                beat = score + search.margin
                best = i
                lane = c
        if search.entropy_table == NULL and best >= 0:
            break
    search.bound = beat
    search.column = tile.number[lane]
    search.n_left = best + 1
    search.map_start = code_of(keys[LANES * best + lane]) << 32 | (
        code_of(keys[LANES * (best + 1) + lane])
    )
    for i in range(search.n):
        search.places[i] = <uint8_t>(keys[LANES * i + lane] & (SMALL_ROWS - 1))
