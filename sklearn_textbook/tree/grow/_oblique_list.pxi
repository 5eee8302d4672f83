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


cdef int search_oblique(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Frame* frame, const NodeView* view
) noexcept nogil:
    """Replace the best test of one column by a better oblique one. Returns -1 without
    memory."""
    cdef:
        NodeSearch* node = &search.node
        ObliqueSearch* oblique = search.oblique
    list_table_rows(samples, node, oblique.row)
    # The keys of the best test of one column have to be listed again.
    samples.keys_of = NULL
    oblique.counts_entropy = (
        samples.kind == LIST_CLASS_COUNTS and problem.entropy_table != NULL
        and problem.min_weight_leaf <= 0.0
    )
    oblique.keys = samples.keys
    oblique.spare = samples.spare
    if find_oblique(
        problem, &samples.node_rows, &worker.scratch, view, node.n, frame.depth == 0,
        &node.found.split, oblique
    ) < 0:
        return -1
    if oblique.split.column >= 0:
        node.found.split = oblique.split
        node.found.split.kind = OBLIQUE_TEST
        node.found.column = &search.oblique_column
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
