# Handling of Ctrl-C within a kernel: the thread that called it looks now and then
# whether its work is still wanted, and the threads that help it stop with it.

from libc.stdint cimport int64_t

cdef extern from "Python.h" nogil:
    int PyErr_CheckSignals()
    void* PyErr_Occurred()
    unsigned long PyThread_get_thread_ident()

cdef extern from * nogil:
    """
    #include <time.h>

    typedef struct {
        volatile int has_come;
        unsigned long thread;  /* the one that looks; 0: none */
        const volatile int* is_left;  /* whether the call that a thread works for has
                                         ended; NULL in the main thread, which checks
                                         for signals */
        long long n_units;  /* since the last look at the clock */
        long long next_check;
    } Interrupt;

    #ifdef _WIN32
    __declspec(dllimport) unsigned long long __stdcall GetTickCount64(void);
    #endif

    static inline long long read_milliseconds(void)
    {
    #ifdef _WIN32
        return (long long)GetTickCount64();
    #else
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return 1000LL * now.tv_sec + now.tv_nsec / 1000000;
    #endif
    }
    """
    ctypedef struct Interrupt:
        bint has_come
        unsigned long thread
        const int* is_left
        int64_t n_units
        int64_t next_check

    int64_t read_milliseconds()

cdef enum:
    # A unit of work takes from a nanosecond to a microsecond.
    UNITS_PER_LOOK = 65536
    MILLISECONDS_PER_CHECK = 50

cdef inline int start_interrupt(Interrupt* interrupt) except -1:
    """Only the main thread gets signals. The others are told when the call that they
    work for has ended, if a ``Call`` runs them."""
    import threading

    from sklearn_textbook._contract.threads import find_flag

    cdef size_t address
    interrupt.has_come = False
    interrupt.n_units = 0
    interrupt.thread = 0
    interrupt.is_left = NULL
    interrupt.next_check = read_milliseconds() + MILLISECONDS_PER_CHECK
    if threading.get_ident() != threading.main_thread().ident:
        address = find_flag()
        if address == 0:
            return 0
        interrupt.is_left = <const int*>address
    interrupt.thread = PyThread_get_thread_ident()
    return 0

cdef inline void look(Interrupt* interrupt) noexcept nogil:
    """Look at the clock, and check whether to stop if it is time."""
    cdef int64_t now
    interrupt.n_units = 0
    if interrupt.has_come:
        return
    now = read_milliseconds()
    if now < interrupt.next_check:
        return
    interrupt.next_check = now + MILLISECONDS_PER_CHECK
    if interrupt.is_left != NULL:
        # Not the main thread: it only learns that nobody waits for its work.
        interrupt.has_come = interrupt.is_left[0]
        return
    with gil:
        # A handler may run here; if it raised, its exception stays set.
        interrupt.has_come = PyErr_CheckSignals() < 0

cdef inline bint must_stop(Interrupt* interrupt, int64_t n_units) noexcept nogil:
    """Whether to stop, since a signal was received; called before some units of work.
    The error is set for ``raise_failure``.

    A function that returns early leaves something incomplete, which whoever can return
    an error must not use: ``has_stopped`` tells."""
    if interrupt == NULL:
        return False
    if interrupt.thread != 0 and interrupt.thread == PyThread_get_thread_ident():
        interrupt.n_units += n_units
        if interrupt.n_units >= UNITS_PER_LOOK:
            look(interrupt)
    return interrupt.has_come

cdef inline bint has_stopped(const Interrupt* interrupt) noexcept nogil:
    """Whether `must_stop` has told some function to stop; interrupt may be NULL."""
    return interrupt != NULL and interrupt.has_come

cdef inline int raise_failure(const Interrupt* interrupt) except -1:
    """Raise the exception of a signal handler, or a MemoryError."""
    if PyErr_Occurred() != NULL:
        return -1
    if has_stopped(interrupt):
        from sklearn_textbook._contract.threads import CallEndedError

        raise CallEndedError("The call that this work was done for has ended.")
    raise MemoryError(
        "The nodes of a tree need more memory than there is: each keeps the weight "
        "of every class of y, or the value of every output. Fewer classes, "
        "max_depth, max_leaf_nodes or min_samples_leaf make the tree smaller."
    )
