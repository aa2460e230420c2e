"""Apply: server-side apply, a configuration in YAML with the fields that its field manager wants to own.

Must hold: the text is parsed once, however often the apply is tried. Conflicts of the apply are reported before strict
decoding errors.
"""

from dataclasses import dataclass, field

from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.generic.bodies.patch_types import Patch
from aio_apiserver.registry.generic.rest import Made
from aio_apiserver.registry.machinery.patch.apply import webhook_converted
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.machinery.patch.body_errors import object_mismatch
from aio_apiserver.registry.machinery.schema import DecodeError, depth, yaml_keys
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.storage import worker_thread
from aio_apiserver.storage.stored_object import Object, StoredObject

_UNDECODABLE = "error decoding YAML: "


@dataclass(slots=True)
class AppliedConfiguration:
    """The object after an apply of a configuration; the apply may create it. owners: its field manager."""

    patch: Patch
    owners: FieldManager
    manager: str
    user: str
    force: bool = field(kw_only=True)
    _document: "yaml.YamlDocument | None" = None

    async def make(self, current: StoredObject | None) -> Made:
        """Raises ApplyConflict, BadRequest."""
        document = await self._read()
        live = current.decode() if current is not None else None
        empties: list[Empty] = []
        size = len(self.patch.text) + (len(current.json) if current is not None else 0)
        run = worker_thread.runner(size, self.user)
        obj = await webhook_converted.apply(
            self.owners, live, _configuration(document), self.manager, force=self.force, empties=empties, run=run
        )
        self._report(document)
        return Made(obj, empties, owners_known=True)

    async def _read(self) -> "yaml.YamlDocument":
        """The configuration; a long one does not hold up the event loop."""
        if self._document is None:
            try:
                self._document = await yaml.read_in_turn(self.patch.text, self.user)
            except ValueError as exc:
                raise BadRequest(f"{_UNDECODABLE}error converting YAML to JSON: {exc}") from exc
        return self._document

    def _report(self, document: "yaml.YamlDocument") -> None:
        if not document.strict_errors or self.patch.field_validation == "Ignore":
            return
        if self.patch.field_validation == "Strict":
            raise BadRequest(f"error strict decoding YAML: error converting YAML to JSON: {document.strict_errors[0]}")
        for error in document.strict_errors:
            for warning in yaml_keys.warnings(error):
                self.patch.warn(warning)


def _configuration(document: "yaml.YamlDocument") -> Object:
    try:
        depth.check(document.value)
    except DecodeError as exc:
        raise BadRequest(f"{_UNDECODABLE}error unmarshaling JSON: while decoding JSON: {exc.message}") from exc
    if mismatch := object_mismatch(document.value):
        raise BadRequest(f"{_UNDECODABLE}error unmarshaling JSON: while decoding JSON: {mismatch}")
    configuration: Object = document.value or {}
    return configuration
