# cython: language_level=3
"""Kernels of the sums over rows; :mod:`sklearn_textbook.linear_model.row_sums` has the
documents.

Narrow tables are cut into stretches of rows, one sum each, which are added in their
order. Of wide ones, whose sums would fill the memory, the threads share the sums of
each block of rows. How it is done depends on the shape alone, and so do the bits.
"""

from cython cimport integral
from cython.parallel cimport prange, threadid
from libc.stdlib cimport free, malloc

from sklearn_textbook.linear_model._panels cimport (
    BLOCK_ROWS, PANEL_WIDTH, TILE_HEIGHT, add_half_panel, add_products, clear_rest,
    count_panels, fill_columns, fill_ones, scale_panels,
)


# A dense table with weights and targets.
cdef struct DenseRows:
    const double* values
    Py_ssize_t row_stride
    Py_ssize_t column_stride
    Py_ssize_t n_rows
    Py_ssize_t n_columns
    # NULL: 1 each
    const double* weight
    # row after row
    const double* targets
    Py_ssize_t n_targets


cdef inline Py_ssize_t count_sums(const DenseRows* rows) noexcept nogil:
    """Columns of the panels: ones, table, targets."""
    return 1 + rows.n_columns + rows.n_targets


cdef inline void fill_block(
    const DenseRows* rows, Py_ssize_t first, Py_ssize_t n_rows, double* panels
) noexcept nogil:
    """Write the panels of a block, all but the zeros at their end."""
    fill_ones(panels, 0, n_rows)
    fill_columns(
        panels, 1, rows.values + first * rows.row_stride, rows.row_stride,
        rows.column_stride, rows.n_columns, n_rows,
    )
    fill_columns(
        panels, 1 + rows.n_columns, rows.targets + first * rows.n_targets,
        rows.n_targets, 1, rows.n_targets, n_rows,
    )


cdef inline void add_stretch(
    const DenseRows* rows, Py_ssize_t first, Py_ssize_t last, double* panels,
    double* sums,
) noexcept nogil:
    """Add the rows from ``first`` to before ``last``; panels: room for two blocks."""
    cdef Py_ssize_t n_panels = count_panels(count_sums(rows)), n_rows
    cdef double* scaled = panels + n_panels * BLOCK_ROWS * PANEL_WIDTH
    clear_rest(panels, count_sums(rows))
    while first < last:
        n_rows = min(<Py_ssize_t> BLOCK_ROWS, last - first)
        fill_block(rows, first, n_rows, panels)
        if rows.weight == NULL:
            add_products(panels, panels, 1 + rows.n_columns, n_panels, n_rows, sums)
        else:
            scale_panels(panels, rows.weight + first, scaled, n_panels, n_rows)
            add_products(scaled, panels, 1 + rows.n_columns, n_panels, n_rows, sums)
        first += n_rows


cdef DenseRows note_rows(
    const double[:, :] X, const double[::1] weight, const double[:, ::1] targets
) noexcept:
    cdef DenseRows rows
    rows.n_rows, rows.n_columns = X.shape[0], X.shape[1]
    rows.n_targets = targets.shape[1]
    rows.row_stride = X.strides[0] // <Py_ssize_t> sizeof(double)
    rows.column_stride = X.strides[1] // <Py_ssize_t> sizeof(double)
    rows.values = &X[0, 0] if rows.n_rows and rows.n_columns else NULL
    rows.weight = &weight[0] if weight is not None and rows.n_rows else NULL
    rows.targets = &targets[0, 0] if rows.n_rows and rows.n_targets else NULL
    return rows


def sum_dense_stretches(
    const double[:, :] X, const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, double[:, :, ::1] sums, int n_threads,
):
    """Add up every stretch of rows for itself.

    bounds (n_stretches + 1): where stretches begin and end. sums (n_stretches,
    n_padded, n_padded), zero: the upper triangle of the first 1 + n_columns rows.
    """
    cdef DenseRows rows = note_rows(X, weight, targets)
    cdef Py_ssize_t stretch, n_stretches = sums.shape[0]
    cdef Py_ssize_t size = 2 * sums.shape[1] * BLOCK_ROWS
    cdef double* room = <double*> malloc(n_threads * size * sizeof(double))
    if room == NULL:
        raise MemoryError()
    for stretch in prange(
        n_stretches, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=1
    ):
        add_stretch(
            &rows, bounds[stretch], bounds[stretch + 1], room + threadid() * size,
            &sums[stretch, 0, 0],
        )
    free(room)


