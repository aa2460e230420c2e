"""Fuzzed requests: a server answers wrong requests, and each 500 is one that kube-apiserver gives too."""

from pathlib import Path

from tests.apiserver.serving import as_admin, running
from tests.fuzz import fuzzing
from tests.fuzz.internal_errors import reason

REQUESTS = 1_000


async def test_wrong_requests_are_answered_without_a_panic(tmp_path: Path) -> None:
    async with running(tmp_path, disable_admission_plugins=("ServiceAccount",)) as server:
        fuzzed = await fuzzing.fuzz(server.secure.port, as_admin(server), requests=REQUESTS, seed=1)

    assert fuzzed.is_good, [str(fuzzed), *fuzzed.panics, *fuzzed.hangs, *fuzzed.unknown, *fuzzed.broken]
    assert fuzzed.sent >= REQUESTS


def test_an_internal_error_needs_a_reason() -> None:
    assert reason("failed to create typed patch object (/a; /v1, Kind=ConfigMap): .x: field not declared in schema")
    assert not reason("this request caused apiserver to panic. Look in the logs for details")
