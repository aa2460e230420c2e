"""Terminals: commands run in one session, and the session ends with all its processes."""

import os
from pathlib import Path

from tests.docs import terminals
from tests.simulation.processes.ends import wait_until_ended


async def test_commands_share_a_shell_and_tell_their_status(tmp_path: Path) -> None:
    async with terminals.opened(tmp_path, tmp_path) as terminal:
        await terminal.type("word=hello")

        assert await terminal.type("echo $word; false") == (1, "hello\n")


async def test_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    (tmp_path / "stubborn").write_text("trap '' TERM\necho pid $$\nwhile :; do read -t 60 < <(sleep 60); done\n")

    async with terminals.opened(tmp_path, tmp_path, grace=0.05) as terminal:
        pid = int((await terminal.serve("bash stubborn", until="pid ")).removeprefix("pid "))
        os.kill(pid, 0)

    await wait_until_ended(pid)
