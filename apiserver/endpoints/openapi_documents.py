"""OpenAPI documents: made in a worker thread at the first request, and kept compressed until the resources change.

It must not know requests. Must hold: requests at the same time share one document. An unchanged document is not made
again.
"""

import asyncio
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec
import orjson
from msgspec import Raw, Struct

from aio_apiserver.apiserver.endpoints import compressed_documents
from aio_apiserver.apiserver.endpoints.compressed_documents import Content
from aio_apiserver.apiserver.endpoints.openapi_sources import Sources
from aio_apiserver.apiserver.endpoints.remote_versions import RemoteVersions
from aio_apiserver.base import worker_thread
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.worker_thread import STORE
from aio_apiserver.registry.machinery.openapi import swagger_merge, version3
from aio_apiserver.registry.machinery.openapi.builtin import TITLE
from aio_apiserver.registry.machinery.openapi.definitions import PublishedDefinitions
from aio_apiserver.registry.machinery.openapi.routes import DocumentSource
from aio_apiserver.registry.machinery.openapi.swagger import Swagger
from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.registry.machinery.serializers.protobuf import openapi3
from aio_apiserver.registry.machinery.serializers.protobuf import swagger as swagger_messages

_ALL = ""
_OPENING = ord("{")


class _MadeDocument(Struct):
    """A document, and the key of the sources from which it was made. Protobuf is made from JSON, at the first request
    for it.
    """

    key: Hashable
    json: Content
    protobuf: Content | None = None


class OpenAPIDocuments:
    """The documents of one server."""

    def __init__(self, sources: Sources, remote: RemoteVersions, types: Catalog, clock: Clock) -> None:
        self._sources = sources
        self._remote = remote
        self._types = types
        self._clock = clock
        self._made: dict[str, _MadeDocument] = {}
        self._swagger = Swagger(title=TITLE, version=types.minor)
        self._index: tuple[Mapping[str, DocumentSource], int, Content] | None = None
        self._making = asyncio.Lock()

    async def index(self) -> Content:
        """The addresses of all version 3 documents, with their hashes."""
        sources, generation = self._sources(), self._remote.generation
        if self._index is None or self._index[0] is not sources or self._index[1] != generation:
            made = await self._make(sources.values())
            addresses = {path: {"serverRelativeURL": self.address(path, one.json.etag)} for path, one in made.items()}
            addresses |= {path: {"serverRelativeURL": url} for path, url in self._remote.openapi3.items()}
            index = compressed_documents.of(orjson.dumps({"paths": addresses}), made=self._clock.now(), etag="")
            self._index = sources, generation, index
        return self._index[2]

    def address(self, path: str, etag: str) -> str:
        """The address of a version 3 document with this hash."""
        return f"/openapi/v3/{quote(path)}?hash={etag}"

    def has(self, path: str) -> bool:
        """Whether a version 3 document exists at a path."""
        return path in self._sources()

    async def version3(self, path: str, *, is_protobuf: bool) -> Content:
        """The version 3 document at an existing path."""
        made = await self._make([self._sources()[path]])
        return await self._form(made[path], openapi3.dump, is_protobuf=is_protobuf)

    async def version2(self, *, is_protobuf: bool) -> Content:
        """The version 2 document, with all resources."""
        sources = self._sources()
        key = (self._remote.generation, *(source.key for source in sources.values()))
        async with self._making:
            made = self._made.get(_ALL)
            if made is None or made.key != key:
                content = await worker_thread.run(partial(self._version2, list(sources.values())), STORE)
                made = self._made[_ALL] = _MadeDocument(key, content)
        return await self._form(made, swagger_messages.dump, is_protobuf=is_protobuf)

    async def _make(self, sources: Collection[DocumentSource]) -> Mapping[str, _MadeDocument]:
        """The version 3 documents of these sources. Missing and outdated ones are made."""
        async with self._making:
            missing = [one for one in sources if one.path not in self._made or self._made[one.path].key != one.key]
            if missing:
                self._made.update(await worker_thread.run(partial(self._version3, missing), STORE))
            made = {one.path: self._made[one.path] for one in sources}
            if missing:
                self._forget_withdrawn()
            return made

    def _forget_withdrawn(self) -> None:
        """Drop the documents of paths that are not published any more."""
        published = self._sources()
        self._made = {path: made for path, made in self._made.items() if path in published or path == _ALL}

    async def _form(
        self, made: _MadeDocument, dump: Callable[[Mapping[str, Any]], bytes], *, is_protobuf: bool
    ) -> Content:
        if not is_protobuf:
            return made.json
        async with self._making:
            if made.protobuf is None:
                made.protobuf = await worker_thread.run(partial(_as_protobuf, made.json, dump), STORE)
        return made.protobuf

    def _version3(self, sources: Iterable[DocumentSource]) -> dict[str, _MadeDocument]:
        definitions = PublishedDefinitions(self._types.definitions, self._types.version)
        made = self._clock.now()
        return {
            source.path: _MadeDocument(
                source.key, compressed_documents.of(orjson.dumps(version3.document(source, definitions)), made=made)
            )
            for source in sources
        }

    def _version2(self, sources: Sequence[DocumentSource]) -> Content:
        text = orjson.dumps(
            self._swagger.document(sources, lambda: PublishedDefinitions(self._types.definitions, self._types.version))
        )
        if self._remote.openapi2:
            document = orjson.loads(text)
            for remote in self._remote.openapi2.values():
                document = swagger_merge.merged(document, remote)
            text = orjson.dumps(document)
        return compressed_documents.of(text, made=self._clock.now())


def _as_protobuf(json: Content, dump: Callable[[Mapping[str, Any]], bytes]) -> Content:
    """The same document as protobuf, under the same ETag. The Accept header selects one of both."""
    members = msgspec.json.decode(json.body, type=dict[str, Raw])
    document = {
        name: _Entries(raw) if _is_object(raw) else orjson.loads(memoryview(raw)) for name, raw in members.items()
    }
    return compressed_documents.of(dump(document), made=json.made, etag=json.etag)


def _is_object(raw: Raw) -> bool:
    return memoryview(raw)[0] == _OPENING


class _Entries(Mapping[str, Any]):
    """An object of which each entry is decoded at its use.

    A document with many definitions has tens of megabytes. One call that decodes all of it would hold the interpreter,
    and the event loop with it.
    """

    def __init__(self, raw: Raw) -> None:
        self._raw = msgspec.json.decode(raw, type=dict[str, Raw])

    def __getitem__(self, name: str) -> Any:
        return orjson.loads(memoryview(self._raw[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)
