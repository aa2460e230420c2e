"""Following: a fresh clone, an empty environment, and the commands of the pages as a reader types them.

    python -m tests.docs.following [PAGE...]

Without a page, the follower takes all of `FOLLOWED`, in some minutes: each tutorial makes an environment with pip.
A page is wrong when a command fails, or when it prints something else than the page shows.
A server that a page starts runs in a terminal of its own, until the page ends.
"""

import asyncio
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from tests.docs import pages, terminals, transcripts
from tests.docs.terminals import Terminal
from tests.docs.transcripts import ShownFile, Typed

_CLIENTS = ("kopf", "kr8s", "kubernetes", "kubernetes_asyncio", "lightkube", "pykube")
FOLLOWED = ("README.md", "docs/first-steps.md", *(f"docs/tutorials/{client}.md" for client in _CLIENTS))
"""The pages that lead a reader from a clone to something that runs."""

PASSED_OVER = {
    r"scripts/test\b": "continuous integration runs it",
    r"make |scripts/fetch-etcd": "commands for developers of the project, which continuous integration runs",
    r"apiserver\s+--etcd-servers=https://10\.": "the addresses of this etcd are examples",
}
"""Patterns of the commands that the follower leaves out, with the reason."""

SECONDS = 300.0
_CLONE = "/path/to/aio-apiserver"
_TRY = "/tmp/try"  # noqa: S108 - the follower replaces this folder of the pages
_SERVER = re.compile(r"scripts/run\b")
_SETTLES = re.compile(r"kubectl get |curl http://\S+/readyz")
"""Commands that a reader repeats until they show the state that the page describes."""
_PATIENCE = 30.0


class PageError(Exception):
    """A page that says what is not so."""


class Reader:
    """One reader of one page, with a terminal for commands and one for each server."""

    def __init__(self, clone: Path, home: Path, stack: AsyncExitStack) -> None:
        self.typed = 0
        self._clone = clone
        self._home = home
        self._stack = stack
        self._servers: dict[str, str] = {}
        self._folder = clone
        self._shell: Terminal | None = None

    async def follow(self, page: Path) -> None:
        """Do what the page says, step by step."""
        self._folder = self._clone if page.parent.name != "tutorials" else self._home / "project"
        self._folder.mkdir(exist_ok=True)
        self._shell = await self._stack.enter_async_context(terminals.opened(self._folder, self._home))
        for step in transcripts.steps(page):
            async with asyncio.timeout(SECONDS):
                await self._do(step)

    async def _do(self, step: ShownFile | Typed) -> None:
        if isinstance(step, ShownFile):
            (self._folder / step.name).write_text(step.content)
        elif not any(re.match(pattern, step.command) for pattern in PASSED_OVER):
            await self._type(step)
            self.typed += 1

    async def _type(self, step: Typed) -> None:
        command = step.command.replace(_CLONE, str(self._clone)).replace(_TRY, str(self._home / "try"))
        if _SERVER.match(command):
            await self._serve(command.removesuffix("&").strip())
        elif command.startswith("export KUBECONFIG="):
            await self._run(Typed(self._servers["scripts/run"]))
        else:
            await self._run(Typed(command, step.output))

    async def _serve(self, command: str) -> None:
        """Start a server in a terminal of its own, unless the page has started it before."""
        if command not in self._servers:
            terminal = await self._stack.enter_async_context(terminals.opened(self._clone, self._home))
            self._servers[command] = await terminal.serve(command, until="export KUBECONFIG=")

    async def _run(self, step: Typed) -> None:
        assert self._shell
        last = time.monotonic() + (_PATIENCE if _SETTLES.match(step.command) else 0.0)
        while wrong := _mistake(step, *await self._shell.type(step.command)):
            if time.monotonic() > last:
                raise PageError(f"$ {step.command}\n{wrong}")
            await asyncio.sleep(0.5)


def _mistake(step: Typed, status: int, printed: str) -> str | None:
    """What differs between a page and what happened. A page that shows an output may show a refusal."""
    if step.output is None:
        return f"ended with status {status}:\n{printed}" if status else None
    if transcripts.agrees(step.output, printed):
        return None
    return f"the page shows\n{step.output}\nand the command printed\n{printed}"


async def follow(page: Path, clone: Path) -> int:
    """Follow one page; the number of its commands."""
    with tempfile.TemporaryDirectory(prefix="reader-", ignore_cleanup_errors=True) as home:
        async with AsyncExitStack() as stack:
            reader = Reader(clone, Path(home), stack)
            await reader.follow(page)
            return reader.typed


async def main(names: Sequence[str]) -> int:
    """Follow pages in a clone of the last commit; the number of wrong pages."""
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="clone-") as folder:
        clone = Path(folder, "aio-apiserver")
        subprocess.run(["git", "clone", "--quiet", str(pages.PROJECT), str(clone)], check=True)  # noqa: ASYNC221
        for name in names:
            begun = time.monotonic()
            try:
                told = f"{await follow(clone / name, clone)} commands"
            except (PageError, TimeoutError) as exc:
                wrong += 1
                told = f"WRONG: {exc}"
            sys.stdout.write(f"{name:40}  {time.monotonic() - begun:6.1f} s  {told}\n")
            sys.stdout.flush()
    return wrong


if __name__ == "__main__":
    sys.exit(bool(asyncio.run(main(sys.argv[1:] or FOLLOWED))))
