"""The long runs, `make soak`: what the tests do a few times, hundreds and thousands of times.

    python -m tests.soak [names] [--resume] [--kills 1000] [--histories 50] [--watch-runs 100] ... [--seed 0]

Names pick parts ("kill-nine.sqlite") or all below a name ("hand-offs"). A part is done in several runs, and each run is
kept in tests/reliability/results when it has ended. A part begins anew unless `--resume` is given. In the end,
docs/reliability.md is rendered from all results, also after an interrupt. The exit status is 1 when a part has failed
or was interrupted. The seed decides what is tried; when it is tried, the machine decides.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Awaitable, Sequence

import uvloop

from tests.reliability import reliability_page, results
from tests.reliability.outcomes import Outcome, sum_of
from tests.reliability.results import Run
from tests.soak_parts import PARTS

RUN_SECONDS = 3600.0
"""A run that takes longer hangs."""
_BAR = 20
_SHOWN = 400


def main(words: Sequence[str]) -> int:
    arguments = _arguments(words)
    _silence()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell ignores it in the background, and programs inherit that
    try:
        outcomes = [_do(name, arguments) for name in PARTS if _is_picked(name, arguments.names) and _is_possible(name)]
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted; the runs that have ended are kept, --resume continues behind them.\n")
        outcomes = [False]
    reliability_page.write(results.load_all())
    return 0 if all(outcomes) else 1


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="The long runs.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"parts to run: {', '.join(PARTS)}")
    parser.add_argument("--resume", action="store_true", help="continue behind the runs that are kept")
    parser.add_argument("--kills", type=int, default=1_000, help="kill -9 of a process that writes to a store, a part")
    parser.add_argument("--server-kills", type=int, default=250, help="kill -9 of a server, a part")
    parser.add_argument("--worker-kills", type=int, default=100, help="kill -9 of a worker beside a watch")
    parser.add_argument("--copies", type=int, default=1_000, help="copies of the files of a store that is written to")
    parser.add_argument("--hand-offs", type=int, default=10_000, help="list+watch hand-offs in the watch cache, a part")
    parser.add_argument("--informers", type=int, default=5_000, help="list+watch hand-offs over HTTP, a part")
    parser.add_argument("--lists", type=int, default=2_000, help="lists in pages under writes")
    parser.add_argument(
        "--histories", type=int, default=50, help="histories that are checked for linearizability, a part"
    )
    parser.add_argument("--watch-runs", type=int, default=50, help="runs of 200 watchers, a part")
    parser.add_argument("--long-watch-runs", type=int, default=34, help="the same with ten times the writes")
    parser.add_argument("--troubled-watch-runs", type=int, default=10, help="the same on an etcd in trouble")
    parser.add_argument("--losses", type=int, default=100, help="losses of the etcd of one of two replicas")
    parser.add_argument("--lease-updates", type=int, default=4_000_000, help="writes in compressed time")
    parser.add_argument("--cycles", type=int, default=1_000, help="starts and stops of a server")
    parser.add_argument("--interrupts", type=int, default=1_000, help="programs that are interrupted")
    parser.add_argument("--attack-seconds", type=float, default=100.0, help="how long a server is attacked")
    parser.add_argument("--starts", type=int, default=100, help="starts of five replicas")
    parser.add_argument("--pairs", type=int, default=20_000, help="writes on one replica and lists on another")
    parser.add_argument("--restarts", type=int, default=10, help="restarts of replicas behind a balancer")
    parser.add_argument("--requests", type=int, default=20_000, help="requests to this server and to KUBE_APISERVER")
    parser.add_argument("--fuzzed-requests", type=int, default=200_000)
    parser.add_argument("--examples", type=int, default=20, help="requests for each operation of the OpenAPI documents")
    parser.add_argument("--fuzzed-inputs", type=int, default=100_000, help="inputs for each function that reads bytes")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(words)
    for name in arguments.names:
        if not any(_is_picked(part, [name]) for part in PARTS):
            parser.error(f"no part is called {name}; there are {', '.join(PARTS)}")
    return arguments


def _silence() -> None:
    """Warnings are of no interest where trouble is made on purpose."""
    logging.getLogger("aio_apiserver.storage").setLevel(logging.ERROR)


def _is_picked(part: str, names: Sequence[str]) -> bool:
    return not names or any(part == name or part.startswith(f"{name}.") for name in names)


def _is_possible(name: str) -> bool:
    needs = PARTS[name].needs
    if needs and not os.environ.get(needs):
        sys.stdout.write(f"{name}: left out, since {needs} is not set\n")
        return False
    return True


def _do(name: str, arguments: argparse.Namespace) -> bool:
    """Do what is left of a part, in runs that are kept one by one; whether all is well."""
    part = PARTS[name]
    wanted = part.wanted(arguments)
    runs = list(results.load(name)) if arguments.resume else []
    while (done := sum(run.done for run in runs)) < wanted:
        _show(name, runs, wanted)
        runs.append(_run(name, min(part.at_once or 1, wanted - done), arguments.seed + done, arguments))
        results.keep(name, runs)
        if runs[-1].failure:
            break
    _show(name, runs, wanted)
    sys.stdout.write(f"\n{name}: {sum_of([run.outcome for run in runs])}\n")
    return not (runs and runs[-1].failure)


def _run(name: str, much: int, seed: int, arguments: argparse.Namespace) -> Run:
    """One run of a part, on an event loop of its own."""
    part, begun = PARTS[name], time.monotonic()
    chosen = argparse.Namespace(**{**vars(arguments), "seed": seed, part.much or "once": much})
    outcome, failure = Outcome(), ""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            outcome = runner.run(_in_time(part.work(chosen)))
    except Exception as exc:  # noqa: BLE001 - whatever went wrong is kept, and the other parts run all the same
        traceback.print_exc()
        failure = _shortened(f"{type(exc).__name__}: {exc}")
    return results.run_of(
        outcome, seed=seed, done=0 if failure else much, seconds=time.monotonic() - begun, failure=failure
    )


def _shortened(text: str) -> str:
    """The beginning and the end of a long message."""
    return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]} ... {text[-_SHOWN:]}"


async def _in_time(work: Awaitable[Outcome | str]) -> Outcome:
    async with asyncio.timeout(RUN_SECONDS):
        told = await work
    return Outcome(text=told.strip()) if isinstance(told, str) else told


def _show(name: str, runs: Sequence[Run], wanted: int) -> None:
    """The bar of a part's progress."""
    done = sum(run.done for run in runs)
    filled = _BAR * min(done, wanted) // wanted if wanted else _BAR
    seconds = sum(run.seconds for run in runs)
    failed = ", FAILED" * any(run.failure for run in runs)
    sys.stderr.write(
        f"\r{name:24} [{'#' * filled}{'.' * (_BAR - filled)}] {done:,}/{wanted:,} {seconds:,.0f} s{failed}"
    )
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
