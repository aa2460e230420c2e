"""Apply: server-side apply, a configuration in YAML with the fields that its field manager wants to own.

Must hold: the text is parsed once, however often the apply is tried. Conflicts of the apply are reported before strict
decoding errors.
"""

from dataclasses import dataclass, field
from functools import partial

from msgspec import Struct

from aio_apiserver.base import worker_thread
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.timeline import Version
from aio_apiserver.registry.generic.bodies.patch_types import Patch
from aio_apiserver.registry.generic.rest import Made
from aio_apiserver.registry.machinery.patch.apply import webhook_converted
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.machinery.patch.body_errors import object_mismatch
from aio_apiserver.registry.machinery.schema import DecodeError, depth, yaml_keys
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.storage.stored_object import StoredObject

_FROM_YAML = "error converting YAML to JSON: "
_PATCHES_SINCE = (1, 37)
"""The minor since which messages speak of a patch, and of its conversion from YAML."""


class ApplyWords(Struct, frozen=True):
    """The words of a minor for the applied text, and whether a text that is no YAML has a message of its own."""

    noun: str
    tells_of_conversion: bool

    @classmethod
    def at(cls, version: Version) -> "ApplyWords":
        """The words of a minor."""
        is_new = version >= _PATCHES_SINCE
        return cls("patch" if is_new else "YAML", is_new)

    def unreadable(self, text: bytes, why: str) -> str:
        """The message for a text that is no YAML. A text that begins as JSON does is not converted."""
        if self.tells_of_conversion and not text.lstrip().startswith(b"{"):
            return f"error encoding patch: {why}"
        return f"{self.undecodable}{_FROM_YAML}{why}"

    @property
    def undecodable(self) -> str:
        return f"error decoding {self.noun}: "


@dataclass(slots=True)
class AppliedConfiguration:
    """The object after an apply of a configuration; the apply may create it. owners: its field manager."""

    patch: Patch
    owners: FieldManager
    manager: str
    user: str
    force: bool = field(kw_only=True)
    words: ApplyWords = field(kw_only=True)
    _document: "yaml.YamlDocument | None" = None

    async def make(self, current: StoredObject | None) -> Made:
        """Raises ApplyConflict, BadRequest."""
        document = await self._read()
        live = current.decode() if current is not None else None
        empties: list[Empty] = []
        size = len(self.patch.text) + (len(current.json) if current is not None else 0)
        run = worker_thread.runner(size, self.user)
        configuration = await run(partial(_configuration, document, self.words))
        obj = await webhook_converted.apply(
            self.owners,
            live,
            configuration,
            self.manager,
            force=self.force,
            empties=empties,
            run=run,
        )
        self._report(document)
        return Made(obj, empties, owners_known=True)

    async def _read(self) -> "yaml.YamlDocument":
        """The configuration; a long one does not hold up the event loop."""
        if self._document is None:
            try:
                self._document = await yaml.read_in_turn(self.patch.text, self.user)
            except ValueError as exc:
                raise BadRequest(self.words.unreadable(self.patch.text, str(exc))) from exc
        return self._document

    def _report(self, document: "yaml.YamlDocument") -> None:
        if not document.strict_errors or self.patch.field_validation == "Ignore":
            return
        if self.patch.field_validation == "Strict":
            raise BadRequest(f"error strict decoding {self.words.noun}: {_FROM_YAML}{document.strict_errors[0]}")
        for error in document.strict_errors:
            for warning in yaml_keys.warnings(error):
                self.patch.warn(warning)


def _configuration(document: "yaml.YamlDocument", words: ApplyWords) -> Object:
    try:
        depth.check(document.value)
    except DecodeError as exc:
        raise BadRequest(f"{words.undecodable}error unmarshaling JSON: while decoding JSON: {exc.message}") from exc
    if mismatch := object_mismatch(document.value):
        raise BadRequest(f"{words.undecodable}error unmarshaling JSON: while decoding JSON: {mismatch}")
    configuration: Object = document.value or {}
    return configuration
