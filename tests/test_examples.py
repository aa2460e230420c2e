"""The examples, as their readers run them."""

import asyncio
import sys
from asyncio.subprocess import PIPE, STDOUT
from importlib.metadata import entry_points
from pathlib import Path

IS_INSTALLED = bool(entry_points(group="pytest11", name="apiserver"))
PLUGIN = () if IS_INSTALLED else ("-p", "aio_apiserver.testing.plugin")
PROJECT = Path(__file__).parent.parent


async def test_the_examples_pass_their_own_tests() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pytest", "-q", *PLUGIN, "examples", cwd=PROJECT, stdout=PIPE, stderr=STDOUT
    )

    said, _ = await process.communicate()

    assert process.returncode == 0, said.decode()
