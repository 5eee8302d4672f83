"""Results of parallel tasks, one after the other, by any joblib backend."""

from __future__ import annotations

import warnings
from contextlib import closing, suppress

from sklearn.utils.parallel import Parallel, delayed

from sklearn_textbook._contract.threads_at_exit import Call


def open_parallel(**options):
    """Open joblib's workers so that results come as they are ready, if possible.

    Parameters
    ----------
    **options : dict
        For ``Parallel``, such as ``n_jobs``.

    Returns
    -------
    parallel : Parallel
        Its ``return_generator`` is False for backends that return all results at the
        end, as "multiprocessing" and Ray's.
    """
    try:
        return Parallel(return_as="generator", **options)
    except ValueError:  # which has no class of its own; a wrong option fails again
        return Parallel(**options)


def yield_results(parallel, tasks):
    """Yield the results of tasks in their order; closing the generator ends the work.

    Parameters
    ----------
    parallel : Parallel
        From ``open_parallel``.
    tasks : iterable of tuples
        Functions, each with its arguments, which backends of clusters look at.

    Yields
    ------
    result : object
        What a task returned.
    """
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


def report_members(members, n_members, verbose):
    """Yield members as they come and print how many there are.

    Parameters
    ----------
    members : generator
        The members.
    n_members : int
        How many will come.
    verbose : int
        0 prints nothing, 1 about ten lines, a larger number a line for each member.

    Yields
    ------
    member : estimator
        As they come.
    """
    step = -(-n_members // 10) if verbose == 1 else 1
    with closing(members):
        for count, member in enumerate(members, 1):
            if verbose and (count % step == 0 or count == n_members):
                print(f"{count} of {n_members} members fitted")
            yield member
