"""The types of one Kubernetes minor, by group, version and kind: where everybody else gets schemas from.

Must hold: nothing is read or compiled before it is asked for; a type is compiled once.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache, cached_property
from typing import Any, TypeVar

from msgspec import Struct, field

from aio_apiserver.registry.base.empties import Empties
from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP, DecodeError, UnknownKind
from aio_apiserver.registry.machinery.schema import convert, definitions, places, strict
from aio_apiserver.registry.machinery.schema.builtin import BuiltinTypes
from aio_apiserver.registry.machinery.schema.canonical import Print, Printers
from aio_apiserver.registry.machinery.schema.decode import Decode, Decoders, Findings
from aio_apiserver.registry.machinery.schema.defaults import Defaulters, Fill
from aio_apiserver.registry.machinery.schema.definitions import Definitions, TypeMeta
from aio_apiserver.registry.machinery.schema.model import Node

T = TypeVar("T")


class Decoded(Struct, frozen=True):
    """An object, and what a strict decoder has against it (`unknown field "spec.foo"`), in the order of the input.

    empties: lists and maps that are empty, which an object does not show.
    """

    obj: dict[str, Any]
    strict_errors: tuple[str, ...] = ()
    empties: Empties = ()


class _Compilers(Struct, frozen=True):
    """What the types of a catalog share."""

    decoders: Decoders = field(default_factory=Decoders)
    printers: Printers = field(default_factory=Printers)
    defaulters: Defaulters = field(default_factory=Defaulters)


class ObjectType:
    """One kind in one version."""

    def __init__(self, definition: str, node: Node, compilers: _Compilers) -> None:
        self.definition = definition
        self.node = node
        self._compilers = compilers

    def decode(self, value: Any, *, text: bytes = b"") -> Decoded:
        """Decode JSON; the result may share parts with it. Raises DecodeError.

        With the text that it was read from, duplicate fields are found too, and numbers count as they are written.
        """
        return _within_depth(lambda: self._decoded(value, text))

    def convert(self, value: Any) -> Decoded:
        """Decode as a strategic merge patch does: other errors, another order. Raises DecodeError."""
        found = Findings()
        obj = _within_depth(lambda: convert.converted(self.node, value, found))
        return Decoded(obj, tuple(sorted(found.strict_errors)), places.empties(found.empties))

    def canonical(self, obj: dict[str, Any]) -> dict[str, Any]:
        """A decoded object as kube-apiserver prints it."""
        printed: dict[str, Any] = self._print(obj) if self._print is not None else obj
        return printed

    def apply_defaults(self, obj: dict[str, Any]) -> None:
        """Fill in, in place, the defaults that are true of every object of the type; the kind's own come after."""
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

    def _decoded(self, value: Any, text: bytes) -> Decoded:
        if text and strict.may_have_duplicates(text, value):
            document = strict.read(self.node, text)
            findings = Findings(is_strict=False, has_literals=True)
            obj = self._run(document.value, findings)
            return Decoded(obj, tuple(document.errors), places.empties(findings.empties))
        findings = Findings()
        try:
            obj = self._run(value, findings)
        except DecodeError:
            if text:
                self._run(strict.with_literals(text), Findings(has_literals=True))
            raise
        if findings.wants_literals and text:
            obj = self._run(strict.with_literals(text), Findings(has_literals=True))
        if not (findings.strict_errors or findings.empties):
            return Decoded(obj)
        return Decoded(obj, tuple(findings.strict_errors), places.empties(findings.empties))

    def _run(self, value: Any, findings: Findings) -> dict[str, Any]:
        obj: dict[str, Any] = self._decode(value, None, findings)
        if findings.mismatch:
            raise DecodeError(findings.mismatch)
        return obj


class Catalog:
    """All types of one minor. Raises UnknownMinor."""

    def __init__(self, minor: str = definitions.DEFAULT_MINOR) -> None:
        definitions.check(minor)
        self.minor = minor
        self._compilers = _Compilers()
        self._object_types: dict[str, ObjectType] = {}

    @cached_property
    def definitions(self) -> Definitions:
        """The OpenAPI definitions by name, as they are in the file."""
        return definitions.load(self.minor)

    @property
    def versions(self) -> Collection[tuple[str, str]]:
        """The groups and versions of all kinds, those that are not served any more, too."""
        return {(one.group, one.version) for one in self._by_type}

    def type_for(self, group: str, version: str, kind: str) -> ObjectType:
        """The type of a kind. Raises UnknownKind."""
        definition = self._by_type.get(TypeMeta(group, version, kind))
        if definition is None:
            raise UnknownKind(f"Kubernetes {self.minor} has no kind {kind} in {group}/{version}")
        return self.type_of(definition)

    def type_of(self, definition: str) -> ObjectType:
        """The type behind a definition, whether it is a kind or a part of one."""
        known = self._object_types.get(definition)
        if known is None:
            known = self._object_types[definition] = ObjectType(definition, self.node(definition), self._compilers)
        return known

    def node(self, definition: str) -> Node:
        """The node of a definition. Raises UnknownKind."""
        if definition not in self.definitions:
            raise UnknownKind(f"Kubernetes {self.minor} has no definition {definition}")
        return self._types.node(definition)

    @cached_property
    def _types(self) -> BuiltinTypes:
        return BuiltinTypes(self.definitions)

    @cached_property
    def _by_type(self) -> Mapping[TypeMeta, str]:
        return self.definitions.by_type()


@cache
def builtin(minor: str = definitions.DEFAULT_MINOR) -> Catalog:
    """The types of a minor. Raises UnknownMinor."""
    return Catalog(minor)


def _within_depth(work: Callable[[], T]) -> T:
    try:
        return work()
    except RecursionError:
        raise DecodeError(TOO_DEEP) from None
