"""Run workloads: check that the work was the same, then time it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import numpy as np

from benchmarks.measure import Timing, fit_exponent, median, time_alternately
from benchmarks.memory import measure_in_fresh_process
from benchmarks.peers import OWN
from benchmarks.same_work import SLACK_LEAVES, Comparer
from benchmarks.tasks import CART

#: Rows at which the growth of the time is fitted.
SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
#: More waiting than this, and the machine was too busy to be believed.
MOST_WAITING = 1.15
#: The rows of the memory workload.
MEMORY_ROWS = 1_000_000
#: What a fitted model takes, and the name of the figure in what is measured.
FOOTPRINTS = {"peak memory": "peak_bytes", "pickle": "pickle_bytes"}


@dataclass
class Comparison:
    """Ours against one peer with the same number of threads."""

    work: str
    n_threads: int
    peer: str
    ours: Timing
    theirs: Timing
    needed: float | None
    our_leaves: int
    peer_leaves: int
    our_score: float
    peer_score: float
    differences: list[str] = field(default_factory=list)

    @property
    def ratio(self):
        """How many times faster ours is, by the medians."""
        return median(self.theirs.seconds) / median(self.ours.seconds)

    @property
    def verdict(self):
        if self.differences:
            return "DIFFERENT WORK"
        if self.needed is None:
            return "-"
        return "pass" if self.ratio >= self.needed else "short"


@dataclass
class Figure:
    """A measured figure with a limit that it must not exceed."""

    work: str
    contender: str
    n_threads: int
    what: str
    value: float
    limit: float | None
    raw: dict

    @property
    def verdict(self):
        if self.limit is None:
            return "-"
        return "pass" if self.value <= self.limit else "short"


@dataclass
class Options:
    """What the command line asks for."""

    peers: list
    threads: tuple[int, ...]
    n_repeats: int = 5
    scale: float = 1.0
    is_large: bool = False


def _peer_threads(peer, n_threads):
    return n_threads if peer.is_threaded else 1


def _make_call(work, peer, task, n_threads):
    """The function to be timed: a whole fit, prediction or path."""
    if work.measure == "predict":
        model = peer.make_fit(task, n_threads)()
        return peer.make_predict(model, task, n_threads)
    if work.measure == "path":
        return peer.make_path(task, n_threads)
    return peer.make_fit(task, n_threads)


def find_path_differences(ours, theirs, n_last=20, tolerance=0.05):
    """Reasons why two cost-complexity paths are not the same work.

    The full trees differ by ties, so the small alphas do; the last steps, which
    cut off the top of the tree, must be the same but for the numbers of leaves.
    """
    reasons = []
    n_ours, n_theirs = len(ours.ccp_alphas), len(theirs.ccp_alphas)
    if abs(n_ours - n_theirs) > SLACK_LEAVES + tolerance * max(n_ours, n_theirs):
        reasons.append(f"paths of {n_ours} and {n_theirs} steps")
    n_last = max(1, min(n_last, n_ours // 4, n_theirs // 4))
    for name in ("ccp_alphas", "impurities"):
        one, other = getattr(ours, name)[-n_last:], getattr(theirs, name)[-n_last:]
        if not np.allclose(one, other, rtol=tolerance):
            reasons.append(f"the last {n_last} {name} of the paths differ")
    return reasons


def _find_reason(work, peer, task, options):
    """Why a peer is left out of a work, None if it is not."""
    reason = peer.refusal(task)
    if reason is not None:
        return reason
    if work.measure == "path" and not hasattr(peer, "make_path"):
        return "no cost-complexity path"
    if work.measure == "predict" and getattr(peer, "answers_held_out_only", False):
        return "asked for the rows held out only"
    most_rows = getattr(peer, "patient_rows", task.n_rows)
    most_rows = work.patient_rows.get(peer.name, most_rows)
    if task.n_rows > most_rows and not options.is_large:
        return f"slow from {most_rows} rows on, runs with --large only"
    return None


def _select_peers(work, task, options):
    """Peers that can do the work, and a note on each that cannot.

    There is no note on those that grow other trees.
    """
    peers, notes = [], []
    for peer in options.peers:
        if task.algorithm not in peer.algorithms:
            continue
        reason = _find_reason(work, peer, task, options)
        if reason is None:
            peers.append(peer)
        else:
            notes.append(f"{work.name}: {peer.name} left out: {reason}")
    return peers, notes


def find_waiting(work, times):
    """A note if calls that use one thread had to wait for a processor."""
    waiting = [
        timing.waiting
        for (peer, n_threads), timing in times.items()
        if n_threads == 1
        and (peer is OWN or not peer.is_threaded)
        and getattr(peer, "n_processes", 1) == 1
    ]
    most = max(waiting, default=1.0)
    if most <= MOST_WAITING:
        return []
    note = (
        f"{work.name}: the machine was busy (one thread took {most:.2f} times its "
        "processor time): measure again"
    )
    return [note]


def choose_threads(work, options):
    """Numbers of threads to time a work with."""
    if work.is_for_threads and not options.is_large:
        return replace(options, threads=(max(options.threads),))
    return options


def compare_with_peers(work, options):
    """Check, then time ours at every number of threads and all peers, in turns."""
    options = choose_threads(work, options)
    task = work.make_task(options.scale)
    peers, notes = _select_peers(work, task, options)
    comparer = Comparer(OWN, task, max(options.threads), work.find_tolerance)
    checked = {peer.name: comparer.compare(peer) for peer in peers}
    calls = {(OWN, n): _make_call(work, OWN, task, n) for n in options.threads}
    for peer in peers:
        for n in {_peer_threads(peer, n) for n in options.threads}:
            calls[peer, n] = _make_call(work, peer, task, n)
    path_differences = {peer.name: [] for peer in peers}
    if work.measure == "path":
        ours = calls[OWN, options.threads[0]]()
        for peer in peers:
            theirs = calls[peer, _peer_threads(peer, options.threads[0])]()
            path_differences[peer.name] = find_path_differences(ours, theirs)
    times = time_alternately(calls, options.n_repeats)
    comparisons = []
    for n_threads in options.threads:
        for peer in peers:
            ours, theirs, differences = checked[peer.name]
            comparisons.append(
                Comparison(
                    work.name,
                    n_threads,
                    peer.name,
                    times[OWN, n_threads],
                    times[peer, _peer_threads(peer, n_threads)],
                    work.needed_ratio(peer.name, n_threads),
                    ours.n_leaves,
                    theirs.n_leaves,
                    ours.score,
                    theirs.score,
                    differences + path_differences[peer.name],
                )
            )
    notes += find_waiting(work, times)
    figures = []
    if not peers:
        figures = [
            Figure(
                work.name, OWN.name, n, "seconds", median(t.seconds), None, asdict(t)
            )
            for (_, n), t in times.items()
        ]
    return comparisons, figures, notes


def measure_scaling(work, options):
    """Exponent of our time over the number of rows."""
    tasks = [work.make_task(options.scale * n / 100_000) for n in SIZES]
    sizes = [task.n_rows for task in tasks]
    figures = []
    for n_threads in options.threads:
        calls = {task.n_rows: OWN.make_fit(task, n_threads) for task in tasks}
        times = time_alternately(calls, options.n_repeats)
        if len(times) < 2:
            raise ValueError(f"{work.name} needs two different sizes; raise --scale")
        value = fit_exponent(list(times), [median(t.seconds) for t in times.values()])
        figures.append(
            Figure(
                work.name,
                OWN.name,
                n_threads,
                f"exponent, {sizes[0]} to {sizes[-1]} rows",
                value,
                work.limit,
                {str(n): asdict(t) for n, t in times.items()},
            )
        )
    return figures


def measure_multiple(work, options):
    """Time of our fit over that of a plain tree of the same table."""
    task = work.make_task(options.scale)
    tasks = {"fit": task, "plain": replace(task, algorithm=CART)}
    calls = {
        (what, n): OWN.make_fit(each, n)
        for n in options.threads
        for what, each in tasks.items()
    }
    times = time_alternately(calls, options.n_repeats)
    figures = []
    for n_threads in options.threads:
        pair = {what: times[what, n_threads] for what in tasks}
        seconds = {what: median(timing.seconds) for what, timing in pair.items()}
        figures.append(
            Figure(
                work.name,
                OWN.name,
                n_threads,
                f"times one fit, {task.n_rows} rows",
                seconds["fit"] / seconds["plain"],
                work.limit,
                {what: asdict(timing) for what, timing in pair.items()},
            )
        )
    plain = {(OWN, n): times["plain", n] for n in options.threads}
    return figures, find_waiting(work, plain)


def measure_memory(work, options):
    """Peak memory of ours, and of the peers too for a large run."""
    task = work.make_task(options.scale * MEMORY_ROWS / 100_000)
    others = [p for p in options.peers if task.algorithm in p.algorithms]
    peers = [OWN, *(others if options.is_large else [])]
    n_threads = max(options.threads)
    measured = measure_in_fresh_process(task, peers, n_threads)
    return [
        Figure(
            work.name,
            name,
            n_threads,
            f"peak over X, {task.n_rows} rows",
            raw["times_x"],
            work.limit if name == OWN.name else None,
            raw,
        )
        for name, raw in measured.items()
    ]


def measure_footprint(work, options):
    """Peak memory of our fit and size of our pickle over those of each peer."""
    task = work.make_task(options.scale)
    peers, notes = _select_peers(work, task, options)
    peers = [peer for peer in peers if hasattr(peer, "make_estimator")]
    n_threads = max(options.threads)
    measured = measure_in_fresh_process(task, [OWN, *peers], n_threads)
    ours = measured[OWN.name]
    raw = {"task_rows": task.n_rows, "task_trees": task.n_trees, "measured": measured}
    figures = [
        Figure(work.name, OWN.name, n_threads, f"{what}, bytes", ours[key], None, raw)
        for what, key in FOOTPRINTS.items()
    ]
    for peer in peers:
        theirs = measured[peer.name]
        for what, key in FOOTPRINTS.items():
            limit = work.limit if peer.name in work.needed else None
            value = ours[key] / theirs[key]
            what = f"{what} over {peer.name}'s"
            figures.append(
                Figure(work.name, OWN.name, n_threads, what, value, limit, raw)
            )
    return figures, notes


def run_work(work, options):
    """Comparisons, figures and notes of one workload."""
    if work.measure == "scaling":
        return [], measure_scaling(work, options), []
    if work.measure == "memory":
        return [], measure_memory(work, options), []
    if work.measure == "footprint":
        return [], *measure_footprint(work, options)
    if work.measure == "multiple":
        return [], *measure_multiple(work, options)
    return compare_with_peers(work, options)
