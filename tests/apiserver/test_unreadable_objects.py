"""An object whose stored value cannot be read: lists name its key, and it can be deleted with a feature gate."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.testing import Server
from tests.reliability import histories
from tests.reliability.histories import MAPS, replica_of

GATE = "AllowUnsafeMalformedObjectDeletion"
OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"
IGNORING = {"kind": "DeleteOptions", "apiVersion": "v1", OPTION: True}


@pytest.fixture
async def session(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of a server whose config map b has a broken value."""
    settings: dict[str, Any] = {"storage_backend": "sqlite", "data_dir": tmp_path}
    async with Server(**settings) as server, histories.session(replica_of(server)) as client:
        for name in "ab":
            async with client.post(MAPS, json={"metadata": {"name": name, "finalizers": ["example.com/held"]}}) as made:
                assert made.status == 201
    kv = await SqliteKV.open(tmp_path)
    record = (await kv.get(b"/registry/configmaps/default/b")).record
    assert record is not None
    await kv.put(record.key, b"broken", expected_mod_revision=record.mod_revision)
    await kv.close()
    gated = Server(**settings, feature_gates=f"{GATE}={request.param}")
    async with gated as server, histories.session(replica_of(server)) as client:
        yield client


async def ask(session: aiohttp.ClientSession, method: str, path: str = "", body: Any = None) -> tuple[int, Any]:
    async with session.request(method, MAPS + path, json=body) as response:
        return response.status, await response.json()


@pytest.mark.parametrize("session", ["true"], indirect=True)
async def test_an_unreadable_object_can_be_named_and_deleted_and_no_other(session: aiohttp.ClientSession) -> None:
    listed = await ask(session, "GET")
    usual = await ask(session, "DELETE", "/b")
    readable = await ask(session, "DELETE", "/a", IGNORING)
    missing = await ask(session, "DELETE", "/c", IGNORING)
    collection = await ask(session, "DELETE", "", IGNORING)
    tied = await ask(session, "DELETE", "/b", {**IGNORING, "dryRun": ["All"], "gracePeriodSeconds": 0})
    deleted = await ask(session, "DELETE", "/b", IGNORING)
    gone = await ask(session, "GET", "/b")
    left = await ask(session, "GET")

    assert [answer[0] for answer in (listed, usual, gone)] == [500, 500, 404]
    assert all("default/b cannot be read" in answer[1]["message"] for answer in (listed, usual))
    for (status, answer), name in ((readable, "a"), (missing, "c")):
        assert (status, answer["message"]) == (
            422,
            f'configmaps "{name}" is invalid: {OPTION}: Invalid value: true: is exclusively used to delete corrupt '
            "object(s), try again by removing this option",
        )
    assert collection[0] == 422
    assert "is not allowed with DELETECOLLECTION" in collection[1]["message"]
    assert [cause["message"].rpartition(" ")[2] for cause in tied[1]["details"]["causes"]] == [
        ".dryRun",
        ".gracePeriodSeconds",
    ]
    assert deleted == (
        200,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {"name": "b", "kind": "ConfigMap"},
            "code": 200,
        },
    )
    assert [item["metadata"]["name"] for item in left[1]["items"]] == ["a"]


@pytest.mark.parametrize("session", ["false"], indirect=True)
async def test_without_the_feature_gate_the_option_has_no_effect(session: aiohttp.ClientSession) -> None:
    unreadable = await ask(session, "DELETE", "/b", IGNORING)
    readable = await ask(session, "DELETE", "/a", IGNORING)

    assert (unreadable[0], readable[0]) == (500, 200)
