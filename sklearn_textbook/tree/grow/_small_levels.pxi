# Levels of the nominal columns of a small node. Columns of many levels, whose means are
# smoothed in larger nodes, keep their codes, as ordinal columns do.


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


cdef inline int64_t list_levels(
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
        int64_t i, j, n_levels = list_levels(search, keys, levels, level_of)
    for j in range(n_levels):
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
        levels[j].code = j
    sort_levels(levels, n_levels, -1)
    for j in range(n_levels):
        tile.falling[c][levels[j].code] = <uint8_t>j


cdef void divide_levels(
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
        int64_t n_levels = list_levels(search, keys, levels, level_of)
    for run in range(n_levels):
        scratch.run_rows[run] = levels[run].n_rows
        scratch.run_weight[run] = levels[run].weight
        scratch.run_sums[run * size] = levels[run].first
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


cdef inline bint search_levels(
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
            divide_levels(search, c, tile)
    return any_nominal
