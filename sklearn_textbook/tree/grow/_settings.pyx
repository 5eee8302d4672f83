"""What growth reads of a table, a target and the rules: the struct that all kernels of
a tree see. It is filled here and nowhere else; ``split/_types.pxd`` says what its
fields mean."""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memset

from sklearn_textbook.tree.grow._layout cimport FRACTIONAL, STAY
from sklearn_textbook.tree.grow._node cimport write_leaf
from sklearn_textbook.tree.split._smoothing cimport FEW_LEVELS
from sklearn_textbook.tree.split._types cimport (
    ABSOLUTE_ERROR,
    CHOOSE_GAIN,
    CHOOSE_PLAIN_RATIO,
    CHOOSE_RATIO,
    ENTROPY,
    ERROR,
    GINI,
    MISSING_BRANCH,
    MISSING_FRACTIONAL,
    MISSING_LEARNED,
    MISSING_SURROGATE,
    NOMINAL_COLUMN,
    NUMERIC_COLUMN,
    ORDINAL_COLUMN,
    POISSON,
    SCAN_ABSOLUTE,
    SCAN_BINARY,
    SCAN_CLASSES,
    SCAN_ENTROPY,
    SCAN_GENERAL,
    SCAN_VALUES,
    SPLIT_MULTIWAY,
    SPLIT_ONE_VS_REST,
    SPLIT_SUBSET,
    SQUARED_ERROR,
    GainRules,
    uint8_t,
    uint32_t,
)

from sklearn_textbook._contract.file_memory import limit_in_files
from sklearn_textbook.tree.encode import NOMINAL, ORDINAL
from sklearn_textbook.tree.grow.rules import J48_RESOLUTION, J48_TOLERANCE, UNLIMITED

CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "error": ERROR,
    "squared_error": SQUARED_ERROR,
    "absolute_error": ABSOLUTE_ERROR,
    "poisson": POISSON,
}
MISSING_MODES = {
    "learned": MISSING_LEARNED,
    "branch": MISSING_BRANCH,
    "surrogate": MISSING_SURROGATE,
    "fractional": MISSING_FRACTIONAL,
    "error": MISSING_LEARNED,
}
CATEGORICAL_SPLITS = {
    "subset": SPLIT_SUBSET,
    "one_vs_rest": SPLIT_ONE_VS_REST,
    "multiway": SPLIT_MULTIWAY,
}
COLUMN_KINDS = {NOMINAL: NOMINAL_COLUMN, ORDINAL: ORDINAL_COLUMN}
CHOICES = {
    "gain": CHOOSE_GAIN,
    "above_average": CHOOSE_RATIO,
    "plain": CHOOSE_PLAIN_RATIO,
}
SCANS = {
    "general": SCAN_GENERAL,
    "binary": SCAN_BINARY,
    "classes": SCAN_CLASSES,
    "entropy": SCAN_ENTROPY,
    "values": SCAN_VALUES,
    "absolute": SCAN_ABSOLUTE,
}
ROWS_PER_LEAF = 32  # with fewer, the whole tree is grown
#: Nominal columns of more levels are smoothed.
MOST_PLAIN_LEVELS = FEW_LEVELS


def is_nominal(table):
    """Mark the nominal columns."""
    return np.array([kind == NOMINAL for kind in table.schema.kinds])


def mark_smoothed(table, smoothing):
    """Mark the nominal columns of so many levels that their means are smoothed."""
    if smoothing == 0:
        return np.zeros(table.n_columns, dtype=bool)
    return is_nominal(table) & (table.n_distinct > FEW_LEVELS)


def limit_leaves(rules, table, n_rows):
    """Return with how many leaves growth may end; 0: the whole tree is grown.

    Subtrees that grow one by one are faster than those that grow by turns, and the
    branches of a test that divides cases share the weights of these.
    """
    wanted = rules.max_leaf_nodes
    if wanted is None or wanted * ROWS_PER_LEAF > n_rows:
        return 0
    divides_cases = rules.missing == "fractional" and table.n_missing.any()
    return 0 if divides_cases else wanted


