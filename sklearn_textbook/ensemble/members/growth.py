"""Parallel tasks, and growing the members of an ensemble of trees with them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial

from joblib import effective_n_jobs
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from sklearn_textbook._contract.file_memory import limit_in_files
from sklearn_textbook._contract.threads import Call, check_n_jobs, count_threads

# ------------------------------------------------------------------------------------
# Results of parallel tasks, one after the other, by any joblib backend.
# ------------------------------------------------------------------------------------


def open_parallel(**options) -> Parallel:
    """Open joblib's workers so that results come as they are ready, if possible."""
    try:
        return Parallel(return_as="generator", **options)
    except ValueError:  # which has no class of its own; a wrong option fails again
        return Parallel(**options)


def yield_results(parallel: Parallel, tasks: Iterable[tuple]) -> Iterator[object]:
    """Yield the results of tasks in order; closing the generator ends the work."""
    with Call() as call:
        results = parallel(delayed(call.run)(*task) for task in tasks)
        try:
            # Not ``yield from``, which would close the results before the code below.
            for result in results:  # noqa: UP028
                yield result
        finally:
            call.leave()
            if parallel.return_generator:
                # joblib warns of results that are left out, which is intended here.
                # Its threads change the filters of warnings too, so an error may come
                # through.
                with warnings.catch_warnings(), suppress(UserWarning):
                    warnings.simplefilter("ignore", UserWarning)
                    results.close()


def report_members(members, n_members: int, verbose: int):
    """Yield members as they come and print how many there are."""
    step = -(-n_members // 10) if verbose == 1 else 1
    with closing(members):
        for count, member in enumerate(members, 1):
            if verbose and (count % step == 0 or count == n_members):
                print(f"{count} of {n_members} members fitted")
            yield member


#: Maximum number of rows of a batch of trees, for which an interruption has to wait.
_BATCH_ROWS = 200_000
_BATCHES_PER_JOB = 8
#: Bytes of memory that a tree goes through at each level, for each row.
_GROWTH_BYTES = 150


def count_jobs(n_jobs: int | None) -> int:
    """Count the workers for ``n_jobs``; None: those of the joblib backend in use."""
    if n_jobs is not None:
        check_n_jobs(n_jobs)
        return max(1, effective_n_jobs(n_jobs))
    n_workers = effective_n_jobs(None)
    return n_workers if n_workers > 1 else count_threads(None)


def count_at_once(n_jobs: int | None, n_rows: int) -> int:
    """Count the trees that grow at the same time.

    Of a table in files there are no more than fit into the memory; more would evict
    each other's pages.
    """
    n_workers, limit = count_jobs(n_jobs), limit_in_files()
    if not limit:
        return n_workers
    return max(1, min(n_workers, limit // (_GROWTH_BYTES * n_rows)))


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
    grower,
    draw,
    seeds: list[int],
    n_jobs: int | None = None,
    verbose: int = 0,
    *,
    grow_batch: Callable = grow_batch,
    share: Callable | None = None,
):
    """Grow one member per seed; the members do not depend on ``n_jobs``."""
    n_workers = count_at_once(n_jobs, grower.n_rows)
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
