"""Divisions of the levels of a column, from class weights that are summed up already.

For ensembles that keep the sums of their columns from tree to tree. The search is that
of trees that are grown by the ``error`` criterion, with smoothed levels.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from sklearn_textbook.tree.grow._workers cimport free_worker, start_worker
from sklearn_textbook.tree.split._best cimport clear_split
from sklearn_textbook.tree.split._column cimport evaluate_runs
from sklearn_textbook.tree.split._criterion cimport goodness
from sklearn_textbook.tree.split._types cimport (
    ERROR,
    MISSING_LEARNED,
    NOMINAL_COLUMN,
    SPLIT_SUBSET,
    NodeView,
    Scratch,
    Split,
)

cdef double MARGIN = 1e-12  # of the total weight; scores that differ less are equal


cdef int start_level_search(
    LevelSearch* search, int64_t n_classes, int64_t most_levels, double smoothing
) noexcept nogil:
    """Allocate for columns of up to so many levels. Returns -1 without memory."""
    cdef Problem* problem = &search.problem
    memset(search, 0, sizeof(LevelSearch))
    search.kind = NOMINAL_COLUMN
    search.is_smoothed = 1
    search.output_start[1] = n_classes
    search.n_levels = most_levels
    problem.criterion = ERROR
    problem.is_classifier = True
    problem.n_columns = problem.n_outputs = 1
    problem.n_statistics = n_classes
    problem.output_start = search.output_start
    problem.min_samples_leaf = 1
    problem.kind = &search.kind
    problem.n_levels = &search.n_levels
    problem.has_missing = &search.has_missing
    problem.max_levels = most_levels
    problem.any_nominal = True
    problem.is_smoothed = &search.is_smoothed
    problem.smoothing = smoothing
    problem.missing_mode = MISSING_LEARNED
    problem.categorical_split = SPLIT_SUBSET
    return start_worker(problem, &search.worker, 1, sizeof(int64_t), False, NULL)


cdef void free_level_search(LevelSearch* search) noexcept nogil:
    """Free what start_level_search allocated, also after it returned -1."""
    free_worker(&search.worker)


cdef double divide_summed_levels(
    LevelSearch* search, const double* sums, int64_t stride, const int64_t* n_rows,
    int64_t n_codes, bint has_missing, const double* totals, double design_effect,
    int8_t* child
) noexcept nogil:
    """Find the best division of the levels of a column.

    ``sums`` has the weights of the codes for the first class, and a stride further for
    the next; the last code is that of missing values, if there are any. Writes the
    child of every code, -1 for one without weight. Returns the weight of the rows that
    two leaves classify correctly, in as far as it is to be expected on other rows;
    -infinity if no division is better than a leaf.
    """
    cdef:
        Problem* problem = &search.problem
        Scratch* scratch = &search.worker.scratch
        NodeView node
        Split best
        int64_t code, k, size = problem.n_statistics, n_runs = 0, n_missing = 0
        double weight
    memset(&node, 0, sizeof(NodeView))
    node.totals.sums = <double*>totals
    for k in range(size):
        node.totals.weight += totals[k]
    for code in range(n_codes):
        weight = 0.0
        for k in range(size):
            # A run is a level with weight: runs are numbered without the codes that
            # have none.
            scratch.run_sums[n_runs * size + k] = sums[k * stride + code]
            weight += sums[k * stride + code]
        child[code] = -1
        # Sums that are updated from tree to tree may leave some rounding behind.
        if n_rows[code] == 0 or weight <= MARGIN * node.totals.weight:
            continue
        child[code] = 0
        scratch.run_weight[n_runs] = weight
        scratch.run_rows[n_runs] = n_rows[code]
        node.totals.rows += n_rows[code]
        if has_missing and code == n_codes - 1:
            n_missing = n_rows[code]
        n_runs += 1
    node.totals.goodness = goodness(problem, totals, node.totals.weight)
    node.margin = MARGIN * node.totals.weight
    search.has_missing = n_missing > 0
    problem.design_effect = design_effect
    clear_split(&best)
    evaluate_runs(problem, scratch, &node, 0, n_runs, n_missing, &best)
    if not best.improved:
        return -INFINITY
    n_runs = 0
    for code in range(n_codes):
        # Runs are in the order of the codes with weight, which 0 marks so far.
        if child[code] == 0:
            child[code] = not scratch.best_side[n_runs]
            n_runs += 1
    return node.totals.goodness + best.score
