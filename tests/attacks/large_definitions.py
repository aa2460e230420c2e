"""Large definitions: how long large documents hold up another client, with many definitions of custom resources.

Each definition has the schema of a pod template, as those of prometheus-operator. A client requests /readyz without
pause while another one requests a document from a server that has made none since its start. The figure of a document
is the least of several tries: other programs of the machine can only make a try slower.
"""

import asyncio
import http.client
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.machinery.schema import definitions
from tests.apiserver import neighbours, program
from tests.apiserver.neighbours import Attacked

LONGEST_SECONDS = 0.1
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PAUSE_SECONDS = 0.002
_CALM_SECONDS = 2.0
_CREATORS = 4
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_LEFT_OUT = frozenset({"initContainers", "ephemeralContainers"})


@dataclass(frozen=True)
class Document:
    """A request for a large document."""

    name: str
    path: str
    accept: str = "application/json"
    coding: str = "gzip"


DOCUMENTS = (
    Document("v2", "/openapi/v2"),
    Document("v2 plain", "/openapi/v2", coding="identity"),
    Document("v2 protobuf", "/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"),
    Document("v3 index", "/openapi/v3"),
    Document("v3", "/openapi/v3/apis/g0.example.com/v1", coding="identity"),
    Document("table", DEFINITIONS, _TABLE),
    Document("list", DEFINITIONS),
    Document("list plain", DEFINITIONS, coding="identity"),
    Document("list protobuf", DEFINITIONS, "application/vnd.kubernetes.protobuf"),
    Document("list protobuf plain", DEFINITIONS, "application/vnd.kubernetes.protobuf", coding="identity"),
)


async def run(directory: Path, *, count: int, tries: int) -> str:
    """The longest time of /readyz beside each document. Fails when one is over the bound."""
    schema = _pod_template()
    async with neighbours.attacked(directory) as one:
        await _create(one, count, schema)
    found = {}
    for document in DOCUMENTS:
        found[document.name] = min([await _beside(directory, document) for _ in range(tries)])
    async with _restarted(directory) as one:
        found["deletion"] = await _longest(one, _delete(one))
    told = ", ".join(f"{name} {1000 * seconds:.0f}" for name, seconds in found.items())
    size = len(orjson.dumps(schema)) // 1000
    text = f"{count} definitions of {size} KB; longest /readyz beside (ms): {told}"
    assert max(found.values()) <= LONGEST_SECONDS, text
    return text


@asynccontextmanager
async def _restarted(directory: Path) -> AsyncIterator[Attacked]:
    """A server on the same data, which has made no document."""
    (directory / "ready").unlink(missing_ok=True)
    async with program.running(directory, backend="sqlite") as running, neighbours.session_of(running) as session:
        await asyncio.sleep(_CALM_SECONDS)
        yield Attacked(running, session)


async def _create(one: Attacked, count: int, schema: Mapping[str, Any]) -> None:
    numbers = iter(range(count))

    async def create() -> None:
        for number in numbers:
            status, _ = await one.create(DEFINITIONS, _definition(number, schema))
            assert status == 201, status

    await asyncio.gather(*(create() for _ in range(_CREATORS)))


async def _beside(directory: Path, document: Document) -> float:
    """The longest wait of /readyz while a document is made anew."""
    async with _restarted(directory) as one:
        return await _longest(one, asyncio.to_thread(_get, one, document))


def _get(one: Attacked, document: Document) -> None:
    """Read a document in a thread, so that this process measures alone."""
    tls = ssl.create_default_context(cafile=one.program.directory / "pki" / "ca.crt")
    connection = http.client.HTTPSConnection("127.0.0.1", one.program.port, context=tls)
    token = (one.program.directory / "pki" / "admin.token").read_text().strip()
    headers = {"Accept": document.accept, "Accept-Encoding": document.coding, "Authorization": f"Bearer {token}"}
    connection.request("GET", document.path, headers=headers)
    answer = connection.getresponse()
    while answer.read(1 << 20):
        pass
    assert answer.status == 200, answer.status
    connection.close()


async def _delete(one: Attacked) -> None:
    async with one.session.delete(f"{one.url}{DEFINITIONS}") as answer:
        async for _ in answer.content.iter_chunked(1 << 20):
            pass
        assert answer.status == 200, answer.status
    while await _is_there(one):  # noqa: ASYNC110 the server tells it to clients alone
        await asyncio.sleep(_CALM_SECONDS / 10)


async def _is_there(one: Attacked) -> bool:
    """Whether definitions wait for the end of their deletion."""
    headers = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
    async with one.session.get(f"{one.url}{DEFINITIONS}?limit=1", headers=headers) as answer:
        return bool((await answer.json())["items"])


async def _longest(one: Attacked, work: Any) -> float:
    """The longest wait of /readyz during this work."""
    working, longest = asyncio.ensure_future(work), 0.0
    while not working.done():
        began = time.monotonic()
        async with one.session.get(f"{one.url}/readyz") as answer:
            await answer.read()
        longest = max(longest, time.monotonic() - began)
        await asyncio.sleep(_PAUSE_SECONDS)
    await working
    return longest


def _definition(number: int, schema: Mapping[str, Any]) -> Any:
    group, plural = f"g{number}.example.com", f"things{number}"
    names = {"plural": plural, "singular": f"thing{number}", "kind": f"Thing{number}", "listKind": f"Thing{number}List"}
    root = {"type": "object", "properties": {"spec": schema, "status": {"type": "object", "properties": {}}}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": root},
        "subresources": {"status": {}},
    }
    spec = {"group": group, "names": names, "scope": "Namespaced", "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": spec,
    }


def _pod_template() -> Mapping[str, Any]:
    """The schema of a pod's spec without references."""
    found = dict(_without_references({"$ref": "#/$defs/io.k8s.api.core.v1.PodSpec"}))
    found["properties"] = {name: one for name, one in found["properties"].items() if name not in _LEFT_OUT}
    return found


def _without_references(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    cleaned = dict(definitions.cleaned(schema))
    name = definitions.referenced(cleaned)
    if name:
        target = _without_references(definitions.load(definitions.DEFAULT_MINOR)[name])
        return {**target, **{key: value for key, value in cleaned.items() if key != "$ref"}}
    cleaned = {key: value for key, value in cleaned.items() if not key.startswith("x-kubernetes-")}
    if "oneOf" in cleaned:
        return {"x-kubernetes-int-or-string": True}
    if "properties" in cleaned:
        cleaned["properties"] = {key: _without_references(one) for key, one in cleaned["properties"].items()}
    for elements in ("items", "additionalProperties"):
        if isinstance(cleaned.get(elements), dict):
            cleaned[elements] = _without_references(cleaned[elements])
    return cleaned
