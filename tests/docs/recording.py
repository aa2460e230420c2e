"""Recording: the kubectl session that README shows as an animated SVG picture.

    python -m tests.docs.recording

The recorder starts a server as a reader does, types `SESSION`, and writes what kubectl printed into `PICTURE`.
Must hold: a viewer without animations sees the whole session, which is also what the animation ends with.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tests.docs import pages, terminals

PICTURE = pages.PROJECT / "docs" / "pictures" / "first-minute.svg"
SERVER = "scripts/run"
SESSION = (
    "kubectl create deployment web --image=nginx --replicas=3",
    "kubectl rollout status deployment web | tail -1",
    "kubectl get deployments,pods",
    "kubectl exec deploy/web -- sh -c 'echo hello from $HOSTNAME'",
    'kubectl patch deployment web -p \'{"spec":{"replicas":-1}}\'',
)

_EXPORT = "export KUBECONFIG="
_WIDTH, _MARGIN, _BAR, _LINE, _LETTER = 860, 22, 36, 20, 7.83
_TYPING = 0.028
_THINKING = 0.9
_STYLE = """
.frame { fill: #0d1117 } .bar { fill: #161b22 } .title { fill: #8b949e; text-anchor: middle }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }
.output { fill: #b6c2cf } .command { fill: #e6edf3 } .prompt { fill: #3fb950 } .note { fill: #8b949e }
.refusal { fill: #ff938a }
@keyframes appear { from { opacity: 0 } to { opacity: 1 } }
@keyframes type { from { clip-path: inset(0 100% 0 0) } to { clip-path: inset(0 -3em 0 0) } }
.shown { animation: appear .01s linear both } .typed { animation-name: type; animation-fill-mode: both }
@media (prefers-reduced-motion: reduce) { .shown, .typed { animation: none } }
"""
_PRINTED_AS = {"export ": "note", "The Deployment": "refusal"}
"""The looks of lines by their begins."""


@dataclass(frozen=True)
class Entry:
    """A command that was typed, and the lines that came of it."""

    command: str
    printed: Sequence[str]


async def record(clone: Path, home: Path, session: Sequence[str] = SESSION) -> Sequence[Entry]:
    """The session, as it happens beside a new server."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(terminals.opened(clone, home))
        export = await server.serve(f"{SERVER} --secure-port=0", until=_EXPORT)
        shell = await stack.enter_async_context(terminals.opened(clone, home))
        await shell.type(export)
        entries = [Entry(SERVER, [f"{_EXPORT}~/.local/share/aio-apiserver/admin.kubeconfig"])]
        for command in session:
            _, printed = await shell.type(command)
            entries.append(Entry(command, printed.strip().splitlines()))
        return entries


def drawn(entries: Sequence[Entry]) -> str:
    """The picture of a session."""
    lines = list(_lines(entries))
    height = _BAR + 2 * _MARGIN + _LINE * sum(len(entry.printed) + 1 for entry in entries) + 8 * (len(entries) - 1)
    dots = "".join(
        f'<circle cx="{22 + 18 * place}" cy="{_BAR / 2}" r="5.5" fill="{color}"/>'
        for place, color in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    top = f"M0 {_BAR}V10A10 10 0 0 1 10 0H{_WIDTH - 10}A10 10 0 0 1 {_WIDTH} 10V{_BAR}Z"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
            "<title>A deployment becomes ready on a server of a few seconds of age</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="frame" width="{_WIDTH}" height="{height}" rx="10"/>',
            f'<path class="bar" d="{top}"/>{dots}',
            f'<text class="title" x="{_WIDTH / 2}" y="{_BAR / 2 + 4}">aio-apiserver</text>',
            *lines,
            "</svg>\n",
        )
    )


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    moment, y = 0.6, float(_BAR + _MARGIN + 10)
    for entry in entries:
        seconds = _TYPING * len(entry.command)
        yield f'<text class="shown prompt" x="{_MARGIN}" y="{y:g}" style="animation-delay:{moment:.2f}s">$</text>'
        yield _typed(entry.command, y, moment + 0.3, seconds)
        moment += 0.3 + seconds + _THINKING
        for line in entry.printed:
            y += _LINE
            yield _shown(line, y, moment)
        y += _LINE + 8
        moment += _THINKING


def _typed(command: str, y: float, moment: float, seconds: float) -> str:
    timing = f"animation-delay:{moment:.2f}s;animation-duration:{seconds:.2f}s"
    steps = f"animation-timing-function:steps({len(command)})"
    place = f'x="{_MARGIN + 2 * _LETTER:g}" y="{y:g}"'
    return f'<text class="typed command" {place} style="{timing};{steps}">{escape(command, quote=False)}</text>'


def _shown(line: str, y: float, moment: float) -> str:
    look = next((look for begin, look in _PRINTED_AS.items() if line.startswith(begin)), "output")
    style = f'style="animation-delay:{moment:.2f}s"'
    return f'<text class="shown {look}" x="{_MARGIN}" y="{y:g}" {style}>{escape(line, quote=False)}</text>'


async def main() -> None:
    """Record the session in this clone, and draw it."""
    with tempfile.TemporaryDirectory(prefix="recording-", ignore_cleanup_errors=True) as home:
        entries = await record(pages.PROJECT, Path(home))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(entries))


if __name__ == "__main__":
    asyncio.run(main())
