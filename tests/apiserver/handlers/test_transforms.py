"""Tables and partial metadata, over real sockets on a memory server."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, running

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
MAPS = "/api/v1/namespaces/n/configmaps"
WATCH = f"{MAPS}?watch=1&timeoutSeconds=1"
ACCEPTED = (
    "only the following media types are accepted: application/json, application/yaml, "
    "application/vnd.kubernetes.protobuf"
)


@dataclass(frozen=True, slots=True)
class Client:
    """A client of a server with two config maps, `a` and `b`."""

    server: Server

    async def ask(self, path: str, accept: str, *, method: str = "GET", body: Any = None) -> Answer:
        headers = {"Accept": accept, "Content-Type": "application/json"}
        data = b"" if body is None else orjson.dumps(body)
        port = self.server.secure.port
        return await ask(port, path, method=method, headers=headers, body=data, tls=as_admin(self.server))


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with running(tmp_path) as started:
        client = Client(started)
        await client.ask("/api/v1/namespaces", "", method="POST", body={"metadata": {"name": "n"}})
        for name in ("a", "b"):
            obj = {"metadata": {"name": name, "labels": {"l": name}}, "data": {"k": "v"}}
            await client.ask(MAPS, "", method="POST", body=obj)
        yield client


def events(answer: Answer) -> list[Any]:
    return [orjson.loads(line) for line in answer.body.splitlines()]


async def test_a_list_is_a_table_with_a_row_for_each_object(client: Client) -> None:
    table = (await client.ask(MAPS, TABLE)).json

    assert list(table) == ["kind", "apiVersion", "metadata", "columnDefinitions", "rows"]
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert [row["cells"][:2] for row in table["rows"]] == [["a", 1], ["b", 1]]


async def test_an_object_is_a_table_of_its_own_version(client: Client) -> None:
    table = (await client.ask(f"{MAPS}/a", TABLE)).json

    shown = table["rows"][0]["object"]
    assert table["metadata"] == {"resourceVersion": shown["metadata"]["resourceVersion"]}


async def test_a_page_keeps_what_its_list_says(client: Client) -> None:
    table = (await client.ask(f"{MAPS}?limit=1", TABLE)).json

    assert sorted(table["metadata"]) == ["continue", "remainingItemCount", "resourceVersion"]


async def test_a_dry_run_has_no_version(client: Client) -> None:
    table = (await client.ask(f"{MAPS}?dryRun=All", TABLE, method="POST", body={"metadata": {"name": "c"}})).json

    assert table["metadata"] == {}


@pytest.mark.parametrize(
    ("include", "kind"),
    [("", "PartialObjectMetadata"), ("Metadata", "PartialObjectMetadata"), ("Object", "ConfigMap")],
)
async def test_rows_bring_what_the_client_wants_of_the_object(client: Client, include: str, kind: str) -> None:
    table = (await client.ask(f"{MAPS}/a?includeObject={include}", TABLE)).json

    shown = table["rows"][0]["object"]
    assert shown["kind"] == kind
    assert ("data" in shown) is (kind == "ConfigMap")


async def test_rows_may_bring_nothing(client: Client) -> None:
    table = (await client.ask(f"{MAPS}/a?includeObject=None", TABLE)).json

    assert table["rows"][0]["object"] is None


@pytest.mark.parametrize("path", [f"{MAPS}/a?includeObject=none", f"{WATCH}&includeObject=none"])
async def test_an_unknown_include_is_refused(client: Client, path: str) -> None:
    answer = await client.ask(path, TABLE)

    assert (answer.status, answer.json["message"]) == (
        400,
        'Unable to convert to Table as requested: includeObject: Invalid value: "none": '
        "must be 'Metadata', 'Object', 'None', or empty",
    )


async def test_partial_metadata_is_all_that_comes(client: Client) -> None:
    one = (await client.ask(f"{MAPS}/a", PARTIAL)).json
    many = (await client.ask(MAPS, PARTIAL_LIST)).json

    assert list(one) == ["kind", "apiVersion", "metadata"]
    assert many["items"][0] == one


async def test_an_empty_list_of_partial_metadata_is_null(client: Client) -> None:
    answer = await client.ask(f"{MAPS}?labelSelector=none", PARTIAL_LIST)
    protobuf = await client.ask(f"{MAPS}?labelSelector=none", PARTIAL_LIST.replace("json", "vnd.kubernetes.protobuf"))

    assert answer.json["items"] is None
    assert protobuf.status == 200


async def test_a_list_is_no_object_and_an_object_no_list(client: Client) -> None:
    as_one = await client.ask(MAPS, PARTIAL)
    as_list = await client.ask(f"{MAPS}/a", PARTIAL_LIST)

    assert (as_one.status, as_one.json["message"]) == (
        406,
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
    )
    assert (as_list.status, as_list.json["message"]) == (
        406,
        "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)",
    )


async def test_a_status_stays_a_status(client: Client) -> None:
    gone = await client.ask(f"{MAPS}/a", TABLE, method="DELETE")
    missing = await client.ask(f"{MAPS}/a", PARTIAL)

    assert (gone.json["kind"], missing.json["kind"]) == ("Status", "Status")


@pytest.mark.parametrize("form", ["as=Table", "as=Table;v=v2;g=meta.k8s.io", "as=Chair;v=v1;g=meta.k8s.io"])
async def test_other_forms_are_not_acceptable(client: Client, form: str) -> None:
    answer = await client.ask(MAPS, f"application/json;{form}")

    assert (answer.status, answer.json["message"]) == (406, ACCEPTED)


async def test_only_the_first_table_of_a_watch_has_columns(client: Client) -> None:
    tables = [event["object"] for event in events(await client.ask(WATCH, TABLE))]

    assert [table["rows"][0]["cells"][0] for table in tables] == ["a", "b"]
    assert [table["columnDefinitions"] is None for table in tables] == [False, True]


async def test_a_watch_may_bring_partial_metadata(client: Client) -> None:
    objects = [event["object"] for event in events(await client.ask(WATCH, PARTIAL))]

    assert [list(obj) for obj in objects] == [["kind", "apiVersion", "metadata"]] * 2


async def test_a_watch_that_wants_lists_ends_at_its_first_event(client: Client) -> None:
    answer = await client.ask(f"{MAPS}?watch=1", PARTIAL_LIST)

    assert (answer.status, answer.body) == (200, b"")


async def test_the_end_of_the_initial_events_is_told_whatever_rows_bring(client: Client) -> None:
    query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&includeObject=None"

    *shown, bookmark = events(await client.ask(WATCH + query, TABLE))

    assert [event["object"]["rows"][0]["object"] for event in shown] == [None, None]
    row = bookmark["object"]["rows"][0]
    assert row["cells"] == ["", 0, "<unknown>"]
    assert row["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_flow_schemas_stand_in_the_order_in_which_they_match(client: Client) -> None:
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    for name, precedence in (("a", 9002), ("b", 9001)):
        spec = {"matchingPrecedence": precedence, "priorityLevelConfiguration": {"name": "exempt"}}
        await client.ask(path, "", method="POST", body={"metadata": {"name": name}, "spec": spec})

    table = (await client.ask(path, TABLE)).json

    names = [row["cells"][0] for row in table["rows"]]
    assert names.index("b") < names.index("a")
