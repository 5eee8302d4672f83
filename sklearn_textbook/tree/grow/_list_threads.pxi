# What a thread grows from a list of samples with; part of _list_grower.pyx.


cdef struct ListThread:
    SampleList samples
    ListSearch search
    ObliqueSearch oblique
    Worker worker


cdef int fill_table(
    const Problem* problem, dict settings, SampleList* samples
) except -1:
    """Point to the codes and targets of the table."""
    cdef:
        const double[:, ::1] y
        const double[:, ::1] values
        const int16_t[:, ::1] steps
        const int32_t[:, ::1] label
        const Span[::1] spans
        const Scale[::1] scales
    samples.table.n_columns = problem.n_columns
    samples.table.n_rows = settings["order"].shape[1]
    if settings["ranks"] is not None:
        samples.table.codes = address_of(settings["ranks"])
        samples.table.code_size = settings["ranks"].dtype.itemsize
    if problem.random_splitter:
        values = settings["row_values"]
        samples.row_values = &values[0, 0]
        steps = settings["steps"]
        samples.steps = &steps[0, 0]
        steps = settings["row_steps"]
        samples.row_steps = &steps[0, 0]
        scales = settings["scales"]
        samples.scales = &scales[0]
    else:
        samples.table.row_codes = address_of(settings["row_ranks"])
        samples.table.row_bins = <const uint8_t*>address_of(settings["row_bins"])
        spans = settings["spans"]
        samples.table.spans = &spans[0]
    if problem.is_classifier:
        label = settings["all_labels"]
        samples.label = &label[0, 0]
    else:
        y = settings["all_values"]
        samples.y = &y[0, 0]
    return 0


cdef int fill_oblique(
    const Problem* problem, dict settings, ListThread* thread
) except -1:
    """Take the rules of oblique tests, and allocate for them."""
    cdef:
        const double[:, ::1] values = settings["row_values"]
        const double[::1] numbers
        const int64_t[::1] level_start = settings["level_start"]
        ObliqueSearch* oblique = &thread.oblique
    oblique.values = &values[0, 0]
    oblique.level_start = &level_start[0]
    oblique.n_codes = level_start[level_start.shape[0] - 1]
    numbers = settings["size"]
    oblique.size = &numbers[0]
    numbers = settings["inverse_size"]
    oblique.inverse_size = &numbers[0]
    oblique.kind = settings["direction"]
    oblique.n_directions = settings["n_directions"]
    oblique.max_columns = settings["max_columns"]
    oblique.max_terms = settings["max_terms"]
    oblique.searches_axis = settings["searches_axis"]
    oblique.column_penalty = settings["column_penalty"]
    oblique.ridge = settings["ridge"]
    oblique.lasso = settings["lasso"]
    thread.search.oblique = oblique
    # The kernel of small subtrees knows tests of one column alone.
    thread.samples.may_be_small = False
    if not oblique.searches_axis:
        # There are no codes to be copied.
        thread.samples.local_rows = 0
    if start_oblique(problem, oblique, thread.samples.n_samples) < 0:
        raise MemoryError()
    return 0


cdef int start_thread(
    const Problem* problem, dict settings, kind, ListThread* thread, int64_t n_rows,
    const SampleList* lender
) except -1:
    """Allocate for nodes of up to n_rows samples, perhaps of the list of another
    thread."""
    cdef SampleList* samples = &thread.samples
    samples.kind = LIST_KINDS[kind]
    fill_table(problem, settings, samples)
    if (
        start_sample_list(problem, samples, n_rows, lender) < 0
        or start_list_search(problem, samples, &thread.search) < 0
        or start_worker(problem, &thread.worker, n_rows, 8, True, NULL) < 0
    ):
        raise MemoryError()
    samples.may_be_small = may_be_small(problem, samples)
    if settings["oblique"] is not None:
        fill_oblique(problem, settings["oblique"], thread)
    return 0


cdef void free_thread(ListThread* thread) noexcept nogil:
    free_sample_list(&thread.samples)
    free_list_search(&thread.search)
    free_oblique(&thread.oblique)
    free_worker(&thread.worker)


cdef void lend_thread(Grower* grower, ListThread* thread) noexcept nogil:
    grower.worker = &thread.worker
    grower.samples = &thread.samples
    grower.search = &thread.search
    thread.samples.is_local = False


cdef void follow_thread(ListThread* thread, const ListThread* first) noexcept nogil:
    """Take over what the first thread knows of the tree."""
    thread.samples.weight = first.samples.weight
    thread.samples.min_weight = first.samples.min_weight
    thread.samples.most_weight = first.samples.most_weight
    if first.oblique.scale != NULL:
        memcpy(
            thread.oblique.scale, first.oblique.scale,
            first.samples.table.n_columns * sizeof(double)
        )