def sum_dense_tiles(
    const double[:, :] X, const double[::1] weight, const double[:, ::1] targets,
    double[:, ::1] sums, int n_threads,
):
    """Add up block after block, the threads sharing the sums.

    sums (n_padded, n_padded), zero: the upper triangle of the first 1 + n_columns rows.
    """
    cdef DenseRows rows = note_rows(X, weight, targets)
    cdef Py_ssize_t n_panels = sums.shape[0] // PANEL_WIDTH
    cdef Py_ssize_t size = n_panels * BLOCK_ROWS * PANEL_WIDTH
    cdef Py_ssize_t n_halves = (1 + rows.n_columns + TILE_HEIGHT - 1) // TILE_HEIGHT
    cdef Py_ssize_t first = 0, n_rows, half, panel
    cdef double* panels = <double*> malloc(2 * size * sizeof(double))
    cdef double* scaled = panels + size
    if panels == NULL:
        raise MemoryError()
    with nogil:
        clear_rest(panels, count_sums(&rows))
        while first < rows.n_rows:
            n_rows = min(<Py_ssize_t> BLOCK_ROWS, rows.n_rows - first)
            fill_block(&rows, first, n_rows, panels)
            if rows.weight == NULL:
                scaled = panels
            else:
                for panel in prange(
                    n_panels, num_threads=n_threads, schedule="static"
                ):
                    scale_panels(
                        panels + panel * BLOCK_ROWS * PANEL_WIDTH, rows.weight + first,
                        scaled + panel * BLOCK_ROWS * PANEL_WIDTH, 1, n_rows,
                    )
            for half in prange(
                n_halves, num_threads=n_threads, schedule="dynamic", chunksize=2
            ):
                add_half_panel(scaled, panels, half, n_panels, n_rows, &sums[0, 0])
            first += n_rows
    free(panels)


# ---------------------------------------------------------------------------- sparse
def sum_sparse_stretches(
    const double[::1] data, const integral[::1] indices, const integral[::1] indptr,
    const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, double[:, :, ::1] sums, int n_threads,
):
    """Add up every stretch of sparse rows, whose indices ascend, for itself.

    sums (n_stretches, 1 + n_columns, 1 + n_columns + n_targets), zero: the upper
    triangle.
    """
    cdef Py_ssize_t stretch, n_stretches = sums.shape[0], height = sums.shape[1]
    for stretch in prange(
        n_stretches, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=1
    ):
        add_sparse_rows(
            data, indices, indptr, weight, targets, bounds[stretch],
            bounds[stretch + 1], 0, height, sums[stretch],
        )


def sum_sparse_bands(
    const double[::1] data, const integral[::1] indices, const integral[::1] indptr,
    const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, double[:, ::1] sums, int n_threads,
):
    """Add up all sparse rows, whose indices ascend, the threads sharing the sums.

    bounds (n_bands + 1): rows of the sums that a thread sees to at a time.
    """
    cdef Py_ssize_t band, n_bands = bounds.shape[0] - 1, n_rows = indptr.shape[0] - 1
    for band in prange(
        n_bands, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=1
    ):
        add_sparse_rows(
            data, indices, indptr, weight, targets, 0, n_rows, bounds[band],
            bounds[band + 1], sums,
        )


cdef void add_sparse_rows(
    const double[::1] data, const integral[::1] indices, const integral[::1] indptr,
    const double[::1] weight, const double[:, ::1] targets, Py_ssize_t first,
    Py_ssize_t last, Py_ssize_t low, Py_ssize_t high, double[:, ::1] sums,
) noexcept nogil:
    """Add rows to the rows of the sums from ``low`` to before ``high``."""
    cdef Py_ssize_t row, entry, other, end, i, target
    cdef Py_ssize_t height = sums.shape[0], n_targets = targets.shape[1]
    cdef double factor
    for row in range(first, last):
        end = indptr[row + 1]
        if low == 0:
            sums[0, 0] += weight[row]
            for entry in range(indptr[row], end):
                sums[0, 1 + indices[entry]] += weight[row] * data[entry]
            for target in range(n_targets):
                sums[0, height + target] += weight[row] * targets[row, target]
        for entry in range(indptr[row], end):
            i = 1 + indices[entry]
            if i < low:
                continue
            if i >= high:
                break
            factor = weight[row] * data[entry]
            for other in range(entry, end):
                sums[i, 1 + indices[other]] += factor * data[other]
            for target in range(n_targets):
                sums[i, height + target] += factor * targets[row, target]
