"""stored_values: reads stored values without a server: decrypts them, and decodes msgpack, JSON and protobuf.

It tells from a key which resource it belongs to, by the same key prefixes as the server. Must hold: a value that it
cannot read is shown with the reason, and does not end the command.
"""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from msgspec import Struct

from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.controlplane.providers import PROVIDERS
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.serializers.protobuf import storage_form
from aio_apiserver.storage import codec
from aio_apiserver.storage.encryption.service import Encryption
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.transformers.transformer import ENCRYPTED_PREFIX, TransformerFor, identity_for

_OWN = "_"
_RANGES = "ranges"
"""The place of allocated ports, whose objects have no name."""


class StoredValue(Struct, frozen=True, kw_only=True):
    """A record as people see it. `form`: how it is stored. `problem`: why it cannot be read; empty when it can.

    is_custom: whether its kind is not built in. is_named: whether its key ends with the object's name.
    """

    resource: GroupResource
    namespace: str
    name: str
    record: Record
    form: str
    content: Mapping[str, Any]
    problem: str = ""
    is_custom: bool = False

    @property
    def place(self) -> str:
        """The object for messages: configmaps default/one."""
        return f"{self.resource} {'/'.join(filter(None, (self.namespace, self.name)))}"

    @property
    def is_named(self) -> bool:
        return self.resource.resource != _RANGES


class ValueReader:
    """Reads the values below a prefix."""

    def __init__(self, prefix: bytes, transformer_for: TransformerFor) -> None:
        self._prefix = prefix
        self._transformer_for = transformer_for
        self._messages = storage_form.codec_of(schema.builtin())
        self._kinds = {kind.place: kind for kind in kinds()}

    async def read(self, record: Record) -> StoredValue | None:
        """The value of a record; None for a key that is no object's."""
        path = record.key.removeprefix(self._prefix).decode(errors="backslashreplace")
        if path.startswith(_OWN):
            return None
        place, kind = self._place_of(path)
        resource = kind.resource if kind is not None else _custom(place)
        rest = path.removeprefix(place).strip("/").split("/")
        value, problem, form = await self._decoded(record, resource)
        return StoredValue(
            resource=resource,
            namespace=rest[0] if len(rest) > 1 else "",
            name=rest[-1],
            record=record,
            form=form,
            content=value,
            problem=problem,
            is_custom=kind is None and resource.resource != _RANGES,
        )

    def _place_of(self, path: str) -> tuple[str, Kind | None]:
        """The part of a key that names the resource: two words for some built-in kinds and for custom resources."""
        words = path.split("/")
        for count in (2, 1):
            place = "/".join(words[:count])
            if place in self._kinds:
                return place, self._kinds[place]
        return "/".join(words[: 2 if "." in words[0] else 1]), None

    async def _decoded(self, record: Record, resource: GroupResource) -> tuple[Mapping[str, Any], str, str]:
        data = record.value
        form = "encrypted " if data.startswith(ENCRYPTED_PREFIX) else ""
        try:
            transformer = self._transformer_for(resource.group, resource.resource)
            data = (await transformer.from_storage(data, record.key)).data
            found = codec.codec_of(data, self._messages)
            form += found.media_type.removeprefix("application/").removeprefix("vnd.kubernetes.") if found else ""
            value = codec.decode(data, self._messages)
        except (StorageError, ValueError) as exc:
            return {}, str(exc), form.strip()
        value["metadata"]["resourceVersion"] = str(record.mod_revision)
        return {"apiVersion": value.pop("apiVersion", ""), "kind": value.pop("kind", ""), **value}, "", form


async def transformers(line: CommandLine, stack: AsyncExitStack) -> TransformerFor:
    """The transformers of --encryption-provider-config. The stack closes them."""
    if line.store.encryption_config is None:
        return identity_for
    encryption = await Encryption.start(line.store.encryption_config, clock=SystemClock())
    stack.push_async_callback(encryption.close)
    return encryption.transformer


def kinds() -> list[Kind]:
    """The built-in kinds."""
    return [kind for provider in PROVIDERS if isinstance(provider, KindsProvider) for kind in provider.kinds]


def _custom(place: str) -> GroupResource:
    group, _, plural = place.rpartition("/")
    return GroupResource(group, plural)
