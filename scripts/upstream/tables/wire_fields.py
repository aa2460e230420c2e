"""wire_fields: the table of the fields of all types: numbers, types and labels of protobuf, and what Go's structs add.

    registry/machinery/schema/wire.json

A field is `[number, type, label, Go]`. The last is left out when it is empty. It begins with `!` when JSON has the
field without a value, `?` when JSON leaves out a zero struct, and `*` for a pointer. Go's name of the type follows,
where the type of the message does not tell it. A package `name@1.33` has the fields that were different in a minor.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base.timeline import Version
from scripts.upstream.facts import go_fields
from scripts.upstream.facts.go_fields import GoField
from scripts.upstream.facts.release import Release
from scripts.upstream.golang.packages import Package
from scripts.upstream.protos import ProtoField
from scripts.upstream.tables import table
from scripts.upstream.tables.table import GENERATED, Origin

Row = tuple[object, ...]
Messages = Mapping[str, Mapping[str, Row]]
WireFacts = Mapping[str, Messages]
"""Rows by package, message and field."""

_PATH = "registry/machinery/schema/wire.json"
_GO_SCALARS = {
    "bool": "bool",
    "bytes": "uint8",
    "double": "float64",
    "int32": "int32",
    "int64": "int64",
    "string": "string",
}


class WireFields:
    """The table of the fields of all types."""

    title = "fields"

    def read(self, release: Release) -> WireFacts:
        packages: dict[str, Messages] = {}
        for import_path, proto in release.protos:
            package = release.packages.of(import_path)
            messages = {name: _rows(package, name, fields) for name, fields in proto.messages.items()}
            if messages:
                packages[proto.name] = messages
        return packages

    def paths(self, root: Path) -> Sequence[str]:
        return [_PATH]

    def parsed(self, texts: Mapping[str, str]) -> Mapping[Version, WireFacts]:
        packages: dict[str, Any] = orjson.loads(texts[_PATH])
        releases = packages.pop(GENERATED)["from"]
        return {table.minor_of(release): _of_minor(packages, table.minor_of(release)) for release in releases}

    def files(self, facts: Mapping[Version, WireFacts], origin: Origin, paths: Sequence[str]) -> Mapping[str, str]:
        packages: dict[str, Messages] = {}
        for name in sorted({name for packages in facts.values() for name in packages}):
            of_minors = {minor: packages[name] for minor, packages in facts.items() if name in packages}
            for key, messages in _united(of_minors, facts).items():
                packages[f"{name}{key}"] = messages
        texts = [f"{table.compact(GENERATED)}:{table.compact(origin.key)}"]
        texts += [f"{table.compact(name)}:{_text(messages)}" for name, messages in packages.items()]
        return {_PATH: "{\n" + ",\n".join(texts) + "\n}\n"}

    def rows(self, facts: WireFacts) -> Mapping[str, object]:
        return {
            f"{package.removeprefix('k8s.io.')}.{message}.{field}": row
            for package, messages in facts.items()
            for message, rows in messages.items()
            for field, row in rows.items()
        }


def _rows(package: Package, message: str, fields: Sequence[ProtoField]) -> Mapping[str, Row]:
    in_go = {field.number: field for field in go_fields.fields_of(package, message)}
    return {field.name: _row(field, in_go.get(field.number)) for field in fields}


def _row(field: ProtoField, in_go: GoField | None) -> Row:
    row = (field.number, field.type, field.label)
    go = "" if in_go is None or not in_go.name else _go(field, in_go)
    return (*row, go) if go else row


def _go(field: ProtoField, in_go: GoField) -> str:
    flags = ("!" if in_go.is_printed else "") + ("?" if in_go.hides_zero else "") + ("*" if in_go.is_pointer else "")
    return flags + ("" if _is_told(field, in_go) else in_go.type)


def _is_told(field: ProtoField, in_go: GoField) -> bool:
    """Whether the type of the message's field tells Go's name of the type."""
    element = in_go.type.rpartition("]")[2]
    is_message = field.type not in _GO_SCALARS
    return not in_go.has_own_type and (is_message or element == _GO_SCALARS[field.type])


def _of_minor(packages: Mapping[str, Messages], minor: Version) -> WireFacts:
    """The rows of one minor: those of the union, with the rows that are different in it."""
    facts: dict[str, dict[str, Mapping[str, Row]]] = {}
    for key, messages in packages.items():
        name, at, minors = key.partition("@")
        if at and minor not in table.minors_of(minors):
            continue
        of_package = facts.setdefault(name, {})
        for message, rows in messages.items():
            own = {field: tuple(row) for field, row in rows.items()}
            of_package[message] = {**of_package.get(message, {}), **own}
    return facts


def _united(of_minors: Mapping[Version, Messages], minors: Iterable[Version]) -> Mapping[str, Messages]:
    """The messages of all minors under "", and the rows that were different, under `@` and their minors."""
    united: dict[str, dict[str, dict[str, Row]]] = {"": {}}
    for message in sorted({name for messages in of_minors.values() for name in messages}):
        rows = {minor: messages[message] for minor, messages in of_minors.items() if message in messages}
        for field in _order(rows):
            of_field = {minor: fields[field] for minor, fields in rows.items() if field in fields}
            newest, different = table.variants(table.filled(of_field, minors))
            united[""].setdefault(message, {})[field] = newest
            for key, row in different.items():
                united.setdefault(f"@{key}", {}).setdefault(message, {})[field] = row
        united[""].setdefault(message, {})
    return united


def _order(rows: Mapping[Version, Mapping[str, Row]]) -> Sequence[str]:
    """The fields of a message in the order of its newest struct."""
    order: list[str] = []
    for minor in sorted(rows, reverse=True):
        order = table.in_order_of_both(order, rows[minor])
    return order


def _text(messages: Messages) -> str:
    return (
        "{\n" + ",\n".join(f"  {table.compact(name)}:{table.compact(rows)}" for name, rows in messages.items()) + "\n}"
    )
