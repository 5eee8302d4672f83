# Reading the settings of one tree: the rules, the columns, the root.


cdef int fill_problem(Problem* problem, dict settings) except -1:
    """Copy the settings; arrays are kept alive by the caller's dict."""
    cdef:
        const int64_t[::1] output_start = settings["output_start"]
        const int32_t[::1] kind = settings["kind"]
        const int64_t[::1] n_levels = settings["n_levels"]
        const uint8_t[::1] has_missing = settings["has_missing"]
        const int64_t[::1] n_distinct = settings["n_distinct"]
        const double[:, ::1] values = settings["values"]
        const double[:, ::1] upper_values = settings["upper_values"]
        const int32_t[::1] monotonic
        const int64_t[::1] entropy_table
        const uint8_t[::1] is_many_valued
        const uint8_t[::1] is_smoothed
    problem.criterion = settings["criterion"]
    problem.scan = settings["scan"]
    problem.is_classifier = settings["is_classifier"]
    problem.n_columns = settings["columns"].shape[0]
    problem.n_outputs = output_start.shape[0] - 1
    problem.n_statistics = output_start[problem.n_outputs]
    problem.output_start = &output_start[0]
    problem.max_depth = settings["max_depth"]
    problem.min_samples_split = settings["min_samples_split"]
    problem.min_samples_leaf = settings["min_samples_leaf"]
    problem.min_weight_leaf = settings["min_weight_leaf"]
    problem.min_impurity_decrease = settings["min_impurity_decrease"]
    problem.total_weight = settings["total_weight"]
    problem.max_leaf_nodes = settings["max_leaf_nodes"]
    problem.kind = &kind[0]
    problem.n_levels = &n_levels[0]
    problem.has_missing = &has_missing[0]
    problem.n_distinct = &n_distinct[0]
    problem.values = &values[0, 0]
    problem.upper_values = &upper_values[0, 0]
    problem.values_stride = values.shape[1]
    problem.max_levels = settings["max_levels"]
    problem.any_nominal = settings["any_nominal"]
    if settings["is_smoothed"] is not None:
        is_smoothed = settings["is_smoothed"]
        problem.is_smoothed = &is_smoothed[0]
    problem.smoothing = settings["smoothing"]
    problem.design_effect = 1.0
    problem.is_plain = settings["is_plain"]
    problem.missing_mode = settings["missing_mode"]
    problem.divides_cases = settings["divides_cases"]
    problem.categorical_split = settings["categorical_split"]
    problem.unseen_branch = settings["unseen_branch"]
    problem.max_features = settings["max_features"]
    problem.shuffle_columns = settings["shuffle_columns"]
    problem.random_splitter = settings["random_splitter"]
    problem.top_splits = settings["top_splits"]
    if settings["monotonic"] is not None:
        monotonic = settings["monotonic"]
        problem.monotonic = &monotonic[0]
    if settings["entropy_table"] is not None:
        entropy_table = settings["entropy_table"]
        problem.entropy_table = &entropy_table[0]
        problem.entropy_unit = settings["entropy_unit"]
    if settings["gain"] is not None:
        problem.gain = settings["gain"]
        is_many_valued = settings["is_many_valued"]
        problem.is_many_valued = &is_many_valued[0]
    return 0


cdef int fill_codes(Problem* problem, Codes* codes, dict settings) except -1:
    """Point to the level codes of nominal columns, if they are coded."""
    cdef:
        const uint8_t[::1] is_coded
        const uint32_t[:, ::1] level_codes
    is_coded = settings["is_coded"]
    problem.is_coded = &is_coded[0]
    problem.any_coded = settings["level_codes"] is not None
    if not problem.any_coded:
        return 0
    level_codes = settings["level_codes"]
    codes.start = &level_codes[0, 0]
    codes.stride = level_codes.shape[1]
    return 0


cdef int write_root(
    const Problem* problem, int64_t n_rows, dict settings, NodeBuffer* buffer,
    Frame* frame
) except -1:
    """The root's record, and the frame from which all others descend."""
    cdef:
        Node* node = buffer.nodes
        const double[::1] statistics = settings["root_statistics"]
        int64_t k
    memset(node, 0, sizeof(Node))
    node.first_child = -1
    node.feature = -2
    node.missing_branch = -1
    node.parent = -1
    node.map_start = -1
    node.threshold = -2.0
    node.impurity = settings["root_impurity"]
    node.weight = settings["total_weight"]
    node.n_samples = n_rows
    buffer.task[0] = -1
    for k in range(problem.n_statistics):
        buffer.statistics[k] = statistics[k]
    buffer.n_nodes = 1
    memset(frame, 0, sizeof(Frame))
    frame.n_rows = n_rows
    frame.depth = 0
    frame.node = 0
    frame.random_state = settings["random_state"]
    frame.lower = -INFINITY
    frame.upper = INFINITY
    frame.n_active = <int32_t>problem.n_columns
    if problem.monotonic != NULL:
        buffer.bounds[0] = -INFINITY
        buffer.bounds[1] = INFINITY
    return 0
