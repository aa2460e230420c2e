"""types: what is true of the API types of a release beside their OpenAPI definitions, by the folder of their group.

A fact is of a field of a type in a version (`v1.PodSpec`), or of a kind in all versions (`PodSpec`).
Must hold: a default that Go's types enforce is in OpenAPI, so that it need not be a fact.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from aio_apiserver.registry.machinery.schema import definitions
from aio_apiserver.registry.machinery.schema.definitions import Definitions, Schema
from scripts.upstream.facts import defaults, go_fields, kinds, openapi
from scripts.upstream.facts.go_fields import GoField
from scripts.upstream.facts.openapi import Property
from scripts.upstream.facts.release import Release
from scripts.upstream.golang.packages import Package
from scripts.upstream.problems import Unusable

_ZEROES: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}

Fields = Mapping[str, Any]
"""The values of one fact by field; of a fact about a kind, the only value stands under ""."""
Types = dict[str, dict[str, dict[str, Any]]]
"""Fields by type and fact."""


def of_release(release: Release) -> Mapping[str, Types]:
    """The facts by the first label of the group. Raises NotUnderstood and Unusable."""
    groups: dict[str, Types] = {}
    published = openapi.properties(release)
    for import_path, names in release.definition_names.items():
        for name in names:
            group, version, struct = name.rsplit(".", 3)[-3:]
            for field, fact, value in _facts(release, import_path, name, published[name]):
                of_type = groups.setdefault(group, {}).setdefault(f"{version}.{struct}", {})
                of_type.setdefault(fact, {})[field] = value
    for group, kind, fact, value in _of_kinds(release):
        groups.setdefault(group, {}).setdefault(kind, {})[fact] = {"": value}
    return groups


def _facts(
    release: Release, import_path: str, definition: str, published: Mapping[str, Property]
) -> Iterator[tuple[str, str, Any]]:
    """The facts about the fields of a type."""
    schema = release.definitions[definition]
    struct = definition.rpartition(".")[2]
    coded = defaults.of_type(release, import_path, struct)
    in_go = dict(_flat(release.packages.of(import_path), struct))
    has_numbers = any(package == import_path for package, _ in release.protos)
    for field, property_ in schema["properties"].items():
        if field not in published or field not in in_go:
            raise Unusable(f"{definition}.{field} of the definitions is not in the sources of {release.tree.release}")
        if has_numbers and not in_go[field].number:
            raise Unusable(f"{definition}.{field} has no protobuf number in the sources of {release.tree.release}")
        declared = _declared(release, definition, field, definitions.cleaned(property_), in_go[field], published[field])
        if declared:
            yield field, "openapi_defaults", declared[0]
        found = [one for one in declared if in_go[field].is_pointer or not _is_zero(one)]
        found = found or ([coded[field]] if field in coded else [])
        if found:
            yield field, "defaults", found[0]
        if published[field].enum is not None:
            yield field, "enums", published[field].enum


def _flat(package: Package, struct: str) -> Iterator[tuple[str, GoField]]:
    """The fields of a struct and of those that it embeds, by their names in JSON."""
    declared = go_fields.declared_fields(package, struct)
    for (owner, file, declaration), field in zip(declared, go_fields.fields_of(package, struct), strict=True):
        inner = None if field.name else go_fields.embedded(owner, file, declaration)
        if field.name:
            yield field.name, field
        elif inner is not None:
            yield from _flat(*inner)


def _declared(
    release: Release, definition: str, name: str, schema: Schema, in_go: GoField, published: Property
) -> list[Any]:
    """The default that stands beside the field in the source, not that of every value of its Go type."""
    enforced = _enforced(release.definitions, schema, in_go)
    if enforced and not published.default:
        raise Unusable(f"OpenAPI has no default for {definition}.{name}, whose Go type enforces one")
    return [] if published.default == enforced else published.default


def _enforced(published: Definitions, schema: Schema, in_go: GoField) -> list[Any]:
    """The default of a Go type: a struct that is no pointer is empty, and a value without omitempty is zero."""
    if in_go.is_pointer:
        return []
    definition = definitions.referenced(schema)
    if definition:
        return [{}] if "properties" in published[definition] else []
    if not in_go.is_printed or schema.get("format") == "byte" or schema.get("type") not in _ZEROES:
        return []
    return [_ZEROES[schema["type"]]]


def _is_zero(value: Any) -> bool:
    return value in ("", 0, False, {})


def _of_kinds(release: Release) -> Iterator[tuple[str, str, str, Any]]:
    """The versions in which kube-apiserver reads kinds that it does not serve, and the other groups of kinds."""
    published = {(one.group, one.version, one.kind) for one in release.definitions.by_type()}
    old: dict[tuple[str, str], set[str]] = {}
    for group, version, kind in kinds.versions(release):
        is_list = kind.endswith("List") and kind != "List"
        if (group, version, kind) not in published and not is_list:
            key = group.partition(".")[0] or "core"
            old.setdefault((key, kind), set()).add(f"{group}/{version}".strip("/"))
    for (group, kind), versions in old.items():
        yield group, kind, "old_versions", sorted(versions)
    others: dict[tuple[str, str], set[str]] = {}
    for group, kind, other in kinds.shared(release):
        if not kind.endswith("List"):
            others.setdefault((group, kind), set()).add(other)
    for (group, kind), groups in others.items():
        yield group, kind, "other_groups", sorted(groups)
