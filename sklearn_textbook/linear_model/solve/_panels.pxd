# Panels: the layout of a block of rows for products of columns: header-only.
#
# A panel contains eight adjacent columns, row by row, so that a tile of products is
# summed in registers while two panels are read sequentially. Every product has its own
# sum, to which rows are added one by one: the sums do not depend on how many of them a
# processor adds at a time.

cdef enum:
    PANEL_WIDTH = 8
    # rows of a tile: half a panel, since 4 x 8 sums fit in most processors' registers
    TILE_HEIGHT = 4
    # rows of a block; two panels of this many rows fit in the L1 cache
    BLOCK_ROWS = 256

cdef extern from *:
    """
    #include <stdlib.h>
    #include <string.h>
    /* One function for each kind of processor, where the system chooses at loading. */
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) \
        && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
    #define SELECTS_PROCESSOR
    #define FOR_EACH_PROCESSOR \
        __attribute__((unused, target_clones("avx512f", "avx2", "default")))
    #elif defined(__GNUC__) || defined(__clang__)
    #define FOR_EACH_PROCESSOR __attribute__((unused))
    #endif

    #if defined(__GNUC__) || defined(__clang__)
    /* Half a row: with vectors wider than its registers, GCC keeps sums in memory. */
    typedef double PanelHalf
        __attribute__((vector_size(32), aligned(8), may_alias));
    #define HALF(numbers) (*(PanelHalf*)(numbers))
    #define CONST_HALF(numbers) (*(const PanelHalf*)(numbers))

    FOR_EACH_PROCESSOR
    static void add_half_tile(
        const double* left, const double* right, Py_ssize_t n_rows,
        double* sums, Py_ssize_t stride)
    {
        PanelHalf first = HALF(sums), first_end = HALF(sums + 4);
        PanelHalf second = HALF(sums + stride), second_end = HALF(sums + stride + 4);
        double* lower = sums + 2 * stride;
        PanelHalf third = HALF(lower), third_end = HALF(lower + 4);
        PanelHalf fourth = HALF(lower + stride), fourth_end = HALF(lower + stride + 4);
        Py_ssize_t row;
        for (row = 0; row < n_rows; row++) {
            PanelHalf values = CONST_HALF(right + 8 * row);
            PanelHalf end = CONST_HALF(right + 8 * row + 4);
            const double* factors = left + 8 * row;
            first += factors[0] * values;
            first_end += factors[0] * end;
            second += factors[1] * values;
            second_end += factors[1] * end;
            third += factors[2] * values;
            third_end += factors[2] * end;
            fourth += factors[3] * values;
            fourth_end += factors[3] * end;
        }
        HALF(sums) = first;
        HALF(sums + 4) = first_end;
        HALF(sums + stride) = second;
        HALF(sums + stride + 4) = second_end;
        HALF(lower) = third;
        HALF(lower + 4) = third_end;
        HALF(lower + stride) = fourth;
        HALF(lower + stride + 4) = fourth_end;
    }

    #if defined(__AVX512F__) || defined(SELECTS_PROCESSOR)
    typedef double PanelRow
        __attribute__((vector_size(64), aligned(8), may_alias));
    #define ROW(numbers) (*(PanelRow*)(numbers))

    /* The same, where a register has room for a whole row. */
    #ifdef SELECTS_PROCESSOR
    __attribute__((target("avx512f,prefer-vector-width=512")))
    #endif
    static void add_whole_tile(
        const double* left, const double* right, Py_ssize_t n_rows,
        double* sums, Py_ssize_t stride)
    {
        double* lower = sums + 2 * stride;
        PanelRow first = ROW(sums), second = ROW(sums + stride);
        PanelRow third = ROW(lower), fourth = ROW(lower + stride);
        Py_ssize_t row;
        for (row = 0; row < n_rows; row++) {
            PanelRow values = *(const PanelRow*)(right + 8 * row);
            const double* factors = left + 8 * row;
            first += factors[0] * values;
            second += factors[1] * values;
            third += factors[2] * values;
            fourth += factors[3] * values;
        }
        ROW(sums) = first;
        ROW(sums + stride) = second;
        ROW(lower) = third;
        ROW(lower + stride) = fourth;
    }
    #endif

    static inline void add_tile(
        const double* left, const double* right, Py_ssize_t n_rows,
        double* sums, Py_ssize_t stride)
    {
    #if defined(SELECTS_PROCESSOR)
        if (__builtin_cpu_supports("avx512f")) {
            add_whole_tile(left, right, n_rows, sums, stride);
            return;
        }
    #elif defined(__AVX512F__)
        add_whole_tile(left, right, n_rows, sums, stride);
        return;
    #endif
        add_half_tile(left, right, n_rows, sums, stride);
    }

    FOR_EACH_PROCESSOR
    static void score_rows(
        const double* panels, Py_ssize_t n_panels, Py_ssize_t panel_size,
        const double* coef, Py_ssize_t n_rows, double* scores)
    {
        Py_ssize_t row, panel;
        for (row = 0; row < n_rows; row++) {
            PanelHalf sum = {0, 0, 0, 0}, end = {0, 0, 0, 0};
            for (panel = 0; panel < n_panels; panel++) {
                const double* values = panels + panel * panel_size + 8 * row;
                sum += CONST_HALF(values) * CONST_HALF(coef + 8 * panel);
                end += CONST_HALF(values + 4) * CONST_HALF(coef + 8 * panel + 4);
            }
            sum += end;
            scores[row] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
        }
    }

    FOR_EACH_PROCESSOR
    static void score_rows_by_halves(
        const double* panels, Py_ssize_t n_panels, Py_ssize_t panel_size,
        const double* coef, Py_ssize_t n_rows, double* scores)
    {
        Py_ssize_t row, panel;
        int column, i;
        for (row = 0; row < n_rows; row += 4) {
            PanelHalf sums[4] = {0}, ends[4] = {0};
            for (panel = 0; panel < n_panels; panel++) {
                const double* values = panels + panel * panel_size + 8 * row;
                for (column = 0; column < 8; column++) {
                    PanelHalf some = CONST_HALF(coef + 64 * panel + 8 * column);
                    PanelHalf end = CONST_HALF(coef + 64 * panel + 8 * column + 4);
                    for (i = 0; i < 4; i++) {
                        sums[i] += values[8 * i + column] * some;
                        ends[i] += values[8 * i + column] * end;
                    }
                }
            }
            for (i = 0; i < 4; i++) {
                HALF(scores + 8 * (row + i)) = sums[i];
                HALF(scores + 8 * (row + i) + 4) = ends[i];
            }
        }
    }

    #if defined(__AVX512F__) || defined(SELECTS_PROCESSOR)
    #ifdef SELECTS_PROCESSOR
    __attribute__((target("avx512f,prefer-vector-width=512")))
    #endif
    static void score_rows_whole(
        const double* panels, Py_ssize_t n_panels, Py_ssize_t panel_size,
        const double* coef, Py_ssize_t n_rows, double* scores)
    {
        Py_ssize_t row, panel;
        int column, i;
        for (row = 0; row < n_rows; row += 8) {
            PanelRow sums[8] = {0};
            for (panel = 0; panel < n_panels; panel++) {
                const double* values = panels + panel * panel_size + 8 * row;
                for (column = 0; column < 8; column++) {
                    PanelRow some =
                        *(const PanelRow*)(coef + 64 * panel + 8 * column);
                    for (i = 0; i < 8; i++)
                        sums[i] += values[8 * i + column] * some;
                }
            }
            for (i = 0; i < 8; i++)
                ROW(scores + 8 * (row + i)) = sums[i];
        }
    }
    #endif

    static inline void score_many_rows(
        const double* panels, Py_ssize_t n_panels, Py_ssize_t panel_size,
        const double* coef, Py_ssize_t n_rows, double* scores)
    {
    #if defined(SELECTS_PROCESSOR)
        if (__builtin_cpu_supports("avx512f")) {
            score_rows_whole(panels, n_panels, panel_size, coef, n_rows, scores);
            return;
        }
    #elif defined(__AVX512F__)
        score_rows_whole(panels, n_panels, panel_size, coef, n_rows, scores);
        return;
    #endif
        score_rows_by_halves(panels, n_panels, panel_size, coef, n_rows, scores);
    }

    FOR_EACH_PROCESSOR
    static void add_scaled_rows(
        const double* panel, const double* factors, Py_ssize_t n_rows, double* sums)
    {
        PanelHalf even = HALF(sums), even_end = HALF(sums + 4);
        PanelHalf odd = {0, 0, 0, 0}, odd_end = {0, 0, 0, 0};
        Py_ssize_t row;
        for (row = 0; row + 1 < n_rows; row += 2) {
            even += factors[row] * CONST_HALF(panel + 8 * row);
            even_end += factors[row] * CONST_HALF(panel + 8 * row + 4);
            odd += factors[row + 1] * CONST_HALF(panel + 8 * row + 8);
            odd_end += factors[row + 1] * CONST_HALF(panel + 8 * row + 12);
        }
        if (row < n_rows) {
            even += factors[row] * CONST_HALF(panel + 8 * row);
            even_end += factors[row] * CONST_HALF(panel + 8 * row + 4);
        }
        HALF(sums) = even + odd;
        HALF(sums + 4) = even_end + odd_end;
    }

    FOR_EACH_PROCESSOR
    static void scale_rows(
        const double* panel, const double* factors, Py_ssize_t n_rows, double* scaled)
    {
        Py_ssize_t row;
        for (row = 0; row < n_rows; row++) {
            HALF(scaled + 8 * row) = factors[row] * CONST_HALF(panel + 8 * row);
            HALF(scaled + 8 * row + 4) = factors[row] * CONST_HALF(panel + 8 * row + 4);
        }
    }

    FOR_EACH_PROCESSOR
    static void shift_rows(double* panel, const double* shift, Py_ssize_t n_rows)
    {
        const PanelHalf less = CONST_HALF(shift), less_end = CONST_HALF(shift + 4);
        Py_ssize_t row;
        for (row = 0; row < n_rows; row++) {
            HALF(panel + 8 * row) -= less;
            HALF(panel + 8 * row + 4) -= less_end;
        }
    }
    #else
    static void add_tile(
        const double* left, const double* right, Py_ssize_t n_rows,
        double* sums, Py_ssize_t stride)
    {
        Py_ssize_t row;
        int i, j;
        for (row = 0; row < n_rows; row++)
            for (i = 0; i < 4; i++)
                for (j = 0; j < 8; j++)
                    sums[i * stride + j] += left[8 * row + i] * right[8 * row + j];
    }

    static void score_rows(
        const double* panels, Py_ssize_t n_panels, Py_ssize_t panel_size,
        const double* coef, Py_ssize_t n_rows, double* scores)
    {
        Py_ssize_t row, panel;
        int j;
        for (row = 0; row < n_rows; row++) {
            double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
            for (panel = 0; panel < n_panels; panel++)
                for (j = 0; j < 8; j++)
                    sum[j] += panels[panel * panel_size + 8 * row + j]
                        * coef[8 * panel + j];
            scores[row] = ((sum[0] + sum[4]) + (sum[2] + sum[6]))
                + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
        }
    }

    static void score_many_rows(
        const double* panels, Py_ssize_t n_panels, Py_ssize_t panel_size,
        const double* coef, Py_ssize_t n_rows, double* scores)
    {
        Py_ssize_t row, panel;
        int column, j;
        for (row = 0; row < n_rows; row++) {
            double sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
            for (panel = 0; panel < n_panels; panel++)
                for (column = 0; column < 8; column++)
                    for (j = 0; j < 8; j++)
                        sums[j] += panels[panel * panel_size + 8 * row + column]
                            * coef[64 * panel + 8 * column + j];
            for (j = 0; j < 8; j++)
                scores[8 * row + j] = sums[j];
        }
    }

    static void add_scaled_rows(
        const double* panel, const double* factors, Py_ssize_t n_rows, double* sums)
    {
        double odd[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        Py_ssize_t row;
        int j;
        for (row = 0; row + 1 < n_rows; row += 2)
            for (j = 0; j < 8; j++) {
                sums[j] += factors[row] * panel[8 * row + j];
                odd[j] += factors[row + 1] * panel[8 * row + 8 + j];
            }
        for (j = 0; j < 8; j++) {
            if (row < n_rows)
                sums[j] += factors[row] * panel[8 * row + j];
            sums[j] += odd[j];
        }
    }

    static void scale_rows(
        const double* panel, const double* factors, Py_ssize_t n_rows, double* scaled)
    {
        Py_ssize_t row;
        int j;
        for (row = 0; row < n_rows; row++)
            for (j = 0; j < 8; j++)
                scaled[8 * row + j] = factors[row] * panel[8 * row + j];
    }

    static void shift_rows(double* panel, const double* shift, Py_ssize_t n_rows)
    {
        Py_ssize_t row;
        int j;
        for (row = 0; row < n_rows; row++)
            for (j = 0; j < 8; j++)
                panel[8 * row + j] -= shift[j];
    }
    #endif
    /* Lengths that are known when it is compiled need no loop over the columns. */
    #define COPY_ROWS(width) \
        for (row = 0; row < n_rows; row++) \
            memcpy(target + 8 * row, source + stride * row, width * sizeof(double)); \
        break

    static void copy_rows(
        const double* source, Py_ssize_t stride, Py_ssize_t width, Py_ssize_t n_rows,
        double* target)
    {
        Py_ssize_t row;
        switch (width) {
            case 1: COPY_ROWS(1);
            case 2: COPY_ROWS(2);
            case 3: COPY_ROWS(3);
            case 4: COPY_ROWS(4);
            case 5: COPY_ROWS(5);
            case 6: COPY_ROWS(6);
            case 7: COPY_ROWS(7);
            case 8: COPY_ROWS(8);
        }
    }
    """
    # target[row, column] = source[row * stride + column] for up to 8 columns
    void copy_rows(
        const double* source, Py_ssize_t stride, Py_ssize_t width, Py_ssize_t n_rows,
        double* target,
    ) noexcept nogil
    # sums[i, j] += left[row, i] * right[row, j] for 4 columns i, 8 columns j, all rows
    void add_tile(
        const double* left, const double* right, Py_ssize_t n_rows,
        double* sums, Py_ssize_t stride,
    ) noexcept nogil
    # scores[row] = sum of panels[row, column] * coef[column] over the columns
    void score_rows(
        const double* panels, Py_ssize_t n_panels, Py_ssize_t panel_size,
        const double* coef, Py_ssize_t n_rows, double* scores,
    ) noexcept nogil
    # scores[row, k] = sum of panels[row, column] * coef[column, k] over the columns,
    # for 8 scores; also of the up to 7 rows after the last one
    void score_many_rows(
        const double* panels, Py_ssize_t n_panels, Py_ssize_t panel_size,
        const double* coef, Py_ssize_t n_rows, double* scores,
    ) noexcept nogil
    # sums[column] += factors[row] * panel[row, column] for the 8 columns of a panel
    void add_scaled_rows(
        const double* panel, const double* factors, Py_ssize_t n_rows, double* sums,
    ) noexcept nogil
    # scaled[row, column] = factors[row] * panel[row, column]
    void scale_rows(
        const double* panel, const double* factors, Py_ssize_t n_rows, double* scaled,
    ) noexcept nogil
    # panel[row, column] -= shift[column]
    void shift_rows(
        double* panel, const double* shift, Py_ssize_t n_rows,
    ) noexcept nogil


