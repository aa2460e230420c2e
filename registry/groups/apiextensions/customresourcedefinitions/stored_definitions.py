"""stored_definitions: reads definitions as kube-apiserver stores them: in v1beta1.

v1beta1 has what is equal in all versions (schema, subresources, columns, selectable fields) once, beside the versions.
Pure. Must hold: the result is the v1 form that kube-apiserver serves of the value.
"""

from typing import Any

from aio_apiserver.base.unstructured import Object

_MOVED = {"validation": "schema", "subresources": "subresources", "selectableFields": "selectableFields"}
"""From a field of the v1beta1 spec to the field of each version in v1."""
_COLUMNS = "additionalPrinterColumns"
_WEBHOOK = {"webhookClientConfig": "clientConfig", "conversionReviewVersions": "conversionReviewVersions"}
"""From a field of the v1beta1 conversion to the field of its webhook in v1."""
_KEPT = ("group", "names", "scope")


def from_v1beta1(definition: Object) -> Object:
    """The definition in v1. The argument is changed."""
    old = definition.get("spec") or {}
    spec: dict[str, Any] = {name: old[name] for name in _KEPT if name in old}
    versions = old.get("versions") or _only_version(old)
    spec["versions"] = [_version(one, old) for one in versions]
    if old.get("conversion"):
        spec["conversion"] = _conversion(old["conversion"])
    if old.get("preserveUnknownFields"):
        spec["preserveUnknownFields"] = True
    definition["spec"] = spec
    return definition


def _only_version(old: dict[str, Any]) -> list[dict[str, Any]]:
    """The version of a definition that has a name for it and no list."""
    return [{"name": old["version"], "served": True, "storage": True}] if old.get("version") else []


def _version(version: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    moved = {new: old[name] for name, new in _MOVED.items() if name in old}
    columns = old.get(_COLUMNS) or version.get(_COLUMNS)
    if columns:
        moved[_COLUMNS] = [_column(one) for one in columns]
    return {**version, **moved}


def _column(column: dict[str, Any]) -> dict[str, Any]:
    return {{"JSONPath": "jsonPath"}.get(name, name): value for name, value in column.items()}


def _conversion(old: dict[str, Any]) -> dict[str, Any]:
    webhook = {new: old[name] for name, new in _WEBHOOK.items() if old.get(name)}
    return {"strategy": old["strategy"], **({"webhook": webhook} if webhook else {})}
