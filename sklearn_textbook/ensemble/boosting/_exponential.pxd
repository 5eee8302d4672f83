# e^x and log(1 + z) without calls and branches, so that loops over them become vector
# instructions: header-only. Both are within two units in the last place.

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* e^x = 2^n e^r, |r| <= log(2) / 2, by the Taylor series of e^r. x is kept within
       [-700, 600]: no result is 0, subnormal or infinite, nor is a sum of 10^40. */
    static inline double bounded_exp(double x)
    {
        const double round_off = 6755399441055744.0;  /* 1.5 * 2^52: no digits left */
        double shifted, n, r, square, even, odd, series, power;
        uint64_t bits;
        x = x < -700.0 ? -700.0 : x;
        x = x > 600.0 ? 600.0 : x;
        shifted = x * 1.4426950408889634 + round_off;
        n = shifted - round_off;
        /* log(2) in two parts; n times the first is exact */
        r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
        /* two shorter sums, which a processor computes at the same time */
        square = r * r;
        even = 1.0 / 479001600.0;
        odd = 1.0 / 6227020800.0;
        even = even * square + 1.0 / 3628800.0;
        odd = odd * square + 1.0 / 39916800.0;
        even = even * square + 1.0 / 40320.0;
        odd = odd * square + 1.0 / 362880.0;
        even = even * square + 1.0 / 720.0;
        odd = odd * square + 1.0 / 5040.0;
        even = even * square + 1.0 / 24.0;
        odd = odd * square + 1.0 / 120.0;
        even = even * square + 0.5;
        odd = odd * square + 1.0 / 6.0;
        series = 1.0 + (r + square * (even + r * odd));
        memcpy(&bits, &shifted, sizeof(bits));
        bits = (bits + 1023) << 52;
        memcpy(&power, &bits, sizeof(power));
        return series * power;
    }

    /* log(1 + z) for 0 <= z <= 1: 2 artanh(s) with s = z / (2 + z); above sqrt(2) - 1,
       log(2) is taken out first, and (1 + z) / 2 is exact. */
    static inline double log_one_plus(double z)
    {
        double u = z > 0.41421356237309503 ? 0.5 * (z - 1.0) : z;
        double taken = z > 0.41421356237309503 ? 0.6931471805599453 : 0.0;
        double s = u / (2.0 + u);
        double square = s * s;
        double series = 1.0 / 21.0;
        series = series * square + 1.0 / 19.0;
        series = series * square + 1.0 / 17.0;
        series = series * square + 1.0 / 15.0;
        series = series * square + 1.0 / 13.0;
        series = series * square + 1.0 / 11.0;
        series = series * square + 1.0 / 9.0;
        series = series * square + 1.0 / 7.0;
        series = series * square + 1.0 / 5.0;
        series = series * square + 1.0 / 3.0;
        return taken + 2.0 * (s + s * square * series);
    }
    """
    double bounded_exp(double x) noexcept nogil
    double log_one_plus(double z) noexcept nogil
