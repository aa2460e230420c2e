"""Fuzz runs: the long runs of the fuzzers, for `make soak`: a row each."""

import asyncio
import ssl
import subprocess
import sys
from pathlib import Path

from tests.apiserver import program
from tests.fuzz import fuzzing, targets
from tests.fuzz.described_requests import DescribedServer

GROWTH_MB = 100
"""The resident memory that may come on top of the highest in the first quarter of a run."""
MOST_MB = 350
"""The largest resident memory. One request must not take hundreds of megabytes."""
_TOLD = 30
"""Failures that are shown."""


async def requests(folder: Path, *, count: int, seed: int) -> str:
    """Fuzzed requests to a program on SQLite."""
    sizes: list[int] = []
    flags = ("--disable-admission-plugins=ServiceAccount",)
    async with program.running(folder, *flags, backend="sqlite") as running:
        pid = running.process.pid
        begun = fuzzing.memory(pid)
        fuzzed = await fuzzing.fuzz(
            running.port,
            _as_admin(folder),
            requests=count,
            seed=seed,
            after_round=lambda: sizes.append(fuzzing.memory(pid)),
        )
        ended = await running.stop()
    wrong = fuzzed.panics + fuzzed.hangs + fuzzed.unknown + fuzzed.broken
    assert fuzzed.is_good, [str(fuzzed), sizes, *wrong[:_TOLD], ended.err[-5000:]]
    assert "Traceback" not in ended.err
    assert max(sizes) <= MOST_MB, sizes
    assert sizes[-1] <= max(sizes[: -(-len(sizes) // 4)]) + GROWTH_MB, sizes
    reasons = "".join(f"\n    {times:6} x 500: {why}" for why, times in fuzzed.known.most_common())
    return f"{fuzzed}; memory {begun} MB, then {', '.join(map(str, sizes))} MB{reasons}"


def _as_admin(folder: Path) -> ssl.SSLContext:
    tls = program.trusting(folder)
    tls.load_cert_chain(folder / "pki" / "admin.crt", folder / "pki" / "admin.key")
    return tls


async def described(folder: Path, *, examples: int, seed: int) -> str:
    """Requests that follow the OpenAPI documents of a program in memory."""
    async with program.running(folder, "--disable-admission-plugins=ServiceAccount") as running:
        server = DescribedServer(f"https://127.0.0.1:{running.port}", folder)
        documents = await asyncio.to_thread(server.documents)
        for document in documents:
            await asyncio.to_thread(server.try_document, document, examples=examples, seed=seed)
        ended = await running.stop()
    assert not server.wrong, server.wrong[:_TOLD]
    assert "Traceback" not in ended.err
    return f"{server.statuses.total()} requests of {len(documents)} documents: {dict(sorted(server.statuses.items()))}"


async def guided(*, runs: int, seed: int) -> str:
    """Each target, in a process of its own."""
    told = []
    for name in targets.TARGETS:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.fuzz.guided", name, "--runs", str(runs), "--seed", str(seed + 1)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        said, _ = await process.communicate()
        assert process.returncode == 0, f"{name}: {said.decode(errors='replace')[-5000:]}"
        told.append(name)
    return f"{runs} inputs for each of {len(told)} targets: {', '.join(told)}"
