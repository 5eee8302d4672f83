# Oblique tests of a node whose samples are a list; part of _list_search.pyx.


cdef void list_table_rows(
    const SampleList* samples, const NodeSearch* node, uint32_t* row
) noexcept nogil:
    """The rows of the table that the node's samples are."""
    cdef:
        const BinaryCounts* binary = NULL
        const Moments* listed = NULL
        int64_t i
    if samples.kind == LIST_BINARY:
        for i in range(node.n):
            row[i] = <uint32_t>number_of(binary, node.entries[i])
    else:
        for i in range(node.n):
            row[i] = <uint32_t>number_of(listed, node.entries[i])
    if samples.is_local:
        for i in range(node.n):
            row[i] = samples.local_row[row[i]]


cdef double threshold_of_sums(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column
) noexcept nogil:
    """The midpoint between the sums on both sides of the best split, which is one along
    the direction on trial."""
    cdef:
        const Found* found = &node.found
        const uint64_t* keys = samples.keys
        const uint32_t* codes = column.codes
        const double* z = column.sums
        double below = -INFINITY, above = INFINITY
        int64_t i = 1
    if found.is_between:
        while <uint32_t>(keys[i] >> 32) <= found.cut:
            i += 1
        return midpoint(z[<uint32_t>keys[i - 1]], z[<uint32_t>keys[i]])
    for i in range(node.n):
        if codes[i] <= found.cut:
            below = z[i] if z[i] > below else below
        else:
            above = z[i] if z[i] < above else above
    return midpoint(below, above)


cdef bint count_sums(
    SampleList* samples, ListSearch* search, SampledColumn* column, const Sums* kind
) noexcept nogil:
    """Count the samples in bins of their sums along the direction on trial. False if
    the sums have to be sorted, or are equal."""
    cdef:
        NodeSearch* node = &search.node
        int32_t coarseness = choose_coarseness(kind, node.n, node.n_planes)
        Sums* slots = <Sums*>search.tile
    column.sums = search.oblique.trial.z
    column.rounding = search.oblique.rounding
    column.n_bins = MAX_BINS >> coarseness
    column.shift = SUM_CODE_BITS
    while column.n_bins << column.shift > <int64_t>1 << SUM_CODE_BITS:
        column.shift -= 1
    if not code_sums(search.oblique, column.shift, column.codes):
        return False
    column.smallest = 0
    column.largest = (<uint32_t>1 << SUM_CODE_BITS) - 1
    node.stride = column.n_bins + GAP
    count_codes(node, column, slots)
    add_up_bins(node, column, slots, <Sums*>column.histograms[0].below)
    return True


cdef void try_sums(
    SampleList* samples, ListSearch* search, const Sums* kind
) noexcept nogil:
    """Search the thresholds along the direction on trial; keep it if it is better."""
    cdef:
        NodeSearch* node = &search.node
        ObliqueSearch* oblique = search.oblique
        SampledColumn* column = &search.oblique_column
        Split* best = &node.found.split
        Histogram* h = &column.histograms[0]
    if samples.kind == LIST_GENERAL or node.n <= FEW_SAMPLES or not count_sums(
        samples, search, column, kind
    ):
        oblique.split = best[0]
        if try_sorted_sums(oblique):
            best[0] = oblique.split
        return
    start_histograms(node, column, kind)
    best.improved = False
    try_histogram(node, samples, h, h.edge - node.slack, kind)
    if best.improved:
        keep_direction(oblique, threshold_of_sums(samples, node, column))


cdef void try_direction(SampleList* samples, ListSearch* search) noexcept nogil:
    """The same for the sums that the criterion needs."""
    cdef:
        const BinaryCounts* binary = NULL
        const Moments* moments = NULL
        const ClassCounts* class_counts = NULL
        const ClassWeights* class_weights = NULL
    if samples.kind == LIST_BINARY:
        try_sums(samples, search, binary)
    elif samples.kind == LIST_CLASS_COUNTS:
        try_sums(samples, search, class_counts)
    elif samples.kind == LIST_CLASS_WEIGHTS:
        try_sums(samples, search, class_weights)
    else:
        try_sums(samples, search, moments)


cdef int search_oblique(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Frame* frame, const NodeView* view
) noexcept nogil:
    """Replace the best test of one column by a better oblique one. Returns -1 without
    memory, or if a signal was received."""
    cdef:
        NodeSearch* node = &search.node
        ObliqueSearch* oblique = search.oblique
        Found axis = node.found
        int64_t stride = node.stride, n_made = 0, n, i
    list_table_rows(samples, node, oblique.row)
    oblique.counts_entropy = (
        samples.kind == LIST_CLASS_COUNTS and problem.entropy_table != NULL
        and problem.min_weight_leaf <= 0.0
    )
    oblique.keys = samples.keys
    oblique.spare = samples.spare
    begin_oblique(
        problem, &samples.node_rows, &worker.scratch, view, node.n, frame.depth == 0,
        oblique
    )
    clear_found(&node.found)
    while n_made < oblique.n_directions:
        n = make_directions(oblique, &axis.split, n_made)
        if n < 0:
            return -1
        for i in range(n):
            if turn_to_direction(oblique, i):
                try_direction(samples, search)
        n_made += n
    # What is left of the search by one column, whose keys have to be listed again.
    samples.keys_of = NULL
    node.stride = stride
    oblique.split = node.found.split
    if finish_oblique(oblique, &axis.split):
        node.found.split = oblique.split
        node.found.column = &search.oblique_column
    else:
        node.found = axis
    return 0


cdef void mark_by_sums(SampleList* samples, const ListSearch* search) noexcept nogil:
    """Write the child of every sample of an oblique test."""
    cdef:
        const double* z = search.oblique.best.z
        double threshold = search.oblique.best.threshold
        int64_t i
    for i in range(search.node.n):
        samples.child[i] = z[i] > threshold


cdef int append_terms(
    const ListSearch* search, NodeBuffer* buffer, int32_t node
) noexcept nogil:
    """Write the terms of the best oblique test. Returns -1 without memory."""
    cdef:
        const ObliqueSearch* oblique = search.oblique
        const Direction* direction = &oblique.best
        int64_t t, level, n_levels
        const double* codes
        Term term
    term.node = node
    for t in range(direction.n_terms):
        term.feature = direction.column[t]
        term.share = <float>direction.share[t]
        term.weight = direction.weight[t]
        term.fill = direction.fill[t]
        term.level = -1
        n_levels = 0
        if direction.code_start[t] >= 0:
            n_levels = oblique.problem.n_levels[term.feature]
        if reserve_terms(buffer, 1 + n_levels) < 0:
            return -1
        if direction.code_start[t] < 0:
            buffer.terms[buffer.n_terms] = term
            buffer.n_terms += 1
            continue
        codes = direction.codes + direction.code_start[t]
        for level in range(n_levels):
            if codes[level] == codes[level]:
                term.level = <int32_t>level
                term.weight = codes[level]
                buffer.terms[buffer.n_terms] = term
                buffer.n_terms += 1
    return 0
