"""reliability_page: the page docs/reliability.md with its plots, from the kept runs of `make soak`.

Must hold: the page shows what the results say, so that a test can compare the two. A run that failed
stays on the page.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks import plots
from benchmarks.plots import Panel
from tests.paths import ROOT
from tests.reliability.outcomes import sum_of
from tests.reliability.results import Run

PAGE = ROOT / "docs" / "reliability.md"
_FOUND = Path(__file__).with_name("found.md")
"""What the runs have found, with the test that holds it. It is written by hand."""
_HEAD = """\
# Nothing lost

`make soak` writes this page from its runs. Each run has a seed, and is kept in `tests/reliability/results` with its
date, its commit and its machine. With `--resume`, a part continues where its kept runs have ended, and a name picks a
part: `scripts/soak --resume kills.sqlite`. The tests of `make test` have a short form of each part.

A row says how much was done of what is wanted. The rest has not been run yet: the machine has two cores, and other work
beside. The runs do the same with every seed, so that what was done is a sample of what is wanted.

A violation is an observation that breaks the promise of its section. It ends the run, which stays on the page.
Latencies are those of clients on the same machine, beside other work. They show the course of a run, and no speed.
"""

Results = Mapping[str, Sequence[Run]]


class Section(Struct, frozen=True):
    """A section of the page. parts: the names of its parts, with the set-up in words. wanted: of each of them."""

    title: str
    promise: str
    parts: Mapping[str, str]
    unit: str
    wanted: int


SECTIONS: Sequence[Section] = (
    Section(
        "Durability of a server",
        "A server is killed with SIGKILL under 200 writes a second, 1,000 times in all. No acknowledged write is lost, "
        "and no resourceVersion goes back. Of two workers, one is killed, all of them, or their supervisor alone. On "
        "etcd, the server or etcd is killed.",
        {
            "kills.sqlite": "SQLite, one process",
            "kills.sqlite-workers": "SQLite, `--workers=2`",
            "kills.etcd": "etcd, one process",
            "kills.etcd-workers": "etcd, `--workers=2`",
        },
        "kills",
        250,
    ),
    Section(
        "Durability of a store",
        "A process that writes as fast as the store allows is killed with SIGKILL, and etcd with it. The history has "
        "each acknowledged write once, and one event for each revision.",
        {"kill-nine.sqlite": "SQLite", "kill-nine.etcd": "etcd"},
        "kills",
        1_000,
    ),
    Section(
        "A watch beside killed workers",
        "One of two workers is killed, again and again, under writes. A watch at the other worker goes on, and sees "
        "every acknowledged write.",
        {"kill-nine.workers": "two workers on SQLite"},
        "kills",
        100,
    ),
    Section(
        "Copies of the file",
        "The files of a SQLite store are copied while a process writes, as a snapshot of the file system does. In "
        "every second copy the end of the write-ahead log is torn. The copy opens with every acknowledged write.",
        {"copies.sqlite": "SQLite"},
        "copies",
        1_000,
    ),
    Section(
        "Linearizability",
        "10 clients create, update, delete, read and list the same 10 objects. One order of the operations "
        "explains all answers about each object.",
        {
            "linearizability.one": "one server on SQLite",
            "linearizability.replicas": "two servers on one etcd",
            "linearizability.workers": "two workers on SQLite that are killed",
            "linearizability.cluster": "two servers on three etcd members, whose leader is killed, frozen or cut off",
        },
        "histories",
        50,
    ),
    Section(
        "Watches",
        "200 watchers follow 1,000 writes, in 100 runs in all. 20 of the watchers are slow, and 40 select by a label. "
        "They lose their connections, and resume from the last version that they have seen. The history is compacted "
        "all the time. Each sees all its events once and in order.",
        {"watches.one": "one server on SQLite", "watches.replicas": "two servers on one etcd"},
        "runs",
        50,
    ),
    Section(
        "Watches of many writes",
        "The same with 10,000 writes in each run, in 100 runs and two more. Where workers are killed, history is "
        "kept, and the outcome of some writes is unknown.",
        {
            "watches.long": "one server on SQLite",
            "watches.long-replicas": "two servers on one etcd",
            "watches.long-workers": "two workers on SQLite that are killed",
        },
        "runs",
        34,
    ),
    Section(
        "Watches of an etcd in trouble",
        "200 watchers follow 1,000 writes while the leader of three etcd members is killed, frozen or cut off. Each "
        "acknowledged write is one event, and no write happens twice.",
        {"watches.cluster": "two servers on three etcd members"},
        "runs",
        10,
    ),
    Section(
        "Watches of a replica that was left behind",
        "One of two replicas is cut off from etcd, which compacts the changes meanwhile. Its clients get 410 and list "
        "again. The clients of the other replica see every event. All copies equal a final list.",
        {"watches.left-behind": "two servers on one etcd"},
        "losses",
        100,
    ),
    Section(
        "Replicas that start together",
        "Five replicas start at once on an empty etcd. Two of them are killed with SIGKILL within 2.5 seconds, and "
        "start again. All come up.",
        {"replicas.starts": "one etcd with reliable progress"},
        "starts",
        100,
    ),
    Section(
        "A write on one replica, a list on another",
        "Each of four clients writes an object on one replica, and then lists on the other one. The list has the "
        "write. The row says how much longer such a list takes than one alone.",
        {"replicas.reads": "one etcd with reliable progress"},
        "pairs",
        20_000,
    ),
    Section(
        "Rolling restart",
        "Two replicas restart in turns behind a TCP balancer, under 500 requests a second and 200 watches. No request "
        "fails, and no watch has to list again.",
        {"replicas.restarts": "one etcd with reliable progress"},
        "restarts",
        10,
    ),
    Section(
        "List, then watch",
        "A client lists at once, in pages, from the cache or as a watch, and watches from there, 10,000 times in all. "
        "Others write 200 times a second. Its copy equals a final list byte for byte.",
        {"informers.one": "one server on SQLite", "informers.replicas": "two servers on one etcd"},
        "hand-offs",
        5_000,
    ),
    Section(
        "List, then watch, in the watch cache",
        "The same without HTTP, under as many writes as the store takes.",
        {
            "hand-offs.memory": "memory",
            "hand-offs.sqlite": "SQLite",
            "hand-offs.etcd": "two servers on one etcd",
            "hand-offs.trouble": "two servers that lose their store and its history",
        },
        "hand-offs",
        10_000,
    ),
    Section(
        "Lists in pages",
        "Clients list in pages under 200 writes a second, while the server compacts its history twice a second. A list "
        "is of one snapshot, without a gap or a duplicate. After a 410, the token in the answer continues the list.",
        {"lists.pages": "one server on SQLite"},
        "lists",
        2_000,
    ),
    Section(
        "Storage over time",
        "A thousand leases are renewed every ten seconds of a clock that runs ahead, a million times in each run. The "
        "clock jumps, the disk is full for a while, and the store is opened again. Besides the history of the "
        "compaction window, the file has at most three times the live data and the log. A write costs at most 20 % "
        "more CPU time in the end. The health check tells that the disk is full, and the store recovers by itself.",
        {"aging.sqlite": "SQLite on a file system of 512 MiB"},
        "lease updates",
        4_000_000,
    ),
    Section(
        "Restart storm",
        "A server with 50,000 objects is killed and started, and 500 informers come at once. All are synced in 15 "
        "seconds, and memory stays below twice that of the end.",
        {"storms.restart": "SQLite"},
        "runs",
        1,
    ),
    Section(
        "Answers beside kube-apiserver",
        "Requests of the recordings, most of them a little wrong, go to this server and to a kube-apiserver of the "
        "same minor, which KUBE_APISERVER names. Each difference has a row in `tests/reliability/differences.toml`.",
        {"differential": "SQLite, and kube-apiserver on etcd"},
        "requests",
        20_000,
    ),
    Section(
        "Lifecycle of the test bench",
        "Servers are started and stopped, and programs are interrupted at random moments, 16 at once. No process, "
        "port, descriptor, task, folder or thread is left.",
        {"cycles.servers": "servers in one process", "cycles.programs": "programs that meet Ctrl-C"},
        "cycles",
        1_000,
    ),
)


def text(results: Results) -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for section in SECTIONS:
        parts += [f"## {section.title}\n", f"{textwrap.fill(section.promise, 120)}\n", _table(section, results)]
        if _lines(section, results):
            parts.append(f"\n![Latency of {section.title}](plots/{_plot_name(section)}.svg)")
        parts.append("")
    parts += ["## Other long runs\n", _others(results), "", _FOUND.read_text()]
    return "\n".join(parts)


def write(results: Results) -> None:
    """Write the page and its plots, and remove plots that the page does not show."""
    for old in plots.FOLDER.glob("reliability-*.svg"):
        old.unlink()
    for section in SECTIONS:
        if lines := _lines(section, results):
            plots.curves(
                _plot_name(section), [Panel(f"{title}, p99 in ms", {title: one}) for title, one in lines.items()]
            )
    PAGE.write_text(text(results))


def _table(section: Section, results: Results) -> str:
    lines = [
        f"| set-up | {section.unit} | violations | seen | time | seeds | when, commit, load |",
        "| --- | ---: | ---: | --- | ---: | --- | --- |",
    ]
    lines += [_row(section, words, results.get(name, ())) for name, words in section.parts.items()]
    machines = {run.machine for name in section.parts for run in results.get(name, ())}
    return "\n".join([*lines, *(f"\nMachine: {machine}." for machine in sorted(machines))])


def _row(section: Section, words: str, runs: Sequence[Run]) -> str:
    done = sum(run.done for run in runs)
    cells = [words, f"{done:,} of {section.wanted:,}", *_cells(runs)]
    return f"| {' | '.join(cells)} |"


def _cells(runs: Sequence[Run]) -> Iterator[str]:
    if not runs:
        yield from ("", "not run", "", "", "")
        return
    failures = [run.failure for run in runs if run.failure]
    yield str(len(failures))
    yield (
        "; ".join(filter(None, [str(sum_of([run.outcome for run in runs])), *failures]))
        .replace("\n", " ")
        .replace("|", "/")
    )
    yield f"{sum(run.seconds for run in runs):,.0f} s"
    yield ", ".join(_spans(runs))
    yield "; ".join(_origins(runs))


def _spans(runs: Sequence[Run]) -> Iterator[str]:
    """The seeds of the runs. A run of much work has one seed for each piece of it, or begins with its seed."""
    first = last = None
    for run in sorted(runs, key=lambda one: one.seed):
        if first is not None and run.seed == last:
            last = run.seed + run.done
            continue
        if first is not None:
            yield f"{first}-{(last or 1) - 1}"
        first, last = run.seed, run.seed + max(run.done, 1)
    if first is not None:
        yield f"{first}-{(last or 1) - 1}"


def _origins(runs: Sequence[Run]) -> Iterator[str]:
    for date, commit in sorted({(run.date, run.commit) for run in runs}):
        loads = [run.load for run in runs if (run.date, run.commit) == (date, commit)]
        yield f"{date}, {commit}, {min(loads):.1f}-{max(loads):.1f}"


def _others(results: Results) -> str:
    shown = {name for section in SECTIONS for name in section.parts}
    lines = [
        "| part | done | violations | seen | time | seeds | when, commit, load |",
        "| --- | ---: | ---: | --- | ---: | --- | --- |",
    ]
    for name, runs in results.items():
        if name not in shown:
            lines.append(f"| {name} | {sum(run.done for run in runs):,} | {' | '.join(_cells(runs))} |")
    return "\n".join(lines)


def _lines(section: Section, results: Results) -> Mapping[str, Sequence[tuple[float, float]]]:
    """The p99 of each part over the seconds of its runs, one run behind the other."""
    found = {words: list(_points(results.get(name, ()))) for name, words in section.parts.items()}
    return {words: points for words, points in found.items() if points}


def _points(runs: Sequence[Run]) -> Iterator[tuple[float, float]]:
    begin = 0.0
    for run in runs:
        for moment in run.outcome.moments:
            yield begin + moment.second, moment.p99
        begin += run.seconds


def _plot_name(section: Section) -> str:
    return f"reliability-{section.title.lower().replace(',', '').replace(' ', '-')}"
