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

EVENTS = "/api/v1/namespaces/default/events"
GATE = "AllowUnsafeMalformedObjectDeletion"
OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"
IGNORING = {"kind": "DeleteOptions", "apiVersion": "v1", OPTION: True}


@pytest.fixture
async def session(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of a server whose config map b and events a and b have broken values."""
    settings: dict[str, Any] = {"storage_backend": "sqlite", "data_dir": tmp_path}
    async with Server(**settings) as server, histories.session(replica_of(server)) as client:
        for name in "ab":
            async with client.post(MAPS, json={"metadata": {"name": name, "finalizers": ["example.com/held"]}}) as made:
                assert made.status == 201
    kv = await SqliteKV.open(tmp_path)
    record = (await kv.get(b"/registry/configmaps/default/b")).record
    assert record is not None
    await kv.put(record.key, b"broken", expected_mod_revision=record.mod_revision)
    for key in (b"/registry/events/default/a", b"/registry/events/default/b"):
        await kv.put(key, b"broken", expected_mod_revision=0)
    await kv.close()
    gated = Server(**settings, feature_gates=f"{GATE}={request.param}")
    async with gated as server, histories.session(replica_of(server)) as client:
        yield client


async def ask(session: aiohttp.ClientSession, method: str, path: str = "", body: Any = None) -> tuple[int, Any]:
    async with session.request(method, path if path == EVENTS else MAPS + path, json=body) as response:
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
    assert all("default/b" in str(answer[1]) for answer in (listed, usual))
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


@pytest.mark.parametrize("session", ["true"], indirect=True)
async def test_a_list_names_all_unreadable_objects_with_the_feature_gate(session: aiohttp.ClientSession) -> None:
    cached, uncached = await ask(session, "GET"), await ask(session, "GET", EVENTS)

    for (status, answer), resource, names in ((cached, "configmaps", "b"), (uncached, "events", "ab")):
        assert (status, answer["reason"]) == (500, "StorageReadError")
        assert answer["message"] == f"failed to read one or more {resource} from the storage"
        assert {name: answer["details"][name] for name in ("name", "kind")} == {"name": "list", "kind": resource}
        keys = [cause["field"] for cause in answer["details"]["causes"]]
        assert keys == [f"/registry/{resource}/default/{name}" for name in names]
        message = answer["details"]["causes"][0]["message"]
        assert message.startswith(f"StorageError: corrupt object, Code: 7, Key: {keys[0]}, ResourceVersion: 0, ")
        assert "AdditionalErrorMsg: object not decodable revision=" in message


@pytest.mark.parametrize("session", ["false"], indirect=True)
async def test_a_list_without_a_watch_cache_names_an_unreadable_object(session: aiohttp.ClientSession) -> None:
    status, answer = await ask(session, "GET", EVENTS)

    assert (status, answer["reason"]) == (500, "InternalError")
    assert "default/a cannot be read" in answer["message"]


@pytest.mark.parametrize("session", ["false"], indirect=True)
async def test_without_the_feature_gate_the_option_has_no_effect(session: aiohttp.ClientSession) -> None:
    unreadable = await ask(session, "DELETE", "/b", IGNORING)
    readable = await ask(session, "DELETE", "/a", IGNORING)

    assert (unreadable[0], readable[0]) == (500, 200)
