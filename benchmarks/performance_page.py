"""performance_page: the page docs/performance.md with its plots, from the figures of one run.

Must hold: the page names date, commit and machine, and each ratio is to the first server of the same run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import origin, plots
from benchmarks.load import Sample

_PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
_HEAD = """\
# Performance

`scripts/bench side-by-side` writes this page. It gives several servers the same load in turns. Figures count as ratios
of one run, since the clients share the machine with the servers.

Measured on {date} at commit {commit}, on {machine}: {scale}.
"""

Value = Callable[[Sample, Sample], float]
"""The length of a bar, from the figure of a server and that of the first one."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a figure of each server."""

    name: str
    by_server: Mapping[str, Sample]
    unit: str = "/s"


def table(rows: Sequence[Row]) -> str:
    """The figures with their ratios to the first server, as Markdown."""
    servers = list(rows[0].by_server)
    lines = [f"| work | {' | '.join(servers)} |", f"| --- |{' ---: |' * len(servers)}"]
    lines += [f"| {row.name} | {' | '.join(_cell(row, server, servers[0]) for server in servers)} |" for row in rows]
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


def write(rows: Sequence[Row], scale: str) -> None:
    """Write the page and its plots."""
    timed = [row for row in rows if row.unit == "/s"]
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
        latencies(rows),
        "\n![CPU time](plots/cpu.svg)",
    ]
    _PAGE.write_text("\n".join(parts) + "\n")


def _cell(row: Row, server: str, first: str) -> str:
    value, base = row.by_server[server].rate, row.by_server[first].rate
    shown = f"{value:,.0f}{row.unit if row.unit == '/s' else ' ' + row.unit}"
    return shown if server == first else f"{shown} ({value / base:.2f}x)"


def _latency(one: Sample) -> str:
    return f"{one.p50 * 1e3:.1f} / {one.p99 * 1e3:.1f}, {one.cpu * 1e6:,.0f}"


def _bars(name: str, title: str, rows: Sequence[Row], value: Value, *, is_log: bool = False) -> None:
    servers = list(rows[0].by_server)
    groups = {server: [value(row.by_server[server], row.by_server[servers[0]]) for row in rows] for server in servers}
    plots.bars(name, title, groups, [row.name for row in rows], is_log=is_log)