cdef inline Py_ssize_t count_panels(Py_ssize_t n_columns) noexcept nogil:
    """Panels of so many columns; the last one is padded."""
    return (n_columns + PANEL_WIDTH - 1) // PANEL_WIDTH


cdef inline void fill_ones(
    double* panels, Py_ssize_t position, Py_ssize_t n_rows
) noexcept nogil:
    """Write a column of ones."""
    cdef Py_ssize_t row
    cdef double* target = panels + (
        (position // PANEL_WIDTH) * BLOCK_ROWS * PANEL_WIDTH + position % PANEL_WIDTH
    )
    for row in range(n_rows):
        target[row * PANEL_WIDTH] = 1.0


cdef inline void fill_columns(
    double* panels, Py_ssize_t position, const double* values, Py_ssize_t row_stride,
    Py_ssize_t column_stride, Py_ssize_t n_columns, Py_ssize_t n_rows,
) noexcept nogil:
    """Write columns of a block from ``position`` on; strides count numbers.

    position: number of the first one among all columns of the panels. The columns are
    copied in pieces that end where a panel does.
    """
    cdef Py_ssize_t row, column, width, done = 0
    cdef const double* source
    cdef double* target
    while done < n_columns:
        target = panels + (
            (position // PANEL_WIDTH) * BLOCK_ROWS * PANEL_WIDTH
            + position % PANEL_WIDTH
        )
        source = values + done * column_stride
        # A piece within one panel. Columns far apart are read one by one.
        width = min(PANEL_WIDTH - position % PANEL_WIDTH, n_columns - done)
        if column_stride == 1:
            copy_rows(source, row_stride, width, n_rows, target)
        else:
            for column in range(width):
                for row in range(n_rows):
                    target[row * PANEL_WIDTH + column] = (
                        source[row * row_stride + column * column_stride]
                    )
        position += width
        done += width


cdef inline void clear_rest(
    double* panels, Py_ssize_t n_columns
) noexcept nogil:
    """Write zeros to the padding columns of the last panel."""
    cdef Py_ssize_t row, column, filled = n_columns % PANEL_WIDTH
    cdef double* target = panels + (
        (n_columns // PANEL_WIDTH) * BLOCK_ROWS * PANEL_WIDTH
    )
    if filled:
        for row in range(BLOCK_ROWS):
            for column in range(filled, PANEL_WIDTH):
                target[row * PANEL_WIDTH + column] = 0.0


cdef inline void scale_panels(
    const double* panels, const double* factors, double* scaled, Py_ssize_t n_panels,
    Py_ssize_t n_rows,
) noexcept nogil:
    """Multiply the rows of panels by one factor each."""
    cdef Py_ssize_t panel, start
    for panel in range(n_panels):
        start = panel * BLOCK_ROWS * PANEL_WIDTH
        scale_rows(panels + start, factors, n_rows, scaled + start)


cdef inline void add_half_panel(
    const double* scaled, const double* panels, Py_ssize_t half, Py_ssize_t n_panels,
    Py_ssize_t n_rows, double* sums,
) noexcept nogil:
    """Add the products of four columns with those of their own and all later panels."""
    cdef Py_ssize_t panel, stride = n_panels * PANEL_WIDTH
    cdef const double* left = scaled + (
        (half // 2) * BLOCK_ROWS * PANEL_WIDTH + (half % 2) * TILE_HEIGHT
    )
    for panel in range(half // 2, n_panels):
        add_tile(
            left, panels + panel * BLOCK_ROWS * PANEL_WIDTH, n_rows,
            sums + half * TILE_HEIGHT * stride + panel * PANEL_WIDTH, stride,
        )


cdef inline void add_products(
    const double* scaled, const double* panels, Py_ssize_t n_left, Py_ssize_t n_panels,
    Py_ssize_t n_rows, double* sums,
) noexcept nogil:
    """Add the products of the first ``n_left`` columns with themselves and all later
    ones: the upper triangle, by tiles.

    sums: n_panels * PANEL_WIDTH numbers in a line. A tile on the diagonal also has
    numbers below it, and the last one those of padding, all of which the caller leaves
    aside.
    """
    cdef Py_ssize_t half
    for half in range((n_left + TILE_HEIGHT - 1) // TILE_HEIGHT):
        add_half_panel(scaled, panels, half, n_panels, n_rows, sums)
