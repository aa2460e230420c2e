"""Catalog: the built-in types of one Kubernetes minor version, by group, version and kind.

Must hold: definitions are read and compiled at their first use, and a type once.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache, cached_property
from typing import Any

from msgspec import Struct, field

from aio_apiserver.registry.base import timeline
from aio_apiserver.registry.base.empties import Empties
from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP, DecodeError, UnknownKind
from aio_apiserver.registry.machinery.schema import convert, definitions, field_paths, strict
from aio_apiserver.registry.machinery.schema.builtin import BuiltinTypes
from aio_apiserver.registry.machinery.schema.canonical import Print, Printers
from aio_apiserver.registry.machinery.schema.decode import Decode, Decoders, Findings
from aio_apiserver.registry.machinery.schema.defaults import Defaulters, Fill
from aio_apiserver.registry.machinery.schema.definitions import Definitions, TypeMeta
from aio_apiserver.registry.machinery.schema.model import SchemaNode


class Decoded(Struct, frozen=True):
    """A decoded object, and the errors of strict decoding (`unknown field "spec.foo"`) in the order of the input.

    empties: the paths of empty lists and maps, which the object leaves out.
    """

    obj: dict[str, Any]
    strict_errors: tuple[str, ...] = ()
    empties: Empties = ()


class _Compilers(Struct, frozen=True):
    """The compilers that the types of a catalog share."""

    decoders: Decoders = field(default_factory=Decoders)
    printers: Printers = field(default_factory=Printers)
    defaulters: Defaulters = field(default_factory=Defaulters)


class ObjectType:
    """One kind in one version."""

    def __init__(self, definition: str, node: SchemaNode, compilers: _Compilers) -> None:
        self.definition = definition
        self.node = node
        self._compilers = compilers

    def decode(self, value: Any, *, text: bytes = b"", text_of: Callable[[], bytes] | None = None) -> Decoded:
        """Decode JSON; the result may share parts with it. Raises DecodeError.

        With `text`, the original JSON, it also finds duplicate fields and reads numbers by their text. `text_of` makes
        such a text of a value that was read from YAML, whose reader finds duplicates itself.
        """
        try:
            return self._decoded(value, text, text_of)
        except RecursionError:
            raise DecodeError(TOO_DEEP) from None

    def convert(self, value: Any) -> Decoded:
        """Decode as a strategic merge patch does, with its own errors and their order. Raises DecodeError."""
        found = Findings()
        try:
            obj = convert.converted(self.node, value, found)
        except RecursionError:
            raise DecodeError(TOO_DEEP) from None
        return Decoded(obj, tuple(sorted(found.strict_errors)), field_paths.empties(found.empties))

    def canonical(self, obj: dict[str, Any]) -> dict[str, Any]:
        """A decoded object as kube-apiserver prints it."""
        printed: dict[str, Any] = self._print(obj) if self._print is not None else obj
        return printed

    def apply_defaults(self, obj: dict[str, Any]) -> None:
        """Apply the schema's defaults in place. The defaulting of the kind comes afterwards."""
        if self._fill is not None:
            self._fill(obj)

    @cached_property
    def _decode(self) -> Decode:
        return self._compilers.decoders.of(self.node)

    @cached_property
    def _print(self) -> Print | None:
        return self._compilers.printers.of(self.node)

    @cached_property
    def _fill(self) -> Fill | None:
        return self._compilers.defaulters.of(self.node)

    def _decoded(self, value: Any, text: bytes, text_of: Callable[[], bytes] | None) -> Decoded:
        findings = Findings()
        try:
            obj = self._run(value, findings)
        except DecodeError:
            if text and strict.may_have_duplicates(text, value):
                return self._with_duplicates(text)
            self._run_literally(text, text_of)
            raise
        if text and findings.fields != strict.fields_in(text) and strict.may_have_duplicates(text, value):
            return self._with_duplicates(text)
        if findings.wants_literals:
            obj = self._run_literally(text, text_of) or obj
        if not (findings.strict_errors or findings.empties):
            return Decoded(obj)
        return Decoded(obj, tuple(findings.strict_errors), field_paths.empties(findings.empties))

    def _with_duplicates(self, text: bytes) -> Decoded:
        """Decode a text in which fields may stand twice."""
        document = strict.read(self.node, text)
        findings = Findings(is_strict=False, has_literals=True)
        obj = self._run(document.value, findings)
        return Decoded(obj, tuple(document.errors), field_paths.empties(findings.empties))

    def _run_literally(self, text: bytes, text_of: Callable[[], bytes] | None) -> dict[str, Any] | None:
        """Decode the text with its numbers as they are written; None without a text. Raises DecodeError."""
        written = text_of() if text_of else text
        return self._run(strict.with_literals(written), Findings(has_literals=True)) if written else None

    def _run(self, value: Any, findings: Findings) -> dict[str, Any]:
        obj: dict[str, Any] = self._decode(value, None, findings)
        if findings.mismatch:
            raise DecodeError(findings.mismatch)
        return obj


class Catalog:
    """All built-in types of a minor version. Raises UnknownMinor."""

    def __init__(self, minor: str = definitions.DEFAULT_MINOR) -> None:
        definitions.check(minor)
        self.minor = minor
        self.version = timeline.version_of(minor)
        self._compilers = _Compilers()
        self._object_types: dict[str, ObjectType] = {}

    @cached_property
    def definitions(self) -> Definitions:
        """The OpenAPI definitions by name, as in the file."""
        return definitions.load(self.minor)

    @property
    def versions(self) -> Collection[tuple[str, str]]:
        """The groups and versions of all kinds, including those that are not served any more."""
        return {(one.group, one.version) for one in self.kinds}

    @cached_property
    def kinds(self) -> Mapping[TypeMeta, str]:
        """The definition of each kind."""
        return self.definitions.by_type()

    def type_for(self, group: str, version: str, kind: str) -> ObjectType:
        """The type of a kind. Raises UnknownKind."""
        definition = self.kinds.get(TypeMeta(group, version, kind))
        if definition is None:
            raise UnknownKind(f"Kubernetes {self.minor} has no kind {kind} in {group}/{version}")
        return self.type_of(definition)

    def type_of(self, definition: str) -> ObjectType:
        """The type of a definition, which may be a kind or a part of one."""
        known = self._object_types.get(definition)
        if known is None:
            known = self._object_types[definition] = ObjectType(definition, self.node(definition), self._compilers)
        return known

    def node(self, definition: str) -> SchemaNode:
        """The node of a definition. Raises UnknownKind."""
        if definition not in self.definitions:
            raise UnknownKind(f"Kubernetes {self.minor} has no definition {definition}")
        return self._types.node(definition)

    @cached_property
    def _types(self) -> BuiltinTypes:
        return BuiltinTypes(self.definitions, self.minor)


@cache
def builtin(minor: str = definitions.DEFAULT_MINOR) -> Catalog:
    """The catalog of a minor version. Raises UnknownMinor."""
    return Catalog(minor)
