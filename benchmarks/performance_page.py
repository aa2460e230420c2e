"""performance_page: the page docs/performance.md with its plots, from the figures of one run.

Must hold: the page names date, commit and machine, and each ratio is to the first server of the same run. It names each
target that is not met. The text below the heading Explanations is written by hand, and kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import origin, plots
from benchmarks.load import Sample

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
_HEAD = """\
# Performance

`scripts/bench side-by-side` writes this page, but for the explanations at its end. It gives several servers the same
load in turns. Figures count as ratios of one run, since the clients share the machine with the servers.

Measured on {date} at commit {commit}, on {machine}: {scale}.
"""
_EXPLANATIONS = "## Explanations\n"
_PACED = "events/s"
"""The end of the names of work at a given rate, whose latencies count."""

Value = Callable[[Sample, Sample], float]
"""A figure of a server, from its sample and that of the first server."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a figure of each server."""

    name: str
    by_server: Mapping[str, Sample]
    unit: str = "/s"

    @property
    def is_paced(self) -> bool:
        """Whether the rate was given."""
        return self.name.endswith(_PACED)


@dataclass(frozen=True, slots=True)
class Target:
    """What the ratio to the first server should be, with one process and with all cores. Latencies and memory should be
    smaller, rates larger.
    """

    of_one: float
    of_all: float | None = None


TARGETS: Mapping[str, Target] = {
    "GET a pod, JSON": Target(3, 4),
    "GET a pod, protobuf": Target(3, 4),
    "create config maps": Target(1, 1.5),
    "create pods": Target(1, 1.5),
    "watch, 100 watchers x": Target(3),
    "watch, 500 watchers x": Target(3),
    "watch, 100 watchers, ": Target(1),
    "watch, 500 watchers, ": Target(1),
    "LIST all pods": Target(6),
    "LIST 10 % by label": Target(4),
    "LIST limit=500, 8": Target(4),
    "LIST limit=500 as Table": Target(2),
    "LIST limit=500, protobuf": Target(2),
    "resident memory, idle": Target(0.35),
    "resident memory after": Target(0.2),
}
"""By the beginning of the name of the work."""


def table(rows: Sequence[Row]) -> str:
    """The figures with their ratios to the first server, as Markdown."""
    servers = list(rows[0].by_server)
    lines = [f"| work | {' | '.join(servers)} |", f"| --- |{' ---: |' * len(servers)}"]
    shown = [row for row in rows if not row.is_paced]
    lines += [f"| {row.name} | {' | '.join(_cell(row, server, servers[0]) for server in servers)} |" for row in shown]
    return "\n".join(lines)


def latencies(rows: Sequence[Row]) -> str:
    """Latencies and CPU time, as Markdown."""
    servers = list(rows[0].by_server)
    shown = [row for row in rows if row.by_server[servers[0]].p99]
    lines = [f"| p50 / p99 in ms, CPU in µs | {' | '.join(servers)} |", f"| --- |{' ---: |' * len(servers)}"]
    for row in shown:
        cells = (_latency(row.by_server[server]) for server in servers)
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def missed(rows: Sequence[Row]) -> Sequence[str]:
    """The targets that are not met, a line each."""
    first = next(iter(rows[0].by_server))
    return [
        f"- {row.name}, {server}: {ratio:.2f}x, wanted {'at most' if is_less else 'at least'} {wanted:g}x"
        for row in rows
        for beginning, target in TARGETS.items()
        if row.name.startswith(beginning)
        for server in row.by_server
        if server != first and (wanted := target.of_all if "all cores" in server else target.of_one) is not None
        for ratio, is_less in [_ratio(row, server, first)]
        if (ratio > wanted if is_less else ratio < wanted)
    ]


def write(rows: Sequence[Row], scale: str) -> None:
    """Write the page and its plots."""
    timed = [row for row in rows if row.unit == "/s" and not row.is_paced]
    _bars("ratios", "times the rate of the first server", timed, lambda one, first: one.rate / first.rate)
    _bars("cpu", "CPU time a request, in µs", timed, lambda one, _: one.cpu * 1e6, is_log=True)
    head = _HEAD.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}", commit=origin.commit(), machine=origin.machine(), scale=scale
    )
    parts = [
        head,
        table(rows),
        "\n![Rates](plots/ratios.svg)\n",
        "## Latency and CPU time\n",
        "The CPU time is that of the server's processes and, behind the plus, that of the clients. That of a watch is",
        "for each delivery: one event at one watcher. Its latency is the time since the create was sent.\n",
        latencies(rows),
        "\n![CPU time](plots/cpu.svg)\n",
        "## Targets that are not met\n",
        "\n".join(missed(rows)) or "None.",
        "",
        explanations(PAGE.read_text()),
    ]
    PAGE.write_text("\n".join(parts))


def explanations(page: str) -> str:
    """The part of the page that is written by hand."""
    return _EXPLANATIONS + page.partition(_EXPLANATIONS)[2]


def _ratio(row: Row, server: str, first: str) -> tuple[float, bool]:
    """The figure that has a target as a ratio, and whether less is better."""
    one, base = row.by_server[server], row.by_server[first]
    return (one.p50 / base.p50, True) if row.is_paced else (one.rate / base.rate, row.unit != "/s")


def _cell(row: Row, server: str, first: str) -> str:
    value, base = row.by_server[server].rate, row.by_server[first].rate
    shown = f"{value:,.0f}{row.unit if row.unit == '/s' else ' ' + row.unit}"
    return shown if server == first else f"{shown} ({value / base:.2f}x)"


def _latency(one: Sample) -> str:
    digits = 1 if one.cpu < _SHORT else 0
    return f"{one.p50 * 1e3:.1f} / {one.p99 * 1e3:.1f}, {one.cpu * 1e6:,.{digits}f} + {one.clients * 1e6:,.{digits}f}"


_SHORT = 20e-6


def _bars(name: str, title: str, rows: Sequence[Row], value: Value, *, is_log: bool = False) -> None:
    servers = list(rows[0].by_server)
    groups = {server: [value(row.by_server[server], row.by_server[servers[0]]) for row in rows] for server in servers}
    plots.bars(name, title, groups, [row.name for row in rows], is_log=is_log)
