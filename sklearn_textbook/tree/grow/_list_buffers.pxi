# Memory of the search in a list; part of _list_search.pyx.


cdef int64_t count_planes(
    const Problem* problem, const SampleList* samples
) noexcept nogil:
    """Sums of a bin: one, or the weight of each class and the number of samples."""
    if samples.kind == LIST_CLASS_COUNTS or samples.kind == LIST_CLASS_WEIGHTS:
        return problem.n_statistics + 1
    return 1


cdef int start_list_search(
    const Problem* problem, const SampleList* samples, ListSearch* search
) noexcept nogil:
    """Allocate for the columns of a node; returns -1 without memory."""
    cdef:
        int64_t n_slots = problem.max_features
        int64_t n_planes = count_planes(problem, samples)
        int64_t n_histograms = 1 if samples.value_limit == NULL else 2
        int64_t n_ends = MAX_BINS + GAP, i, j
        int64_t n_rows = samples.n_samples
        int64_t size = n_planes * n_ends * sizeof(Moments)
        Histogram* h
        double* ends
    memset(search, 0, sizeof(ListSearch))
    if n_planes > 1:
        size = n_planes * n_ends * sizeof(double)
    # Places for a column that is still to be found constant, and for a direction.
    n_slots += TILE_COLUMNS
    search.columns = <SampledColumn*>calloc(n_slots, sizeof(SampledColumn))
    search.histograms = <Histogram*>calloc(n_slots * n_histograms, sizeof(Histogram))
    search.found = <Found*>malloc(n_slots * sizeof(Found))
    search.below = malloc(n_slots * n_histograms * size)
    search.ends = <double*>malloc(
        n_slots * n_histograms * END_ARRAYS * n_ends * sizeof(double)
    )
    search.tile_bytes = TILE_COLUMNS * size
    search.totals = <double*>malloc(
        n_slots * 2 * problem.n_statistics * sizeof(double)
    )
    search.scratch = <double*>malloc(n_ends * sizeof(double))
    if (
        search.columns == NULL or search.histograms == NULL or search.found == NULL
        or search.below == NULL or search.ends == NULL or search.totals == NULL
        or search.scratch == NULL or reserve_tiles(search, 1) < 0
    ):
        return -1
    for i in range(n_slots):
        search.columns[i].codes = samples.gathered + i * n_rows
        search.columns[i].steps = <int16_t*>search.columns[i].codes
        search.columns[i].histograms = search.histograms + i * n_histograms
        search.columns[i].totals = search.totals + 2 * i * problem.n_statistics
        for j in range(n_histograms):
            h = &search.columns[i].histograms[j]
            h.below = <char*>search.below + (i * n_histograms + j) * size
            ends = search.ends + (i * n_histograms + j) * END_ARRAYS * n_ends
            h.first = ends
            h.second = ends + n_ends
            h.third = ends + 2 * n_ends
            h.fourth = ends + 3 * n_ends
            h.fifth = ends + 4 * n_ends
    search.oblique_column = search.columns[n_slots - 1]
    search.oblique_column.is_oblique = search.oblique_column.is_gathered = True
    search.oblique_column.missing_bin = -1
    return start_levels(problem, search, n_slots)


cdef int reserve_tiles(ListSearch* search, int n_threads) noexcept nogil:
    """Allocate for threads that share the columns of a node; returns -1 without
    memory."""
    if n_threads <= search.n_tiles:
        return 0
    free(search.tile)
    search.tile = malloc(n_threads * search.tile_bytes)
    search.n_tiles = n_threads if search.tile != NULL else 0
    return -1 if search.tile == NULL else 0


cdef void free_list_search(ListSearch* search) noexcept nogil:
    free(search.columns)
    free(search.histograms)
    free(search.found)
    free(search.below)
    free(search.ends)
    free(search.tile)
    free(search.totals)
    free(search.scratch)
    free(search.level_sums)
    free(search.used_levels)
    free(search.used_words)
    free(search.run_codes)
    memset(search, 0, sizeof(ListSearch))
