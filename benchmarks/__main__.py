"""The command ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from benchmarks import instructions
from benchmarks.busy import WORKS as BUSY_WORKS
from benchmarks.busy import measure_slowdown
from benchmarks.measure import count_cores, installed_version, machine_facts
from benchmarks.peers import OWN, PEERS, sort_out_missing
from benchmarks.report import (
    format_comparisons,
    format_document_table,
    format_figures,
    format_missing,
    read_comparisons,
    write_json,
)
from benchmarks.run import Options, run_work
from benchmarks.works import WORKS

#: Studies and comparisons with options of their own, and their modules.
STUDIES = {
    "blocks": "blocks",
    "boosting": "boosting_study",
    "combinations": "combinations",
    "costs": "costs",
    "diversity": "diversity",
    "forests": "forest_study",
    "generalized-linear": "generalized_linear",
    "intervals": "intervals",
    "linear-leaves": "linear_leaves",
    "linear-models": "linear_models",
    "logistic-regression": "logistic_regression",
    "maximum-entropy": "maximum_entropy",
    "oblique": "oblique_study",
    "optimal-trees": "optimal_trees",
    "ordinary-tables": "ordinary_tables",
    "penalized": "penalized",
    "principal-components": "principal_components",
    "smooth-models": "smooth_models",
    "pruning": "pruning_study",
    "python-calls": "python_calls",
    "real-tables": "real_tables",
    "shapley": "shapley",
}
#: Exit status when a peer did not do the same work.
DIFFERENT_WORK = 1


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the workloads and the peers")
    run = commands.add_parser("run", help="run workloads")
    run.add_argument("works", nargs="+", metavar="WORK", help="a name, or 'all'")
    run.add_argument(
        "--against",
        nargs="+",
        metavar="PEER",
        default=list(PEERS),
        help="peers to compare with (default: all)",
    )
    run.add_argument("--json", metavar="FILE", help="write all raw times here")
    run.add_argument("--repeat", type=int, default=5, metavar="N", help="rounds")
    run.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="threads of ours and of threaded peers (default: 1, then all cores)",
    )
    run.add_argument(
        "--scale", type=float, default=1.0, help="multiply the numbers of rows by this"
    )
    run.add_argument(
        "--large",
        action="store_true",
        help="run peers, too, where that takes more than a minute",
    )
    busy = commands.add_parser("busy", help="several threads beside another program")
    busy.add_argument(
        "works",
        nargs="*",
        default=list(BUSY_WORKS),
        metavar="WORK",
        help=", ".join(BUSY_WORKS),
    )
    busy.add_argument("--repeat", type=int, default=9, metavar="N", help="rounds")
    busy.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    table = commands.add_parser("table", help="print results for the documentation")
    table.add_argument("files", nargs="+", metavar="FILE", help="written by --json")
    instructions.add_parser(commands)
    study = commands.add_parser(
        "study", help="compare accuracy, or one model with its peers"
    )
    study.add_argument("name", choices=STUDIES, metavar="NAME", help=", ".join(STUDIES))
    study.add_argument(
        "options", nargs=argparse.REMAINDER, help="of the study: see NAME --help"
    )
    return parser


def list_works():
    """Names of the workloads and peers."""
    width = max(map(len, WORKS))
    lines = [f"{work.name:<{width}}  {work.title}" for work in WORKS.values()]
    _, missing = sort_out_missing(PEERS)
    lines += ["", "peers: " + ", ".join(PEERS)]
    if missing:
        lines.append(format_missing(missing))
    return "\n".join(lines)


def _select(parser, arguments):
    names = list(WORKS) if "all" in arguments.works else arguments.works
    unknown = [name for name in names if name not in WORKS]
    if unknown:
        parser.error(f"unknown workload {', '.join(unknown)}; see 'list'")
    if arguments.repeat < 1 or arguments.scale <= 0:
        parser.error("--repeat and --scale must be positive")
    if arguments.threads is not None and arguments.threads < 1:
        parser.error("--threads must be at least 1")
    try:
        peers, missing = sort_out_missing(arguments.against)
    except ValueError as error:
        parser.error(str(error))
    return [WORKS[name] for name in names], peers, missing


def run_busy(parser, arguments):
    """Time works beside a busy program, and print how much slower they are."""
    if not set(arguments.works) <= set(BUSY_WORKS):
        parser.error(f"works beside a busy program: {', '.join(BUSY_WORKS)}")
    for work in arguments.works:
        for slowdown in measure_slowdown(work, arguments.scale, arguments.repeat):
            print(slowdown, flush=True)
    return 0


def main(arguments=None):
    """Run the command; the exit status is 1 if a peer did different work."""
    parser = make_parser()
    arguments = parser.parse_args(arguments)
    if arguments.command == "list":
        print(list_works())
        return 0
    if arguments.command == "table":
        comparisons = [c for path in arguments.files for c in read_comparisons(path)]
        print(format_document_table(comparisons))
        return 0
    if arguments.command == "instructions":
        return instructions.run(parser, arguments)
    if arguments.command == "study":
        module = import_module(f"benchmarks.{STUDIES[arguments.name]}")
        return module.main(arguments.options) or 0
    return _run_works(parser, arguments)


def _run_works(parser, arguments):
    """Run works, and print what was measured; the exit status."""
    if arguments.command == "busy":
        return run_busy(parser, arguments)
    works, peers, missing = _select(parser, arguments)
    threads = (arguments.threads,) if arguments.threads else (1, count_cores())
    options = Options(
        peers,
        tuple(dict.fromkeys(threads)),
        arguments.repeat,
        arguments.scale,
        arguments.large,
    )
    versions = {tool.name: tool.find_version() for tool in (OWN, *PEERS.values())}
    machine = machine_facts(versions | {"numpy": installed_version("numpy")})
    comparisons, figures, notes = [], [], []
    for work in works:
        print(f"running {work.name}: {work.title}", file=sys.stderr, flush=True)
        new_comparisons, new_figures, new_notes = run_work(work, options)
        comparisons += new_comparisons
        figures += new_figures
        notes += new_notes
    if comparisons:
        print(format_comparisons(comparisons))
    if figures:
        print(format_figures(figures))
    for note in notes:
        print(note)
    if missing:
        print(format_missing(missing))
    versions = ", ".join(f"{name} {v}" for name, v in machine["versions"].items() if v)
    print(f"{machine['cores']} cores, Python {machine['python']}, {versions}")
    if arguments.json:
        write_json(arguments.json, machine, missing, comparisons, figures, notes)
    return DIFFERENT_WORK if any(c.differences for c in comparisons) else 0


if __name__ == "__main__":
    sys.exit(main())
