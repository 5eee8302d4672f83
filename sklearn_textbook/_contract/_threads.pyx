"""Threads that take tasks from one queue, and sleep while there are none.

A team of threads exists for one call of a kernel. The calling thread works, too, and
only waits for threads that have begun a task and not ended it: threads that a busy
machine starts late cost no time. A waiting thread spins for about as long as waking it
would take, and then sleeps.

The threads are detached: one that starts only after the team was stopped ends at once,
and the last one frees the memory. Whatever the tasks use is safe to free once
``run_tasks`` has returned.
"""

from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free

import numpy as np

from sklearn_textbook._contract._interrupt cimport (
    MILLISECONDS_PER_CHECK,
    UNITS_PER_LOOK,
    Interrupt,
    must_stop,
    raise_failure,
    start_interrupt,
)

cdef extern from "Python.h":
    int PyThreadState_SetAsyncExc(unsigned long, PyObject*)

cdef extern from "pythread.h" nogil:
    enum:
        WAIT_LOCK
        NOWAIT_LOCK
    unsigned long PYTHREAD_INVALID_THREAD_ID
    unsigned long PyThread_start_new_thread(void (*)(void*) noexcept nogil, void*)
    PyThread_type_lock PyThread_allocate_lock()
    void PyThread_free_lock(PyThread_type_lock)
    ctypedef enum PyLockStatus:
        LOCK_ACQUIRED "PY_LOCK_ACQUIRED"
    int PyThread_acquire_lock(PyThread_type_lock, int)
    PyLockStatus PyThread_acquire_lock_timed(PyThread_type_lock, long long, int)
    void PyThread_release_lock(PyThread_type_lock)


cdef extern from * nogil:
    """
    /* Linux may leave a new thread on the core of the one that started it, to wait
       there for a millisecond or two while other cores have nothing to do. */
    #if defined(__linux__) && !defined(__ANDROID__)
    #include <pthread.h>
    #include <sched.h>

    static void move_elsewhere(unsigned long ident)
    {
        cpu_set_t cores;
        int own = sched_getcpu();
        if (own < 0 || sched_getaffinity(0, sizeof(cores), &cores))
            return;
        CPU_CLR(own, &cores);
        if (CPU_COUNT(&cores))
            pthread_setaffinity_np((pthread_t)ident, sizeof(cores), &cores);
    }

    static unsigned long get_native_id(void)
    {
        return PyThread_get_thread_native_id();
    }

    static void allow_cores_of(unsigned long native_id)
    {
        cpu_set_t cores;
        if (!sched_getaffinity((pid_t)native_id, sizeof(cores), &cores))
            sched_setaffinity(0, sizeof(cores), &cores);
    }
    #else
    #define move_elsewhere(ident)
    #define get_native_id() 0
    #define allow_cores_of(native_id)
    #endif
    """
    void move_elsewhere(unsigned long ident)
    unsigned long get_native_id()
    void allow_cores_of(unsigned long native_id)


cdef enum:
    # A thread takes this part of its fraction of what is left at a time, or one task.
    PARTS = 32
    # Number of checks that a waiting thread makes before it sleeps.
    N_TRIES = 4000
    MICROSECONDS_PER_CHECK = 1000 * MILLISECONDS_PER_CHECK


cdef PyThread_type_lock make_locked() noexcept nogil:
    """A lock to sleep on until it is released; NULL when memory runs out."""
    cdef PyThread_type_lock lock = PyThread_allocate_lock()
    if lock != NULL:
        PyThread_acquire_lock(lock, WAIT_LOCK)
    return lock


cdef void wait_for(PyThread_type_lock lock, Interrupt* interrupt) noexcept nogil:
    """Acquire a lock that another thread will release, and meanwhile check for
    signals, unless interrupt is NULL."""
    cdef int _i
    for _i in range(N_TRIES):
        if PyThread_acquire_lock(lock, NOWAIT_LOCK):
            return
    if interrupt == NULL:
        PyThread_acquire_lock(lock, WAIT_LOCK)
        return
    while PyThread_acquire_lock_timed(lock, MICROSECONDS_PER_CHECK, 0) != LOCK_ACQUIRED:
        must_stop(interrupt, UNITS_PER_LOOK)


cdef void free_team(ThreadTeam* team) noexcept nogil:
    """Free a team that no thread reads any more; what was not allocated is NULL."""
    cdef int i
    if team.helpers != NULL:
        for i in range(team.n_helpers):
            PyThread_free_lock(team.helpers[i].wake)
    if team.done != NULL:
        PyThread_free_lock(team.done)
    if team.lock != NULL:
        PyThread_free_lock(team.lock)
    free(team.helpers)
    free(team)


