# Nominal columns of a node whose samples are a list: they are summed up level by level,
# which takes no sorting, and sent to the child of their level.


cdef int start_levels(
    const Problem* problem, ListSearch* search, int64_t n_slots
) noexcept nogil:
    """Allocate for the levels of the columns of a node; returns -1 without memory."""
    cdef int64_t n = problem.max_levels + 1, i
    if not problem.any_nominal:
        return 0
    # Zero between uses.
    search.level_sums = <double*>calloc(
        n * (SUMS_OFFSET + problem.n_statistics), sizeof(double)
    )
    search.used_levels = <uint64_t*>calloc(n // 64 + 1, sizeof(uint64_t))
    search.used_words = <uint64_t*>calloc(n // 4096 + 1, sizeof(uint64_t))
    search.run_codes = <int32_t*>malloc(2 * n_slots * n * sizeof(int32_t))
    if (
        search.level_sums == NULL or search.used_levels == NULL
        or search.used_words == NULL or search.run_codes == NULL
    ):
        return -1
    for i in range(n_slots):
        search.columns[i].run_code = search.run_codes + 2 * i * n
        search.columns[i].run_child = search.run_codes + (2 * i + 1) * n
    return 0


cdef inline void note_level(ListSearch* search, uint32_t code) noexcept nogil:
    """Mark a level as used, and the word of its mark: many may have no samples."""
    search.used_levels[code >> 6] |= <uint64_t>1 << (code & 63)
    search.used_words[code >> 12] |= <uint64_t>1 << (code >> 6 & 63)


cdef void sum_levels(
    const SampleList* samples, ListSearch* search, const uint32_t* codes,
    const Sums* kind
) noexcept nogil:
    """Sum up the samples of every level: their number, weight, and sums of classes or
    values; or the packed counts of two classes."""
    cdef:
        const NodeSearch* node = &search.node
        const Problem* problem = node.problem
        const Rows* rows = &samples.node_rows
        uint64_t* counts = <uint64_t*>search.level_sums
        int64_t i, size = SUMS_OFFSET + problem.n_statistics
        double weight
        double* sums
    for i in range(node.n):
        if Sums is BinaryCounts:
            if counts[codes[i]] == 0:
                note_level(search, codes[i])
            counts[codes[i]] += counts_of(node.entries[i])
        else:
            sums = search.level_sums + codes[i] * size
            if sums[0] == 0.0:
                note_level(search, codes[i])
            if Sums is ClassCounts:
                weight = <double>whole_weight_of(node.entries[i])
            elif Sums is ClassWeights:
                weight = node.sample_weight[i]
            else:
                weight = rows.weight[i]
            sums[0] += 1.0
            sums[1] += weight
            if Sums in ClassSums:
                sums[SUMS_OFFSET + class_of(node.entries[i])] += weight
            elif problem.n_outputs > 1:
                add_row(
                    problem, rows, i, weight, node.view.totals.centre,
                    sums + SUMS_OFFSET
                )
            elif problem.is_classifier:
                sums[SUMS_OFFSET + rows.label[i]] += weight
            else:
                sums[SUMS_OFFSET] += node.amounts[i].first


cdef void read_level(
    const Problem* problem, ListSearch* search, Scratch* scratch, int64_t code,
    int64_t run, const Sums* kind
) noexcept nogil:
    """Make a run of a level, and leave zeros."""
    cdef:
        int64_t size = problem.n_statistics
        double* run_sums = scratch.run_sums + run * size
        double* sums
        uint64_t counts
    if Sums is BinaryCounts:
        counts = (<uint64_t*>search.level_sums)[code]
        (<uint64_t*>search.level_sums)[code] = 0
        scratch.run_rows[run] = samples_in(counts)
        scratch.run_weight[run] = <double>weight_in(counts)
        run_sums[1] = <double>ones_in(counts)
        run_sums[0] = scratch.run_weight[run] - run_sums[1]
    else:
        sums = search.level_sums + code * (SUMS_OFFSET + size)
        scratch.run_rows[run] = <int64_t>sums[0]
        scratch.run_weight[run] = sums[1]
        memcpy(run_sums, sums + SUMS_OFFSET, size * sizeof(double))
        memset(sums, 0, (SUMS_OFFSET + size) * sizeof(double))


cdef int64_t list_runs(
    const Problem* problem, ListSearch* search, Scratch* scratch, int64_t n_codes,
    const Sums* kind
) noexcept nogil:
    """Make runs of all levels that were noted, in the order of their codes, and list
    these in scratch.run_level; returns their number."""
    cdef:
        int64_t group, word, code, n_runs = 0
        uint64_t words, levels
    for group in range((n_codes - 1 >> 12) + 1):
        words = search.used_words[group]
        search.used_words[group] = 0
        while words:
            word = group << 6 | LOWEST_PLACE(words)
            words &= words - 1
            levels = search.used_levels[word]
            search.used_levels[word] = 0
            while levels:
                code = word << 6 | LOWEST_PLACE(levels)
                levels &= levels - 1
                scratch.run_level[n_runs] = <int32_t>code
                read_level(problem, search, scratch, code, n_runs, kind)
                n_runs += 1
    return n_runs


cdef void find_levels(
    const Problem* problem, int64_t column, int64_t n_runs, int32_t* levels
) noexcept nogil:
    """Turn codes into the levels behind them: some levels have no rows at all."""
    cdef int64_t run
    for run in range(n_runs):
        levels[run] = <int32_t>problem.values[
            column * problem.values_stride + levels[run]
        ]


cdef void try_levels(
    const SampleList* samples, ListSearch* search, Worker* worker,
    SampledColumn* column, const Sums* kind
) noexcept nogil:
    """Search the divisions of the levels of a column, and keep a better one."""
    cdef:
        NodeSearch* node = &search.node
        const Problem* problem = node.problem
        Scratch* scratch = &worker.scratch
        Split* split = &node.found.split
        int64_t missing_code = missing_code_of(problem, column.number)
        int64_t n_runs, n_missing = 0
    sum_levels(samples, search, column.codes, kind)
    n_runs = list_runs(problem, search, scratch, missing_code + 1, kind)
    if scratch.run_level[n_runs - 1] == missing_code:
        n_missing = scratch.run_rows[n_runs - 1]
    split.improved = False
    evaluate_runs(
        problem, scratch, node.view, column.number, n_runs, n_missing, split
    )
    if not split.improved:
        return
    node.found.column = column
    if n_missing > 0:
        n_runs -= 1
    column.n_runs = n_runs
    memcpy(column.run_code, scratch.run_level, n_runs * sizeof(int32_t))
    find_levels(problem, column.number, n_runs, scratch.run_level)
    split.missing_child = assign_runs(problem, scratch, split, n_runs, n_missing)
    memcpy(column.run_child, scratch.run_side, n_runs * sizeof(int32_t))


cdef int write_levels(
    const Problem* problem, const NodeSearch* node, Worker* worker
) noexcept nogil:
    """Write the level map of the best split; returns -1 without memory."""
    cdef:
        const SampledColumn* column = node.found.column
        int32_t* levels = worker.scratch.run_level
    memcpy(levels, column.run_code, column.n_runs * sizeof(int32_t))
    find_levels(problem, column.number, column.n_runs, levels)
    return 0 if write_level_map(
        problem, &worker.buffer, column.number, column.n_runs, levels,
        column.run_child, problem.categorical_split == SPLIT_MULTIWAY
    ) >= 0 else -1


cdef void mark_by_levels(
    SampleList* samples, const NodeSearch* node, Worker* worker
) noexcept nogil:
    """Write the child of every sample: into bytes where there are few children."""
    cdef:
        const SampledColumn* column = node.found.column
        const uint32_t* codes = column.codes
        int32_t* child_of_code = worker.scratch.best_side
        int64_t i
    child_of_code[missing_code_of(node.problem, column.number)] = (
        node.found.split.missing_child
    )
    for i in range(column.n_runs):
        child_of_code[column.run_code[i]] = column.run_child[i]
    if worker.children.n_children <= MAX_BYTES:
        for i in range(node.n):
            samples.child[i] = <uint8_t>child_of_code[codes[i]]
    else:
        for i in range(node.n):
            worker.child_of_row[i] = child_of_code[codes[i]]