cdef class Settings:
    """The settings of one tree, or of many over the same table.

    Parameters
    ----------
    table : EncodedTable
        The table.
    target : Target
        Classes or values of the rows that take part.
    rules : GrowthRules
        How the tree is grown.
    scan : str, default="general"
        What a pass along a sorted column sums up, a key of ``SCANS``.
    weight : ndarray of float64, shape (n_rows,), default=None
        Weights of the rows, on which some rules of C4.5 depend.
    """

    def __init__(self, table, target, rules, scan="general", weight=None):
        cdef Problem* problem = &self.problem
        # Pointers that are not set stay NULL, which stands for a rule that is not in
        # use.
        memset(problem, 0, sizeof(Problem))
        memset(&self.codes, 0, sizeof(Codes))
        self.kept = []
        self.table, self.target = table, target
        problem.criterion = CRITERIA[rules.criterion]
        problem.scan = SCANS[scan]
        problem.is_classifier = target.is_classifier
        problem.n_outputs = target.n_outputs
        problem.output_start = <const int64_t*>self.keep(target.output_start, np.int64)
        problem.n_statistics = problem.output_start[problem.n_outputs]
        problem.design_effect = 1.0
        problem.memory_limit = limit_in_files()
        problem.in_files = problem.memory_limit > 0
        self.read_columns(rules)
        self.read_rules(rules)
        if rules.gain is not None:
            self.read_gain(rules.gain, weight)

    cdef const void* keep(self, array, dtype) except? NULL:
        """Where the numbers of an array begin, which stays as long as this object."""
        cdef const uint8_t[::1] numbers
        array = np.ascontiguousarray(array, dtype=dtype)
        self.kept.append(array)
        numbers = array.reshape(-1).view(np.uint8)
        return &numbers[0] if numbers.shape[0] > 0 else NULL

    cdef int read_columns(self, rules) except -1:
        """What the columns are, their values and their levels."""
        cdef Problem* problem = &self.problem
        table = self.table
        n_missing, n_levels = table.n_missing, table.schema.n_levels
        kind = [COLUMN_KINDS.get(name, NUMERIC_COLUMN) for name in table.schema.kinds]
        if rules.oblique is not None:
            # A direction is searched as a numeric column behind the last one.
            kind.append(NUMERIC_COLUMN)
            n_levels, n_missing = np.append(n_levels, 0), np.append(n_missing, 0)
        kind = np.array(kind, dtype=np.int32)
        nominal = kind == NOMINAL_COLUMN
        problem.n_columns = table.n_columns
        self.columns = <const int32_t*>self.keep(np.arange(table.n_columns), np.int32)
        problem.kind = <const int32_t*>self.keep(kind, np.int32)
        problem.n_levels = <const int64_t*>self.keep(n_levels, np.int64)
        problem.has_missing = <const uint8_t*>self.keep(n_missing > 0, np.uint8)
        problem.n_distinct = <const int64_t*>self.keep(table.n_distinct, np.int64)
        problem.values = <const double*>self.keep(table.values, np.float64)
        problem.upper_values = <const double*>self.keep(table.upper_values, np.float64)
        problem.values_stride = table.values.shape[1]
        problem.any_nominal = nominal.any()
        problem.max_levels = n_levels[nominal].max() if problem.any_nominal else 0
        problem.any_coded = table.level_codes is not None
        problem.is_coded = <const uint8_t*>self.keep(
            nominal & bool(problem.any_coded), np.uint8
        )
        if problem.any_coded:
            self.codes.start = <const uint32_t*>self.keep(table.level_codes, np.uint32)
            self.codes.stride = table.level_codes.shape[1]
        problem.divides_cases = rules.missing == "fractional" and n_missing.any()
        problem.is_plain = not (
            problem.any_nominal
            or n_missing.any()
            or rules.random_splitter
            or rules.monotonic is not None
            or rules.gain is not None
        )
        return 0

    cdef int read_rules(self, rules) except -1:
        """Limits and strategies."""
        cdef Problem* problem = &self.problem
        table = self.table
        # Limits beyond all tables would overflow where they are doubled.
        problem.max_depth = min(rules.max_depth, UNLIMITED)
        problem.min_samples_split = min(rules.min_samples_split, UNLIMITED)
        problem.min_samples_leaf = min(rules.min_samples_leaf, UNLIMITED)
        problem.min_weight_leaf = rules.min_weight_leaf
        problem.min_impurity_decrease = rules.min_impurity_decrease
        problem.max_leaf_nodes = limit_leaves(rules, table, self.target.n_rows)
        problem.max_features = rules.max_features or table.n_columns
        problem.shuffle_columns = (
            rules.shuffles_columns or problem.max_features < table.n_columns
        )
        problem.random_splitter = rules.random_splitter
        problem.top_splits = min(rules.top_splits, UNLIMITED)
        problem.missing_mode = MISSING_MODES[rules.missing]
        problem.categorical_split = CATEGORICAL_SPLITS[rules.categorical_split]
        problem.unseen_branch = (
            FRACTIONAL if rules.handle_unknown == "fractional" else STAY
        )
        if rules.class_factors is not None:
            problem.class_factor = <const double*>self.keep(
                rules.class_factors, np.float64
            )
        if rules.monotonic is not None:
            problem.monotonic = <const int32_t*>self.keep(rules.monotonic, np.int32)
        smoothing = 0.0 if rules.gain is not None else rules.categorical_smoothing
        problem.smoothing = -1.0 if smoothing == "auto" else smoothing
        is_smoothed = mark_smoothed(table, smoothing)
        if is_smoothed.any():
            if rules.oblique is not None:
                is_smoothed = np.append(is_smoothed, False)
            problem.is_smoothed = <const uint8_t*>self.keep(is_smoothed, np.uint8)
        return 0

    cdef int read_gain(self, gain, weight) except -1:
        """How gains decide, and which columns have many values."""
        cdef:
            GainRules* rules = &self.problem.gain
            double tolerance = 0.0 if gain.exact else J48_TOLERANCE
        rules.choice = CHOICES[gain.choice]
        rules.min_gain = gain.min_gain
        rules.min_weight_split = gain.min_weight_split
        rules.min_divided_weight = gain.min_divided_weight
        rules.min_branch = gain.min_branch
        rules.needs_all_branches = gain.needs_all_branches
        rules.adapts_minimum = gain.adapts_minimum
        rules.corrects_gain = gain.corrects_gain
        rules.keeps_observed = gain.keeps_observed
        rules.tolerance = rules.min_count = rules.min_fraction = tolerance
        rules.weight_tolerance = J48_TOLERANCE
        rules.slack = 0.0 if gain.exact else 1e-3
        rules.resolution = 0.0 if gain.exact else J48_RESOLUTION
        # As in C4.5, columns whose levels are 30 percent of the weight or more are left
        # out of the average gain, unless all columns would be.
        total = float(self.target.n_rows if weight is None else weight.sum())
        is_many_valued = is_nominal(self.table) & ~(
            0.3 * total - self.table.schema.n_levels > J48_TOLERANCE
        )
        if is_many_valued.all():
            is_many_valued[:] = False
        self.problem.is_many_valued = <const uint8_t*>self.keep(
            is_many_valued, np.uint8
        )
        return 0

    @property
    def smooths_levels(self):
        """Whether there are nominal columns whose levels are smoothed."""
        return self.problem.is_smoothed != NULL


cdef int write_root(
    const Problem* problem, int64_t n_rows, root, NodeBuffer* buffer, Frame* frame
) except -1:
    """The root's record, and the frame from which all others descend."""
    cdef:
        const double[::1] statistics = root.statistics
        int64_t k
    write_leaf(buffer, 0, -1, n_rows, root.total_weight, root.impurity)
    for k in range(problem.n_statistics):
        buffer.statistics[k] = statistics[k]
    buffer.n_nodes = 1
    memset(frame, 0, sizeof(Frame))
    frame.n_rows = n_rows
    frame.depth = 0
    frame.node = 0
    frame.random_state = root.random_state
    frame.lower = -INFINITY
    frame.upper = INFINITY
    frame.n_active = <int32_t>problem.n_columns
    if problem.monotonic != NULL:
        buffer.bounds[0] = -INFINITY
        buffer.bounds[1] = INFINITY
    return 0