cdef void leave_team(ThreadTeam* team) noexcept nogil:
    """Release the lock; the last one frees the team."""
    cdef bint is_last
    team.n_users -= 1
    is_last = team.n_users == 0
    PyThread_release_lock(team.lock)
    if is_last:
        free_team(team)


cdef void take_tasks(ThreadTeam* team, int thread) noexcept nogil:
    """Run tasks until all are taken. The lock is held before and after."""
    cdef int64_t task, stop
    while team.next_task < team.n_tasks:
        task = team.next_task
        # Several at a time while many are left, so that the lock is seldom taken; one
        # at a time in the end, so that all threads end together.
        stop = task + 1 + (team.n_tasks - task) // (PARTS * (team.n_helpers + 1))
        team.next_task = stop
        PyThread_release_lock(team.lock)
        while task < stop:
            team.function(team.context, task, thread)
            task += 1
        PyThread_acquire_lock(team.lock, WAIT_LOCK)


cdef void help_team(void* argument) noexcept nogil:
    """The main loop of a helper, until the team is stopped."""
    cdef:
        Helper* helper = <Helper*> argument
        ThreadTeam* team = helper.team
    allow_cores_of(team.caller)
    PyThread_acquire_lock(team.lock, WAIT_LOCK)
    while not team.is_stopped:
        if team.next_task < team.n_tasks:
            # While it is busy, run_tasks does not return: the context stays valid.
            team.n_busy += 1
            take_tasks(team, helper.thread)
            team.n_busy -= 1
            if team.n_busy == 0 and team.is_awaited:
                team.is_awaited = False
                PyThread_release_lock(team.done)
        else:
            # Set under the lock, so that whoever adds tasks later wakes this helper.
            helper.is_asleep = True
            PyThread_release_lock(team.lock)
            wait_for(helper.wake, NULL)
            PyThread_acquire_lock(team.lock, WAIT_LOCK)
    leave_team(team)


cdef void wake_helpers(ThreadTeam* team, int64_t n_wanted) noexcept nogil:
    """Wake some of the sleeping threads. The lock is held."""
    cdef int i
    for i in range(team.n_helpers):
        if i >= n_wanted:
            break
        if team.helpers[i].is_asleep:
            team.helpers[i].is_asleep = False
            PyThread_release_lock(team.helpers[i].wake)


cdef bint start_helper(ThreadTeam* team) noexcept nogil:
    """Start one more thread; False if that is not possible."""
    cdef:
        Helper* helper = &team.helpers[team.n_helpers]
        unsigned long ident
    helper.wake = make_locked()
    if helper.wake == NULL:
        return False
    helper.team = team
    helper.thread = team.n_helpers + 1
    PyThread_acquire_lock(team.lock, WAIT_LOCK)
    # Counted before it starts, for it may end at once.
    team.n_users += 1
    team.n_helpers += 1
    PyThread_release_lock(team.lock)
    ident = PyThread_start_new_thread(help_team, helper)
    if ident != PYTHREAD_INVALID_THREAD_ID:
        # One that begins before this stays elsewhere as long as the team lives.
        move_elsewhere(ident)
        return True
    PyThread_acquire_lock(team.lock, WAIT_LOCK)
    team.n_users -= 1
    team.n_helpers -= 1
    PyThread_release_lock(team.lock)
    PyThread_free_lock(helper.wake)
    return False


cdef ThreadTeam* start_team(int n_threads, Interrupt* interrupt) noexcept:
    """Start threads; the calling thread is one of them, and checks for signals while it
    waits for the others.

    Returns NULL, a team of one thread, if no other is wanted or can be started; with
    fewer than requested the tasks take longer. Called with the interpreter's lock held,
    since starting a thread reads the interpreter's state of threads.
    """
    cdef:
        ThreadTeam* team
        bint is_complete
    if n_threads <= 1:
        return NULL
    team = <ThreadTeam*> calloc(1, sizeof(ThreadTeam))
    if team == NULL:
        return NULL
    team.n_users = 1
    team.interrupt = interrupt
    team.caller = get_native_id()
    team.helpers = <Helper*> calloc(n_threads - 1, sizeof(Helper))
    team.lock = PyThread_allocate_lock()
    team.done = make_locked()
    is_complete = team.helpers != NULL and team.lock != NULL and team.done != NULL
    while is_complete and team.n_helpers < n_threads - 1:
        is_complete = start_helper(team)
    if team.n_helpers == 0:
        free_team(team)
        return NULL
    return team


