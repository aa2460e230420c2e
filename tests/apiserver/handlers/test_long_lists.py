"""Long lists and tables go out in pieces, with and without gzip, and have the bytes of the whole."""

import asyncio
import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from aio_apiserver.apiserver.handlers import list_bodies
from aio_apiserver.apiserver.handlers.list_bodies import HELD_BYTES, EncodedList, ItemEncoder, Listed, ListFrame
from aio_apiserver.apiserver.server import Server
from aio_apiserver.registry.machinery.media_types import JSON, PROTOBUF, YAML
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf, yaml
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject
from tests.apiserver.replicas.replica_servers import SteppedClock
from tests.apiserver.serving import Answer, as_admin, ask, running, running_by

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
COUNT, SIZE = 12, 800_000


async def fill(server: Server) -> None:
    """Create objects that are more together than a protobuf list holds encoded."""
    assert COUNT * SIZE > HELD_BYTES
    for number in range(COUNT):
        body = orjson.dumps({"metadata": {"name": f"m{number}"}, "data": {"k": f"{number:08}" * (SIZE // 8)}})
        headers = {"Content-Type": JSON}
        answer = await ask(
            server.secure.port, CONFIG_MAPS, method="POST", headers=headers, body=body, tls=as_admin(server)
        )
        assert answer.status == 201


async def get(server: Server, accept: str, *, query: str = "", encoding: str = "identity") -> Answer:
    headers = {"Accept": accept, "Accept-Encoding": encoding}
    return await ask(server.secure.port, f"{CONFIG_MAPS}{query}", headers=headers, tls=as_admin(server))


async def test_a_long_table_has_the_bytes_of_the_whole_table(tmp_path: Path) -> None:
    async with running_by(SteppedClock(), tmp_path) as server:  # the rows show ages
        await fill(server)

        listed = await get(server, JSON)
        tables = {what: await get(server, TABLE, query=f"?includeObject={what}") for what in ("Object", "Metadata")}
        compressed = await get(server, TABLE, query="?includeObject=Object", encoding="gzip")
        partial = await get(server, PARTIAL)

    await asyncio.to_thread(_compare, listed, tables, compressed, partial)  # it would hold the loop


def _compare(listed: Answer, tables: Mapping[str, Answer], compressed: Answer, partial: Answer) -> None:
    rows = {what: table.json["rows"] for what, table in tables.items()}
    items = [{"kind": "ConfigMap", "apiVersion": "v1", **item} for item in listed.json["items"]]
    assert [row["object"] for row in rows["Object"]] == items
    assert [row["cells"] for row in rows["Object"]] == [row["cells"] for row in rows["Metadata"]]
    assert [row["object"] for row in rows["Metadata"]] == partial.json["items"]
    for answer in (*tables.values(), partial):
        assert answer.body == orjson.dumps(answer.json) + b"\n"
    assert tables["Object"].headers["transfer-encoding"] == "chunked"
    assert gzip.decompress(compressed.body) == tables["Object"].body


async def test_a_long_list_holds_its_first_items_encoded_and_no_more() -> None:
    reader = ObjectReader(orjson.loads, lambda _: {})
    objects = [StoredObject(f"{number}", 1, b'{"metadata":{}}' + b" " * HELD_BYTES, reader) for number in range(20)]
    made = [b"%d" % number * (HELD_BYTES // 2) for number in range(20)]
    encoded = list[str]()

    def items(objects: Sequence[StoredObject], _: object) -> list[bytes]:
        encoded.extend(stored.key for stored in objects)
        return [made[int(stored.key)] for stored in objects]

    listed = Listed(objects, ItemEncoder(finish=items), "jane")
    body = await list_bodies.body_of(listed, ListFrame(b"[", b"]"), JSON)

    assert isinstance(body, EncodedList)
    assert len(encoded) <= 4
    assert b"".join([piece async for piece in body.pieces()]) == b"[%b]" % b",".join(made)
    assert encoded == [stored.key for stored in objects], "each once"
    assert body.size is None


async def test_a_long_list_as_indented_json_and_as_yaml_has_the_text_of_the_whole_list(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await fill(server)

        listed = await get(server, JSON)
        indented = await get(server, JSON, query="?pretty=true")
        as_yaml = await get(server, YAML)

    assert indented.body == await asyncio.to_thread(orjson.dumps, listed.json, option=orjson.OPT_INDENT_2)
    assert as_yaml.body == await asyncio.to_thread(yaml.dump, listed.json)
    assert {answer.headers.get("transfer-encoding") for answer in (indented, as_yaml)} == {"chunked"}


async def test_a_long_list_has_the_bytes_of_the_whole_list_in_each_encoding(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await fill(server)

        as_json, as_protobuf = await get(server, JSON), await get(server, PROTOBUF)
        compressed = [await get(server, accept, encoding="gzip") for accept in (JSON, PROTOBUF)]
        weighted = [await get(server, JSON, encoding=encoding) for encoding in ("gzip;q=0", "br, gzip;q=1.0")]
        chosen = await get(server, JSON, encoding="br , gzip")

    assert len(as_json.json["items"]) >= COUNT
    assert as_protobuf.body == await asyncio.to_thread(protobuf.dump, as_json.json, builtin())
    assert [int(answer.headers["content-length"]) for answer in (as_json, as_protobuf)] == [
        len(as_json.body),
        len(as_protobuf.body),
    ]
    assert [gzip.decompress(answer.body) for answer in compressed] == [as_json.body, as_protobuf.body]
    assert {answer.headers["content-encoding"] for answer in (*compressed, chosen)} == {"gzip"}
    assert [answer.headers.get("content-encoding") for answer in weighted] == [None, None]  # as kube-apiserver does
    assert {answer.headers["transfer-encoding"] for answer in compressed} == {"chunked"}
