"""apply: the patch that says what its author wants to own of an object, in YAML.

Must hold: the text is read once, however often the apply is tried; what a strict reader has against it is told after
what the apply itself finds.
"""

import asyncio
from dataclasses import dataclass, field

import orjson

from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.generic.bodies.patch_types import Patch
from aio_apiserver.registry.generic.rest import Updater
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery.patch import body_errors
from aio_apiserver.registry.machinery.patch.apply import webhook_converted
from aio_apiserver.registry.machinery.schema import yaml_keys
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.storage import aside
from aio_apiserver.storage.stored_object import Object, StoredObject

_UNDECODABLE = "error decoding YAML: "
_THREAD_FROM_BYTES = 16 * 1024


@dataclass(slots=True)
class AppliedConfiguration:
    """What a configuration makes of the present object, if there is one."""

    patch: Patch
    served: Served[Updater]
    manager: str
    empties: list[Empty]
    """Where what is empty in the result is noted."""
    force: bool = field(kw_only=True)
    _document: "yaml.Document | None" = None

    async def make(self, current: StoredObject | None) -> Object:
        """Raises ApplyConflict, BadRequest."""
        document = await self._read()
        live = current.decode() if current is not None else None
        owners = self.served.storage.field_manager(self.served.version)
        config = _configuration(document)
        run = aside.of_size(len(self.patch.text) + (len(current.json) if current is not None else 0))
        obj = await webhook_converted.apply(
            owners, live, config, self.manager, force=self.force, empties=self.empties, run=run
        )
        self._report(document)
        return obj

    async def _read(self) -> "yaml.Document":
        """The configuration; a long one does not hold up the event loop."""
        if self._document is None:
            text = self.patch.text
            try:
                is_short = len(text) < _THREAD_FROM_BYTES
                self._document = yaml.read(text) if is_short else await asyncio.to_thread(yaml.read, text)
            except ValueError as exc:
                raise BadRequest(f"{_UNDECODABLE}error converting YAML to JSON: {exc}") from exc
        return self._document

    def _report(self, document: "yaml.Document") -> None:
        if not document.strict_errors or self.patch.field_validation == "Ignore":
            return
        if self.patch.field_validation == "Strict":
            raise BadRequest(f"error strict decoding YAML: error converting YAML to JSON: {document.strict_errors[0]}")
        for error in document.strict_errors:
            for warning in yaml_keys.warnings(error):
                self.patch.warn(warning)


def _configuration(document: "yaml.Document") -> Object:
    config = orjson.loads(document.json)
    if mismatch := body_errors.object_mismatch(config):
        raise BadRequest(f"{_UNDECODABLE}error unmarshaling JSON: while decoding JSON: {mismatch}")
    configuration: Object = config or {}
    return configuration
