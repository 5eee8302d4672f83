# Exponentials and logarithms of many numbers: header-only.
#
# Polynomials without branches, which compilers turn into vector instructions. Their
# results, unlike those of the C library, are the same bits on every processor.

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) \
        && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
    #define FOR_EACH_WIDTH \
        __attribute__((unused, target_clones("avx512f", "avx2", "default")))
    #elif defined(__GNUC__) || defined(__clang__)
    #define FOR_EACH_WIDTH __attribute__((unused))
    #else
    #define FOR_EACH_WIDTH
    #endif

    /* To the nearest integer: its bits are the last ones of the sum. */
    #define ROUND_BY_SUM 6755399441055744.0
    #define LN2_HIGH 6.93147180369123816490e-01
    #define LN2_LOW 1.90821492927058770002e-10
    #define PER_LN2 1.4426950408889634074

    /* 2 to the power of an integer to which ROUND_BY_SUM was added. */
    static inline double take_power(double rounded)
    {
        uint64_t bits;
        double power;
        memcpy(&bits, &rounded, sizeof bits);
        bits = (bits + 1023) << 52;
        memcpy(&power, &bits, sizeof power);
        return power;
    }

    FOR_EACH_WIDTH
    static void take_exponentials(double* numbers, Py_ssize_t n)
    {
        Py_ssize_t i;
        for (i = 0; i < n; i++) {
            double x = numbers[i], rounded, half, k, r, q;
            x = x < -750.0 ? -750.0 : x;
            x = x > 750.0 ? 750.0 : x;
            /* x = k log(2) + r; the Taylor polynomial of r */
            rounded = x * PER_LN2 + ROUND_BY_SUM;
            k = rounded - ROUND_BY_SUM;
            r = (x - k * LN2_HIGH) - k * LN2_LOW;
            q = 1.0 / 6227020800.0;
            q = q * r + 1.0 / 479001600.0;
            q = q * r + 1.0 / 39916800.0;
            q = q * r + 1.0 / 3628800.0;
            q = q * r + 1.0 / 362880.0;
            q = q * r + 1.0 / 40320.0;
            q = q * r + 1.0 / 5040.0;
            q = q * r + 1.0 / 720.0;
            q = q * r + 1.0 / 120.0;
            q = q * r + 1.0 / 24.0;
            q = q * r + 1.0 / 6.0;
            q = q * r + 0.5;
            q = 1.0 + (r + q * (r * r));
            /* two factors for 2 to the k, since it may be below all normal numbers */
            half = x * (0.5 * PER_LN2) + ROUND_BY_SUM;
            rounded = (k - (half - ROUND_BY_SUM)) + ROUND_BY_SUM;
            numbers[i] = q * take_power(half) * take_power(rounded);
        }
    }

    /* log(1 + u) for u from 0 to 1, by the polynomial of fdlibm. */
    FOR_EACH_WIDTH
    static void take_log1p(const double* numbers, double* results, Py_ssize_t n)
    {
        Py_ssize_t i;
        for (i = 0; i < n; i++) {
            double u = numbers[i], halved, f, square, s, z, q;
            halved = u > 0.41421356237309503 ? 1.0 : 0.0;
            f = u > 0.41421356237309503 ? 0.5 * (u - 1.0) : u;
            square = 0.5 * f * f;
            s = f / (2.0 + f);
            z = s * s;
            q = 1.479819860511658591e-01;
            q = q * z + 1.531383769920937332e-01;
            q = q * z + 1.818357216161805012e-01;
            q = q * z + 2.222219843214978396e-01;
            q = q * z + 2.857142874366239149e-01;
            q = q * z + 3.999999999940941908e-01;
            q = q * z + 6.666666666666735130e-01;
            q *= z;
            results[i] = halved * LN2_HIGH
                - ((square - (s * (square + q) + halved * LN2_LOW)) - f);
        }
    }
    """
    # in place
    void take_exponentials(double* numbers, Py_ssize_t n) noexcept nogil
    # of numbers from 0 to 1
    void take_log1p(
        const double* numbers, double* results, Py_ssize_t n,
    ) noexcept nogil
