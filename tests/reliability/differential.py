"""differential: generated requests to this server and to a kube-apiserver, whose answers are compared.

The requests are those of the recordings, most of them a little wrong. KUBE_APISERVER names the other server. Each
conversation has a namespace of its own, and ends at its first difference, since later ones may follow from it. Must
hold: a difference that no row of the ledger explains is a violation.
"""

import asyncio
import gzip
import os
import re
import ssl
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import orjson
from msgspec import Struct

from benchmarks import contestants, processes
from benchmarks.processes import Serving
from tests.apiserver.serving import Answer
from tests.fuzz.fuzzed_requests import JSON, PROTOBUF, FuzzedRequest, conversation
from tests.fuzz.fuzzing import NAMESPACES, Fuzzed, FuzzingClient, told
from tests.golden import replay
from tests.reliability.outcomes import Latencies, Outcome

LEDGER = Path(__file__).with_name("differences.toml")
_SEEDS_NAMESPACE = "fuzz"
_SECONDS = 60.0
_SHOWN = 20
_REQUEST_SHOWN, _ANSWER_SHOWN = 800, 300


class Known(Struct, frozen=True):
    """A row of the ledger: the differences that a pattern finds, and why they stay."""

    pattern: str
    why: str


def ledger() -> Sequence[Known]:
    """The known differences."""
    return [Known(**row) for row in tomllib.loads(LEDGER.read_text())["difference"]]


def explained(difference: str, rows: Sequence[Known]) -> Known | None:
    """The first row that explains a difference."""
    return next((row for row in rows if re.search(row.pattern, difference)), None)


async def run(*, requests: int, seed: int) -> Outcome:
    """Send so many requests to both. Raises AssertionError with the differences that no row explains."""
    assert "KUBE_APISERVER" in os.environ, "KUBE_APISERVER names no kube-apiserver"
    starts = {**contestants.named(["kube-apiserver"]), "SQLite": _ours}
    found: Counter[str] = Counter()
    unknown: list[str] = []
    with contestants.started(starts) as servers:
        async with AsyncExitStack() as stack:
            pair = Pair([_Side(one) for one in servers])
            stack.push_async_callback(pair.close)
            rows, number = ledger(), 0
            while pair.sent < requests:
                number += 1
                difference = await pair.converse(Random(f"{seed} {number}"), f"seed{seed}-{number}")
                if difference is None:
                    continue
                if row := explained(difference, rows):
                    found[row.why] += 1
                else:
                    unknown.append(difference)
    assert not unknown, f"{len(unknown)} unknown differences in {pair.sent} requests:\n" + "\n".join(unknown[:_SHOWN])
    counts = {"requests": pair.sent, "conversations": number, "known differences": found.total()}
    return Outcome({**counts, "unknown differences": 0}, moments=pair.latencies.moments())


def _ours(directory: Path) -> AbstractContextManager[Serving]:
    """This server with the issuer of the other one."""
    return processes.server(directory, "SQLite", service_account_issuer="https://127.0.0.1")


class Pair:
    """kube-apiserver and this server, in this order."""

    def __init__(self, sides: "Sequence[_Side]") -> None:
        self.sent = 0
        self.latencies = Latencies()
        self._sides = sides

    async def converse(self, random: Random, namespace: str) -> str | None:
        """One conversation with both. Returns its first difference."""
        body = orjson.dumps({"metadata": {"name": namespace}})
        await self._ask(FuzzedRequest("POST", NAMESPACES, (), {"Content-Type": JSON}, body))
        for seed in conversation(random):
            request = _moved(seed, namespace)
            if not request.path.startswith("/api"):
                continue
            theirs, ours = await self._ask(request)
            if lines := list(differences(theirs, ours, namespace, is_watch=request.is_watch)):
                return f"{told(request)[:_REQUEST_SHOWN]}: {lines[0]}"
        return None

    async def close(self) -> None:
        for side in self._sides:
            await side.close()

    async def _ask(self, request: FuzzedRequest) -> Sequence[Answer]:
        """The answers of both. The latency is that of this server."""
        self.sent += 1
        theirs = await self._sides[0].ask(request)
        with self.latencies.measured():
            ours = await self._sides[1].ask(request)
        return theirs, ours


class _Side:
    """One server."""

    def __init__(self, server: Serving) -> None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        self._client = FuzzingClient(urlsplit(server.url).port or 443, tls, Fuzzed())

    async def ask(self, request: FuzzedRequest) -> Answer:
        headers = {"Authorization": f"Bearer {processes.TOKEN}", "Accept": JSON, **request.headers}
        try:
            async with asyncio.timeout(_SECONDS):
                return await self._client.exchange(replace(request, headers=headers))
        except (ConnectionError, EOFError, IndexError, ValueError, TimeoutError) as exc:
            await self._client.close()
            return Answer(0, {}, type(exc).__name__.encode())

    async def close(self) -> None:
        await self._client.close()


def _moved(request: FuzzedRequest, namespace: str) -> FuzzedRequest:
    """The request in another namespace."""
    return replace(
        request,
        path=request.path.replace(_SEEDS_NAMESPACE, namespace),
        body=request.body.replace(_SEEDS_NAMESPACE.encode(), namespace.encode()),
        query=[(name, value.replace(_SEEDS_NAMESPACE, namespace)) for name, value in request.query],
    )


def differences(theirs: Answer, ours: Answer, namespace: str, *, is_watch: bool) -> Iterator[str]:
    """The differences of two answers; of a watch, or when the status differs, those of the status."""
    if theirs.status != ours.status:
        yield f".status: want {theirs.status} {_shown(theirs)}, got {ours.status} {_shown(ours)}"
    if is_watch or theirs.status != ours.status:
        return
    yield from replay.oracle.differences(_normal(theirs, namespace), _normal(ours, namespace))


def _shown(answer: Answer) -> str:
    return " ".join(answer.body[:_ANSWER_SHOWN].decode(errors="replace").split())


def _normal(answer: Answer, namespace: str) -> Any:
    media_type = answer.headers.get("content-type", "")
    if PROTOBUF in media_type:
        return {"status": answer.status, "type": media_type}  # times and versions cannot be told from the rest
    text = gzip.decompress(answer.body) if answer.headers.get("content-encoding") == "gzip" else answer.body
    body = replay.oracle.parse(media_type, text)
    replay.oracle.unordered(body)
    normal = replay.oracle.Normal({"ns": namespace}, True)
    return {
        "status": answer.status,
        "type": media_type,
        "warning": normal.text(answer.headers.get("warning", "")),
        "body": normal.value(body),
    }
