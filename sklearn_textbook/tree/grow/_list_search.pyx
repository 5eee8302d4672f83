"""The best split of a node whose samples are a list, and what its children hold.

A node counts its samples in bins, if there are many in those of the table and four
columns in one pass, and reads codes only of the samples whose bin may hold a better
threshold than the ends of bins do. A random threshold needs no histogram, but the
range of a column and what is below it. The levels of nominal columns are summed up one
by one. Columns of several outputs are sorted and searched as sorted columns are.

This file chooses between the columns. The others are part of the same module, and named
after what they do: sampling and counting columns, histograms, random thresholds, levels
and the children of the split that was found.
"""

from libc.math cimport INFINITY, fabs, frexp, ldexp, log2, sqrt
from libc.stdint cimport (
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._buffers cimport reserve_terms
from sklearn_textbook.tree.grow._column_sampler cimport (
    ColumnSampler,
    finish_sampling,
    note_constant,
    sample_column,
    start_sampling,
)
from sklearn_textbook.tree.grow._children cimport (
    Children,
    clear_children,
    finish_classes,
    finish_values,
    list_pieces,
    measure_children,
    write_level_map,
)
from sklearn_textbook.tree.grow._layout cimport Term
from sklearn_textbook.tree.grow._search cimport draw_split, mark_rows
from sklearn_textbook.tree.grow._partition_list cimport partition_by_steps
from sklearn_textbook.tree.grow._sample_list cimport (
    LIST_BINARY,
    LIST_CLASS_COUNTS,
    LIST_CLASS_WEIGHTS,
    LIST_GENERAL,
    LIST_MOMENTS,
    Span,
    add_codes,
    describe_samples,
    gather_codes,
    sort_column,
    sort_keys,
)
from sklearn_textbook.tree.split._best cimport breaks_constraint, score_to_beat, take
from sklearn_textbook.tree.split._bin_end cimport leave_bin
from sklearn_textbook.tree.split._column cimport (
    assign_runs,
    count_missing,
    evaluate_column,
    evaluate_runs,
    midpoint,
    own_margin,
)
from sklearn_textbook.tree.split._criterion cimport add_row, goodness
from sklearn_textbook.tree.split._deviance cimport deviance_bound, deviance_part
from sklearn_textbook.tree.split._oblique cimport (
    SUM_CODE_BITS,
    Direction,
    ObliqueSearch,
    begin_oblique,
    code_sums,
    finish_oblique,
    keep_direction,
    make_directions,
    rank_codes,
    try_sorted_sums,
    turn_to_direction,
)
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
    random_unit,
)
from sklearn_textbook.tree.split._steps cimport (
    ABOVE_STEPS,
    HIGHEST_STEP,
    LOWEST_STEP,
    MISSING_STEP,
    Scale,
    separates_all,
    step_of,
)
from sklearn_textbook.tree.split._sums cimport (
    COUNT_BITS,
    COUNT_MASK,
    FETCH_AHEAD,
    FEW_SAMPLES,
    MAX_BINS,
    PREFETCH,
    TILE_COLUMNS,
    BinaryCounts,
    ClassCounts,
    ClassSums,
    ClassWeights,
    Moments,
    PairSums,
    Sums,
    class_of,
    counts_of,
    number_of,
    ones_in,
    samples_in,
    weight_in,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport (
    GINI,
    MISSING_LEARNED,
    MISSING_SURROGATE,
    NOMINAL_COLUMN,
    POISSON,
    SPLIT_MULTIWAY,
    Rows,
    Scratch,
    Split,
    Totals,
)
from sklearn_textbook._contract._interrupt cimport has_stopped, must_stop
from sklearn_textbook._contract._threads cimport run_tasks
from sklearn_textbook._contract._wide_units cimport wide_void


cdef enum:
    GAP = 4  # between the sums of one column or class and those of the next
    FEWEST_USED = 8  # bins with samples, below which a column is counted more finely
    FEWEST_BINS = 16
    MAX_CLASS_BINS = 8192  # bins times classes of one column
    CLASSES_PER_SAMPLE = 8  # so many more, and a bin should have one sample more
    TABLE_ROUNDING = 8  # units by which equal sums of T may differ
    END_ARRAYS = 5
    FLAG_ROWS = 64
    FEW_KEYS = 48  # that are sorted at once
    SUMS_OFFSET = 2  # of the sums of a level, behind its samples and their weight
    MAX_BYTES = 256  # children that a byte can number

include "../split/_histogram_count.pxi"
include "../split/_histogram_pairs.pxi"
include "../split/_histogram_bounds.pxi"
include "../split/_histogram_classes.pxi"
include "../split/_random_steps.pxi"
include "../split/_random_threshold.pxi"
include "_sampled_columns.pxi"
include "_histogram_search.pxi"
include "_list_levels.pxi"
include "_list_children.pxi"
include "_list_buffers.pxi"
include "_oblique_list.pxi"


# ------------------------------------------------------------------- samples of a node


cdef double centre_of(const Problem* problem, const NodeView* view) noexcept nogil:
    """What y is counted from: the mean of the node, but for Poisson deviance."""
    if problem.is_classifier:
        return view.totals.sums[1] / view.totals.weight
    return 0.0 if problem.criterion == POISSON else view.totals.centre[0]


cdef void describe_moments(
    const Problem* problem, SampleList* samples, const NodeView* view,
    NodeSearch* node
) noexcept nogil:
    """Count y from the mean of the node; Poisson: from 0, as its logarithm is taken."""
    cdef:
        const Rows* rows = &samples.node_rows
        Moments* amounts = samples.amounts
        double centre = centre_of(problem, view), pivot = 0.0, first, above
        double total = 0.0
        int64_t i
    if problem.criterion == POISSON:
        pivot = view.totals.sums[0] / view.totals.weight
    for i in range(node.n):
        first = <double>rows.label[i] if problem.is_classifier else rows.y[i]
        above = rows.weight[i] * (first - centre - pivot)
        first = rows.weight[i] * (first - centre)
        total += first
        amounts[i].first = first
        amounts[i].weight = rows.weight[i]
        # The positive part, without a branch to predict.
        amounts[i].spread = 0.5 * (above + fabs(above))
        amounts[i].n_samples = 1.0
    node.amounts = amounts
    node.centre = centre
    node.pivot = pivot
    node.total = total


cdef void start_node_search(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Frame* frame, const NodeView* view
) noexcept nogil:
    cdef:
        NodeSearch* node = &search.node
    node.problem = problem
    node.view = view
    node.entries = samples.entries + frame.start
    node.n = frame.n_rows
    node.lowest = max(problem.min_samples_leaf, 1)
    node.checks_limits = problem.min_weight_leaf > 0.0 or problem.monotonic != NULL or (
        problem.criterion == POISSON
    )
    node.min_weight = samples.min_weight
    node.unit = 1.0
    node.centre = node.pivot = 0.0
    node.slack = 4.0 * view.margin
    node.noise = 0.0
    node.n_classes = problem.n_statistics
    node.counts_samples = node.lowest > 1 or samples.value_limit != NULL
    node.n_planes = node.n_classes + node.counts_samples
    node.left = worker.scratch.left
    node.right = worker.scratch.right
    node.class_counts = worker.scratch.left_count
    node.scratch = search.scratch
    if samples.kind == LIST_BINARY:
        node.unit = 2.0
        node.total = view.totals.sums[1]
    elif samples.kind == LIST_MOMENTS:
        node.unit = 2.0 if problem.is_classifier else 1.0
        if not problem.random_splitter or problem.any_nominal:
            describe_moments(problem, samples, view, node)
    elif samples.kind == LIST_CLASS_COUNTS and problem.entropy_table != NULL:
        node.entropy_table = problem.entropy_table
        node.unit = problem.entropy_unit
        node.noise = 64.0 + 2.0 * <double>node.n_classes + (
            1e-14 * <double>problem.entropy_table[<int64_t>view.totals.weight]
        )
        node.slack += 4.0 * TABLE_ROUNDING * node.unit
    elif samples.kind == LIST_CLASS_WEIGHTS:
        node.sample_weight = samples.node_rows.weight


cdef void clear_found(Found* found) noexcept nogil:
    memset(found, 0, sizeof(Found))
    found.split.column = -1
    found.split.score = -1.0
    found.split.missing_child = -1
    found.split.n_children = 2


# -------------------------------------------------------------------------- searching


cdef void try_sorted(
    SampleList* samples, NodeSearch* node, Worker* worker, const SampledColumn* column
) noexcept nogil:
    """Search a column in order."""
    cdef:
        const Problem* problem = node.problem
        Found* found = &node.found
    found.split.improved = False
    samples.keys_of = NULL
    sort_column(
        samples, node.entries, node.n, column.codes,
        missing_code_of(problem, column.number), samples.keys
    )
    evaluate_column(
        problem, &samples.node_rows, &worker.scratch, samples.keys, NULL, node.view,
        column.number, &found.split
    )
    if found.split.improved:
        found.column = column


cdef void try_column(
    SampleList* samples, ListSearch* search, Worker* worker, SampledColumn* column,
    double top, const Sums* kind
) noexcept nogil:
    cdef:
        NodeSearch* node = &search.node
        int64_t i
    if must_stop(node.problem.interrupt, node.n):
        return
    if column.is_nominal:
        try_levels(samples, search, worker, column, kind)
        return
    if column.is_sorted:
        try_sorted(samples, node, worker, column)
        return
    for i in range(column.n_histograms):
        try_histogram(node, samples, &column.histograms[i], top, kind)
    if column.n_missing > 0:
        try_missing_alone(node, column, <const Sums*>column.histograms[0].below)


cdef double top_of(const SampledColumn* column) noexcept nogil:
    """The best end of a bin."""
    cdef:
        int64_t i
        double top = -INFINITY
    if not column.is_sorted and not column.is_nominal:
        for i in range(column.n_histograms):
            top = max(top, column.histograms[i].edge)
    return top


cdef void search_columns(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const Sums* kind
) noexcept nogil:
    """The best split of all sampled columns, the earlier one where two are equal."""
    cdef:
        NodeSearch* node = &search.node
        int64_t i, n_visit
        double top = -INFINITY
        SampledColumn* column
    if problem.random_splitter:
        search_random(problem, samples, search, worker, frame, kind)
        return
    n_visit = count_sampled(problem, samples, search, worker, frame, kind)
    for i in range(n_visit):
        column = &search.columns[i]
        if not column.is_sorted and not column.is_nominal:
            start_histograms(node, column, kind)
            top = max(top, top_of(column))
    # Candidates so near the best that the order decides are all looked at.
    top -= node.slack
    for i in range(n_visit):
        column = &search.columns[i]
        if problem.top_splits > 1:
            clear_found(&node.found)
            top = top_of(column) - node.slack
        try_column(samples, search, worker, column, top, kind)
        if problem.top_splits > 1:
            keep_found(search, worker, i)
    choose_found(problem, search, worker, n_visit)


cdef bint varies_at_random(
    const Problem* problem, const SampleList* samples, const NodeSearch* node,
    SampledColumn* column, StepRange* values, const Sums* kind
) noexcept nogil:
    """Whether the node's values of a column differ."""
    if is_in_tile(problem, column, node.n):
        return find_values(samples, node, column, values, kind)
    column.is_gathered = True
    gather_codes(samples, kind, node.entries, node.n, column.number, column.codes)
    return codes_differ(column.codes, node.n)


cdef void search_random(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const Sums* kind
) noexcept nogil:
    """The best of one random threshold for each sampled column."""
    cdef:
        NodeSearch* node = &search.node
        ColumnSampler sampler
        SampledColumn* stepped[TILE_COLUMNS]
        SampledColumn* column
        StepRange[TILE_COLUMNS] ranges
        int64_t i, k, n, n_stepped, first
        bint is_stepped
    if samples.kind != LIST_GENERAL:
        describe_targets(problem, samples, node, kind)
    start_sampling(problem, worker, frame, &sampler)
    while True:
        n = sample_columns(problem, samples, search, worker, &sampler, TILE_COLUMNS)
        if n == 0 or must_stop(problem.interrupt, n * node.n):
            break
        n_stepped = list_tile(
            problem, node, search.columns + sampler.n_found, n, stepped
        )
        if n_stepped > 0:
            read_steps(samples, node, stepped, n_stepped, kind)
        for i in range(n_stepped):
            locate_extremes(samples, node, stepped[i], &ranges[i], kind)
        first = sampler.n_found
        k = 0
        for i in range(n):
            column = &search.columns[first + i]
            is_stepped = is_in_tile(problem, column, node.n)
            if not varies_at_random(problem, samples, node, column, &ranges[k], kind):
                note_constant(worker, column.number, &sampler)
            else:
                column = keep_column(search, worker, &sampler, column)
                if problem.top_splits > 1:
                    clear_found(&node.found)
                if is_stepped:
                    try_random_threshold(samples, node, column, &ranges[k], kind)
                else:
                    try_column(samples, search, worker, column, 0.0, kind)
                if problem.top_splits > 1:
                    keep_found(search, worker, sampler.n_found - 1)
            k += is_stepped
    finish_sampling(worker, frame, &sampler)
    choose_found(problem, search, worker, sampler.n_found)


cdef void keep_found(ListSearch* search, Worker* worker, int64_t i) noexcept nogil:
    """Keep the best split of a column, where one of several is taken."""
    cdef Found* found = &search.node.found
    if found.split.column >= 0:
        found.split.column = found.column.number
    search.found[i] = found[0]
    worker.splits[i] = found.split


cdef void choose_found(
    const Problem* problem, ListSearch* search, Worker* worker, int64_t n_visit
) noexcept nogil:
    """Take one of the best splits of the columns."""
    cdef int64_t i
    if problem.top_splits <= 1 or n_visit == 0:
        return
    clear_found(&search.node.found)
    i = draw_split(problem, worker, search.node.view, n_visit)
    if i >= 0:
        search.node.found = search.found[i]


cdef void search_axis(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame
) noexcept nogil:
    """The best split of a node by one column."""
    cdef:
        NodeSearch* node = &search.node
        const BinaryCounts* binary = NULL
        const Moments* moments = NULL
        const ClassCounts* class_counts = NULL
        const ClassWeights* class_weights = NULL
    if samples.kind == LIST_BINARY:
        search_columns(problem, samples, search, worker, frame, binary)
    elif samples.kind == LIST_CLASS_COUNTS:
        search_columns(problem, samples, search, worker, frame, class_counts)
    elif samples.kind == LIST_CLASS_WEIGHTS:
        search_columns(problem, samples, search, worker, frame, class_weights)
    else:
        search_columns(problem, samples, search, worker, frame, moments)
    if node.found.split.column >= 0:
        node.found.split.column = node.found.column.number
        node.found.split.kind = problem.kind[node.found.column.number]


cdef int search_list(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const NodeView* view
) noexcept nogil:
    """The best split of a node; the column of ``search.node.found`` is -1 if there is
    none. Returns -1 without memory."""
    clear_found(&search.node.found)
    samples.keys_of = NULL
    if search.oblique != NULL or needs_description(problem, samples):
        describe_samples(problem, samples, frame)
    start_node_search(problem, samples, search, worker, frame, view)
    if search.oblique == NULL or search.oblique.searches_axis:
        search_axis(problem, samples, search, worker, frame)
    if search.oblique != NULL:
        return search_oblique(problem, samples, search, worker, frame, view)
    return 0


cdef inline bint needs_description(
    const Problem* problem, const SampleList* samples
) noexcept nogil:
    """Whether some column may be sorted, or targets are counted from the mean."""
    return (
        problem.random_splitter and problem.missing_mode != MISSING_LEARNED
    ) or (
        samples.kind != LIST_BINARY and samples.kind != LIST_CLASS_COUNTS
    )