cdef void run_tasks(
    ThreadTeam* team, TaskFunction function, void* context, int64_t n_tasks
) noexcept nogil:
    """Call ``function(context, task, thread)`` once for each task from 0 on.

    Tasks are begun in ascending order, but end in any; all have ended on return. A task
    may start a team of its own, but not run tasks of this one.
    """
    cdef int64_t task
    if team == NULL or n_tasks <= 1:
        for task in range(n_tasks):
            function(context, task, 0)
        return
    PyThread_acquire_lock(team.lock, WAIT_LOCK)
    team.function, team.context = function, context
    team.n_tasks, team.next_task = n_tasks, 0
    wake_helpers(team, n_tasks - 1)
    take_tasks(team, 0)
    team.is_awaited = team.n_busy > 0
    if team.is_awaited:
        PyThread_release_lock(team.lock)
        wait_for(team.done, team.interrupt)
    else:
        PyThread_release_lock(team.lock)


cdef void stop_team(ThreadTeam* team) noexcept nogil:
    """Let the threads end. No task may be running."""
    if team == NULL:
        return
    PyThread_acquire_lock(team.lock, WAIT_LOCK)
    team.is_stopped = True
    wake_helpers(team, team.n_helpers)
    leave_team(team)


# Tasks of which none is begun after a signal was received.
cdef struct Stoppable:
    TaskFunction function
    void* context
    Interrupt interrupt


cdef void run_unless_stopped(void* context, int64_t task, int thread) noexcept nogil:
    """Run a task, unless a signal was received: the others are taken, but not begun.

    Each task counts as enough units for a look at the clock.
    """
    cdef Stoppable* tasks = <Stoppable*> context
    if not must_stop(&tasks.interrupt, UNITS_PER_LOOK):
        tasks.function(tasks.context, task, thread)


cdef int run_in_threads(
    int n_threads, TaskFunction function, void* context, int64_t n_tasks
) except -1:
    """Run tasks in a team made for this call. Ctrl-C ends it between two tasks."""
    cdef:
        Stoppable tasks
        ThreadTeam* team
    tasks.function, tasks.context = function, context
    start_interrupt(&tasks.interrupt)
    team = start_team(<int> min(<int64_t> n_threads, n_tasks), &tasks.interrupt)
    with nogil:
        run_tasks(team, run_unless_stopped, &tasks, n_tasks)
        stop_team(team)
    if tasks.interrupt.has_come:
        raise_failure(&tasks.interrupt)
    return 0


# ------------------------------------------------------------- work that is left
cdef class Flag:
    """A flag that kernels can look at without the interpreter's lock."""

    cdef int value

    @property
    def is_set(self):
        """Whether it is set."""
        return self.value != 0

    @property
    def address(self):
        """Where kernels find it."""
        return <size_t> &self.value

    def set(self):
        """Set the flag, for good."""
        self.value = 1


def raise_in_thread(unsigned long thread, exception):
    """Raise an exception in a thread once it runs Python code.

    Parameters
    ----------
    thread : int
        Its identifier.
    exception : type
        A class of exceptions.
    """
    PyThreadState_SetAsyncExc(thread, <PyObject*> exception)


# ------------------------------------------------------------------- for the tests
cdef struct Counting:
    int64_t* n_runs  # of each task
    int64_t* n_done  # by each thread
    int n_nested  # threads of the team that each task starts


cdef void count_task(void* context, int64_t task, int thread) noexcept nogil:
    """Count a run of a task and the thread that ran it, or start a team in the task."""
    cdef:
        Counting* counting = <Counting*> context
        Counting inner
    if counting.n_nested:
        inner.n_runs = counting.n_runs + task * counting.n_nested
        inner.n_done = NULL
        inner.n_nested = 0
        with gil:
            run_in_threads(counting.n_nested, count_task, &inner, counting.n_nested)
    else:
        counting.n_runs[task] += 1
    if counting.n_done != NULL:
        counting.n_done[thread] += 1


def count_runs(int n_threads, int64_t n_tasks, int n_calls=1, int n_nested=0):
    """Count how often each task was run, and how many each thread ran."""
    cdef:
        int64_t[::1] n_runs = np.zeros(n_tasks * max(1, n_nested) + 1, dtype=np.int64)
        int64_t[::1] n_done = np.zeros(n_threads, dtype=np.int64)
        Counting counting
        ThreadTeam* team = start_team(n_threads, NULL)
        int _call
    counting.n_runs, counting.n_done = &n_runs[0], &n_done[0]
    counting.n_nested = n_nested
    with nogil:
        for _call in range(n_calls):
            run_tasks(team, count_task, &counting, n_tasks)
        stop_team(team)
    return np.asarray(n_runs)[: n_runs.shape[0] - 1], np.asarray(n_done)
