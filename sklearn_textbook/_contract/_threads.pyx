"""How many threads OpenMP allows: 1 where the build has none."""

cdef extern from *:
    """
    #ifdef _OPENMP
    #include <omp.h>
    static int count_openmp_threads(void) { return omp_get_max_threads(); }
    #else
    static int count_openmp_threads(void) { return 1; }
    #endif
    """
    int count_openmp_threads() noexcept nogil


def get_max_threads():
    """Threads of a parallel region; follows OMP_NUM_THREADS and threadpoolctl."""
    return count_openmp_threads()
