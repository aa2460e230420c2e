"""type_facts: the tables of what is true of the types of a group beside their OpenAPI definitions.

    registry/groups/<group>/types.json   the types of a group
    registry/base/types.json             the types that all groups share, and those of groups without a folder

A row is of a type in all versions (`PodSpec`), in one (`v1.PodSpec`) or in one version of some minors
(`v1.PodSpec@1.33,1.34`), where null takes a fact away. registry/base/type_facts.py explains the facts.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base.timeline import Version, text_of
from aio_apiserver.registry.machinery.schema import definitions
from scripts.upstream.facts import types
from scripts.upstream.facts.release import Release
from scripts.upstream.facts.types import Types
from scripts.upstream.tables import table
from scripts.upstream.tables.table import GENERATED, Origin

Groups = Mapping[str, Types]
_GROUPS = "registry/groups"
_SHARED = "registry/base/types.json"
_FILE = "types.json"
_OF_KINDS = frozenset({"old_versions", "other_groups"})
_ABSENT = object()

Fields = Mapping[str, Set[str]]
"""The fields of types."""
Place = tuple[str, str]
"""A fact and a field."""


class TypeFacts:
    """The tables of types."""

    title = "types"

    def read(self, release: Release) -> Groups:
        return types.of_release(release)

    def paths(self, root: Path) -> Sequence[str]:
        return [_SHARED, *(f"{_GROUPS}/{folder}/{_FILE}" for folder in table.folders(root / _GROUPS))]

    def parsed(self, texts: Mapping[str, str]) -> Mapping[Version, Groups]:
        shared = orjson.loads(texts[_SHARED])
        files = {_folder_of(path): orjson.loads(text)["types"] for path, text in texts.items() if path != _SHARED}
        return {
            minor: {
                group: _of_minor(rows, minor, _published(text_of(minor)).get(group, {}))
                for group, rows in {**shared["groups"], **files}.items()
            }
            for minor in [table.minor_of(one) for one in shared[GENERATED]["from"]]
        }

    def files(self, facts: Mapping[Version, Groups], origin: Origin, paths: Sequence[str]) -> Mapping[str, str]:
        names = {group for groups in facts.values() for group in groups}
        published = {minor: _published(text_of(minor)) for minor in facts}
        rows = {
            name: _rows(
                {minor: groups.get(name, {}) for minor, groups in facts.items()},
                {minor: groups.get(name, {}) for minor, groups in published.items()},
            )
            for name in names
        }
        folders = {_folder_of(path): path for path in paths if path != _SHARED}
        texts = {path: _of_folder(rows.get(name, {}), origin) for name, path in folders.items()}
        return {**texts, _SHARED: _of_others({name: rows[name] for name in names - folders.keys()}, origin)}

    def rows(self, facts: Groups) -> Mapping[str, object]:
        return {
            f"{group}.{type_}{'.' if field else ''}{field} {fact}": value
            for group, of_group in facts.items()
            for type_, of_type in of_group.items()
            for fact, fields in of_type.items()
            for field, value in fields.items()
        }


def _folder_of(path: str) -> str:
    return path.split("/")[-2]


@cache
def _published(minor: str) -> Mapping[str, Fields]:
    """The fields of the types of each group in the definitions of a minor."""
    groups: dict[str, dict[str, frozenset[str]]] = {}
    published = definitions.load(minor)
    for definition in published:
        group, version, name = definition.rsplit(".", 3)[-3:]
        groups.setdefault(group, {})[f"{version}.{name}"] = frozenset(published[definition].get("properties", ()))
    return groups


def _rows(of_minors: Mapping[Version, Types], published: Mapping[Version, Fields]) -> Mapping[str, Mapping[str, Any]]:
    """The rows of a group, by their keys."""
    rows: dict[str, dict[str, Any]] = {}
    for key, places in _values(of_minors, published).items():
        for (fact, field), values in places.items():
            newest, different = table.variants(values)
            if newest is not _ABSENT:
                _set(rows, key, fact, field, newest)
            for minors, value in different.items():
                _set(rows, f"{key}@{minors}", fact, field, None if value is _ABSENT else value)
    return _with_common(rows, {type_ for fields in published.values() for type_ in fields})


def _values(
    of_minors: Mapping[Version, Types], published: Mapping[Version, Fields]
) -> Mapping[str, Mapping[Place, Mapping[Version, Any]]]:
    """The values of each fact in the minors that have the field, by the types."""
    places = sorted(
        {
            (type_, fact, field)
            for of_group in of_minors.values()
            for type_, facts in of_group.items()
            for fact, fields in facts.items()
            for field in fields
        }
    )
    found: dict[str, dict[Place, Mapping[Version, Any]]] = {}
    for type_, fact, field in places:
        values = {
            minor: of_group.get(type_, {}).get(fact, {}).get(field, _ABSENT)
            for minor, of_group in of_minors.items()
            if fact in _OF_KINDS or field in published[minor].get(type_, ())
        }
        if values:
            found.setdefault(type_, {})[fact, field] = values
    return found


def _set(rows: dict[str, dict[str, Any]], key: str, fact: str, field: str, value: Any) -> None:
    if fact in _OF_KINDS:
        rows.setdefault(key, {})[fact] = value
    else:
        rows.setdefault(key, {}).setdefault(fact, {})[field] = value


def _with_common(rows: Mapping[str, Mapping[str, Any]], types_: Set[str]) -> Mapping[str, Mapping[str, Any]]:
    """The rows, with one row for a type whose versions all have the same facts in all minors."""
    versions: dict[str, list[str]] = {}
    for type_ in sorted(types_):
        versions.setdefault(type_.rpartition(".")[2], []).append(type_)
    result = dict(rows)
    for name, keys in versions.items():
        has_minors = any(key.partition("@")[0] in keys for key in rows if "@" in key)
        if keys[0] in rows and not has_minors and all(rows.get(key) == rows[keys[0]] for key in keys):
            result[name] = {**result.get(name, {}), **rows[keys[0]]}
            for key in keys:
                del result[key]
    return result


def _of_minor(rows: Mapping[str, Mapping[str, Any]], minor: Version, published: Fields) -> Types:
    """The facts of a group in a minor, by the types in their versions; facts of kinds by the kinds."""
    found: Types = {}
    for key in sorted(rows, key=lambda one: "@" in one):
        type_, at, minors = key.partition("@")
        if at and minor not in table.minors_of(minors):
            continue
        for fact, value in rows[key].items():
            names = [type_] if "." in type_ else [one for one in published if one.rpartition(".")[2] == type_]
            for name in [type_] if fact in _OF_KINDS else names:
                of_type = found.setdefault(name, {})
                fields = {"": value} if fact in _OF_KINDS else value
                of_type[fact] = _without_absent({**of_type.get(fact, {}), **fields})
    return found


def _without_absent(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _lines(rows: Mapping[str, Any], indent: str) -> str:
    return ",\n".join(f"{indent}{table.compact(key)}: {table.compact(_sorted(rows[key]))}" for key in sorted(rows))


def _sorted(value: Any) -> Any:
    """The facts of a type in the order of their names, and their fields, too."""
    if isinstance(value, Mapping):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return value


def _of_folder(rows: Mapping[str, Any], origin: Origin) -> str:
    types_ = f"{{\n{_lines(rows, '    ')}\n  }}" if rows else "{}"
    return f'{{\n  "{GENERATED}": {table.compact(origin.key)},\n  "types": {types_}\n}}\n'


def _of_others(groups: Mapping[str, Mapping[str, Any]], origin: Origin) -> str:
    texts = [f"    {table.compact(name)}: {{\n{_lines(groups[name], ' ' * 6)}\n    }}" for name in _names(groups)]
    return f'{{\n  "{GENERATED}": {table.compact(origin.key)},\n  "groups": {{\n' + ",\n".join(texts) + "\n  }\n}\n"


def _names(groups: Mapping[str, Mapping[str, Any]]) -> Iterable[str]:
    return sorted(name for name, rows in groups.items() if rows)
