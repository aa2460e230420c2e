"""Long lists go out in pieces, with and without gzip, and have the bytes of the whole list."""

import gzip
from pathlib import Path

import orjson

from aio_apiserver.apiserver.handlers.long_messages import HELD_BYTES
from aio_apiserver.apiserver.server import Server
from aio_apiserver.registry.machinery.media_types import JSON, PROTOBUF
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf
from tests.apiserver.serving import Answer, as_admin, ask, running

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
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


async def get(server: Server, accept: str, *, encoding: str = "identity") -> Answer:
    headers = {"Accept": accept, "Accept-Encoding": encoding}
    return await ask(server.secure.port, CONFIG_MAPS, headers=headers, tls=as_admin(server))


async def test_a_long_list_has_the_bytes_of_the_whole_list_in_each_encoding(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await fill(server)

        as_json, as_protobuf = await get(server, JSON), await get(server, PROTOBUF)
        compressed = [await get(server, accept, encoding="gzip") for accept in (JSON, PROTOBUF)]
        weighted = [await get(server, JSON, encoding=encoding) for encoding in ("gzip;q=0", "br, gzip;q=1.0")]
        chosen = await get(server, JSON, encoding="br , gzip")

    assert len(as_json.json["items"]) >= COUNT
    assert as_protobuf.body == protobuf.dump(as_json.json, builtin())
    assert [int(answer.headers["content-length"]) for answer in (as_json, as_protobuf)] == [
        len(as_json.body),
        len(as_protobuf.body),
    ]
    assert [gzip.decompress(answer.body) for answer in compressed] == [as_json.body, as_protobuf.body]
    assert {answer.headers["content-encoding"] for answer in (*compressed, chosen)} == {"gzip"}
    assert [answer.headers.get("content-encoding") for answer in weighted] == [None, None]  # as kube-apiserver does
    assert {answer.headers["transfer-encoding"] for answer in compressed} == {"chunked"}
