"""Growing the members of an ensemble of trees, in threads or on other machines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

from joblib import effective_n_jobs
from sklearn import config_context, get_config

from sklearn_textbook._contract.threads import check_n_jobs, count_threads
from sklearn_textbook._contract.threads_at_exit import Call
from sklearn_textbook.ensemble.members.parallel_results import (
    open_parallel,
    report_members,
    yield_results,
)

#: Maximum number of rows of a batch of trees, for which an interruption has to wait.
_BATCH_ROWS = 200_000
_BATCHES_PER_JOB = 8


def count_jobs(n_jobs):
    """Count the workers for ``n_jobs``; None: those of the joblib backend in use.

    Parameters
    ----------
    n_jobs : int or None
        None outside of any ``joblib.parallel_config``: one per core.

    Returns
    -------
    n_workers : int
        At least 1.
    """
    if n_jobs is not None:
        check_n_jobs(n_jobs)
        return max(1, effective_n_jobs(n_jobs))
    n_workers = effective_n_jobs(None)
    return n_workers if n_workers > 1 else count_threads(None)


def grow_batch(grower, draw, seeds, **options):
    """Grow the members with these seeds, one after the other."""
    options["design_effect"] = draw.design_effect
    return [grower.grow(draw.weigh(seed), seed, **options) for seed in seeds]


def run_aside(function, batches):
    """Do one batch after the other in a thread, so that waiting can be interrupted.

    Python handles Ctrl-C in the main thread only, which must not be busy with a tree of
    many rows.
    """
    config = get_config()

    def run_configured(batch):
        with config_context(**config):
            return function(batch)

    executor = ThreadPoolExecutor(1)
    try:
        with Call() as call:
            for batch in batches:
                yield from executor.submit(call.run, run_configured, batch).result()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def grow_aside(grower, draw, batches, grow_batch=grow_batch):
    """Grow the members of one batch after the other in a thread."""
    return run_aside(partial(grow_batch, grower, draw), batches)


def grow_members(
    grower, draw, seeds, n_jobs=None, verbose=0, *, grow_batch=grow_batch, share=None
):
    """Grow one member per seed; the members do not depend on ``n_jobs``.

    Parameters
    ----------
    grower : MemberGrower
        Grows them.
    draw : RowDraw
        Which rows each of them is fitted to.
    seeds : list of int
        Their seeds.
    n_jobs : int, default=None
        Number of workers: threads, or what the joblib backend in use has.
    verbose : int, default=0
        How often the number of members grown is printed; see ``report_members``.
    grow_batch : function, default=grow_batch
        Grows the members with some seeds; called with ``grower, draw, seeds``.
    share : function, default=None
        Gives a member from another process the objects that all share; None:
        ``grower.share``.

    Yields
    ------
    member : tree estimator
        In the order of the seeds.
    """
    n_workers = count_jobs(n_jobs)
    size = min(
        max(1, len(seeds) // (_BATCHES_PER_JOB * n_workers)),
        max(1, _BATCH_ROWS // grower.n_rows),
    )
    if n_workers == 1:
        grown = grow_aside(grower, draw, cut_batches(seeds, size), grow_batch)
    else:
        share = grower.share if share is None else share
        grown = _grow_in_parallel(
            grower, draw, seeds, size, n_workers, grow_batch, share
        )
    yield from report_members(grown, len(seeds), verbose)


def _grow_in_parallel(grower, draw, seeds, size, n_workers, grow_batch, share):
    """Grow batches of members by joblib's workers."""
    parallel = open_parallel(n_jobs=n_workers, prefer="threads")
    if not parallel.return_generator:
        # Results arrive only at the end, and the table is sent with every batch.
        size = -(-len(seeds) // n_workers)
    tasks = [(grow_batch, grower, draw, batch) for batch in cut_batches(seeds, size)]
    with closing(yield_results(parallel, tasks)) as grown:
        for members in grown:
            yield from map(share, members)


def cut_batches(seeds, size):
    """Cut a list into batches of some size, of which the last may be smaller."""
    return [seeds[first : first + size] for first in range(0, len(seeds), size)]
