# Sums over the rows of sparse tables; part of _row_sums.pyx.


ctypedef fused index_t:
    int32_t
    int64_t


cdef struct SparseRows:
    # Stretches of rows, or bands of the sums, that threads share.
    const double* data
    const void* indices
    const void* indptr
    bint is_wide  # indices of 64 bits, or of 32
    const double* weight
    const double* targets
    Py_ssize_t n_targets
    Py_ssize_t n_rows
    const Py_ssize_t* bounds
    double* sums
    Py_ssize_t height


cdef SparseRows note_sparse_rows(
    const double[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, Py_ssize_t height,
) noexcept:
    cdef SparseRows rows = SparseRows(
        NULL, NULL, &indptr[0], index_t is int64_t, NULL, NULL, targets.shape[1],
        indptr.shape[0] - 1, &bounds[0], NULL, height,
    )
    if data.shape[0]:
        rows.data, rows.indices = &data[0], &indices[0]
    if weight.shape[0]:
        rows.weight = &weight[0]
        rows.targets = &targets[0, 0] if rows.n_targets else NULL
    return rows


def sum_sparse_stretches(
    const double[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, double[:, :, ::1] sums, int n_threads,
):
    """Add up every stretch of sparse rows, whose indices ascend, separately.

    sums (n_stretches, 1 + n_columns, 1 + n_columns + n_targets), zero: the upper
    triangle.
    """
    cdef SparseRows rows = note_sparse_rows(
        data, indices, indptr, weight, targets, bounds, sums.shape[1]
    )
    rows.sums = &sums[0, 0, 0]
    run_in_threads(n_threads, sum_sparse_stretch, &rows, sums.shape[0])


cdef void sum_sparse_stretch(void* context, int64_t stretch, int thread) noexcept nogil:
    cdef const SparseRows* rows = <SparseRows*> context
    add_sparse_rows(
        rows, rows.bounds[stretch], rows.bounds[stretch + 1], 0, rows.height,
        rows.sums + stretch * rows.height * (rows.height + rows.n_targets),
    )


def sum_sparse_bands(
    const double[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, double[:, ::1] sums, int n_threads,
):
    """Add up all sparse rows, whose indices ascend, the threads sharing the sums.

    bounds (n_bands + 1): rows of the sums that a thread computes at a time.
    """
    cdef SparseRows rows = note_sparse_rows(
        data, indices, indptr, weight, targets, bounds, sums.shape[0]
    )
    rows.sums = &sums[0, 0]
    run_in_threads(n_threads, sum_sparse_band, &rows, bounds.shape[0] - 1)


cdef void sum_sparse_band(void* context, int64_t band, int thread) noexcept nogil:
    cdef const SparseRows* rows = <SparseRows*> context
    add_sparse_rows(
        rows, 0, rows.n_rows, rows.bounds[band], rows.bounds[band + 1], rows.sums
    )


cdef void add_sparse_rows(
    const SparseRows* rows, Py_ssize_t first, Py_ssize_t last, Py_ssize_t low,
    Py_ssize_t high, double* sums,
) noexcept nogil:
    """Add rows to the rows of the sums from ``low`` to before ``high``."""
    if rows.is_wide:
        add_indexed_rows(
            rows, <const int64_t*> rows.indices, <const int64_t*> rows.indptr, first,
            last, low, high, sums,
        )
    else:
        add_indexed_rows(
            rows, <const int32_t*> rows.indices, <const int32_t*> rows.indptr, first,
            last, low, high, sums,
        )


cdef void add_indexed_rows(
    const SparseRows* rows, const index_t* indices, const index_t* indptr,
    Py_ssize_t first, Py_ssize_t last, Py_ssize_t low, Py_ssize_t high, double* sums,
) noexcept nogil:
    cdef Py_ssize_t row, entry, other, end, i, target
    cdef Py_ssize_t height = rows.height, n_targets = rows.n_targets
    cdef const double* data = rows.data
    cdef const double* targets
    cdef double* line
    cdef double factor, weight
    for row in range(first, last):
        end = indptr[row + 1]
        weight = rows.weight[row]
        targets = rows.targets + row * n_targets
        if low == 0:
            sums[0] += weight
            for entry in range(indptr[row], end):
                sums[1 + indices[entry]] += weight * data[entry]
            for target in range(n_targets):
                sums[height + target] += weight * targets[target]
        for entry in range(indptr[row], end):
            i = 1 + indices[entry]
            if i < low:
                continue
            if i >= high:
                break
            line = sums + i * (height + n_targets)
            factor = weight * data[entry]
            for other in range(entry, end):
                line[1 + indices[other]] += factor * data[other]
            for target in range(n_targets):
                line[height + target] += factor * targets[target]
