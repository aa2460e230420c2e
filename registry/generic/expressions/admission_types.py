"""Admission types: the CEL types of `request`, `namespaceObject` and of patches in mutating policies.

Pure: names and types. Must hold: the fields are kube-apiserver's. An expression cannot use other fields.
"""

from collections.abc import Iterator, Mapping

from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.machinery.cel.types import Type, TypeKind

REQUEST = types.object_named("kubernetes.AdmissionRequest")
NAMESPACE = types.object_named("kubernetes.Namespace")
VARIABLES = types.object_named("kubernetes.variables")
OBJECT = types.object_named("Object")
JSON_PATCH = types.object_named("JSONPatch")

_KIND = types.object_named("kubernetes.GroupVersionKind")
_RESOURCE = types.object_named("kubernetes.GroupVersionResource")
_USER = types.object_named("kubernetes.UserInfo")
_METADATA = types.object_named("kubernetes.NamespaceMetadata")
_SPEC = types.object_named("kubernetes.NamespaceSpec")
_STATUS = types.object_named("kubernetes.NamespaceStatus")
_CONDITION = types.object_named("kubernetes.NamespaceCondition")

_STRINGS = types.list_of(types.STRING)
_TEXTS = types.map_of(types.STRING, types.STRING)

REQUEST_OBJECTS: Mapping[str, Mapping[str, Type]] = {
    _KIND.name: dict.fromkeys(("group", "version", "kind"), types.STRING),
    _RESOURCE.name: dict.fromkeys(("group", "version", "resource"), types.STRING),
    _USER.name: {
        "username": types.STRING,
        "uid": types.STRING,
        "groups": _STRINGS,
        "extra": types.map_of(types.STRING, _STRINGS),
    },
    REQUEST.name: {
        "kind": _KIND,
        "resource": _RESOURCE,
        "subResource": types.STRING,
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        "requestSubResource": types.STRING,
        "name": types.STRING,
        "namespace": types.STRING,
        "operation": types.STRING,
        "userInfo": _USER,
        "dryRun": types.BOOL,
        "options": types.DYN,
    },
    _SPEC.name: {"finalizers": _STRINGS},
    _CONDITION.name: {
        **dict.fromkeys(("status", "type", "message", "reason"), types.STRING),
        "lastTransitionTime": types.TIMESTAMP,
    },
    _STATUS.name: {"conditions": types.list_of(_CONDITION), "phase": types.STRING},
    _METADATA.name: {
        **dict.fromkeys(("name", "generateName", "namespace", "UID", "resourceVersion"), types.STRING),
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "creationTimestamp": types.TIMESTAMP,
        "deletionTimestamp": types.TIMESTAMP,
        "deletionGracePeriodSeconds": types.INT,
        "generation": types.INT,
        "finalizers": _STRINGS,
    },
    NAMESPACE.name: {"metadata": _METADATA, "spec": _SPEC, "status": _STATUS},
}


class _AnyFields(Mapping[str, Type]):
    """The fields of an object type with any fields. Their types are checked when the patch meets an object."""

    def __getitem__(self, name: str) -> Type:
        return types.DYN

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _PatchFields(_AnyFields):
    """The fields of a JSONPatch operation. An unknown field has a type that no value fits."""

    _KNOWN: Mapping[str, Type] = {
        **dict.fromkeys(("op", "path", "from"), types.STRING),
        "value": types.DYN,
    }

    def __getitem__(self, name: str) -> Type:
        return self._KNOWN.get(name, Type(TypeKind.OBJECT, ""))


class WithPatches(Mapping[str, Mapping[str, Type]]):
    """Object types together with those of patches: `Object`, all types below it, and `JSONPatch`."""

    def __init__(self, others: Mapping[str, Mapping[str, Type]]) -> None:
        self._others = others

    def __getitem__(self, name: str) -> Mapping[str, Type]:
        if name == JSON_PATCH.name:
            return _PatchFields()
        if name == OBJECT.name or name.startswith(f"{OBJECT.name}."):
            return _AnyFields()
        return self._others[name]

    def __contains__(self, name: object) -> bool:
        is_patch = isinstance(name, str) and name.partition(".")[0] in (OBJECT.name, JSON_PATCH.name)
        return is_patch or name in self._others

    def __iter__(self) -> Iterator[str]:
        return iter(self._others)

    def __len__(self) -> int:
        return len(self._others)
