"""Volume specs: validates the spec of persistent volumes and of inline volumes in VolumeAttachments.

The sources are those of pods; this module adds the stricter rules of persistent volumes. Pure.
"""

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.validation import counted_amounts, field, internal, names
from aio_apiserver.registry.groups.core.pods.validation import affinity, options, rules, volume_sources
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ALONE = "ReadWriteOncePod"
_RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_VOLUME_MODES = ("Block", "Filesystem")
_NOT_INLINE = "may not be specified in the context of inline volumes"
_ONE_SOURCE = "may not specify more than 1 volume type"
_ISCSI_FORMAT = "must be valid format"
_ISCSI_LIMIT = 64
_ISCSI_TOO_LONG = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is "
    "specified."
)
_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")


def validate(spec: Obj, name: str, *, old: Obj | None = None) -> Errors:
    """The errors of a persistent volume's spec. `old` is the spec that an update replaces."""
    errors = _validate_access_modes(spec.get("accessModes") or (), "spec.accessModes")
    errors += _validate_capacity(spec.get("capacity"), "spec.capacity")
    errors += rules.word(spec, "spec", "persistentVolumeReclaimPolicy", _RECLAIM_POLICIES)
    errors += _validate_affinity(spec.get("nodeAffinity"), "spec.nodeAffinity", old)
    errors += _validate_source(spec, "spec", name)
    if spec.get("storageClassName"):
        errors += rules.subdomain(spec["storageClassName"], "spec.storageClassName")
    errors += rules.word(spec, "spec", "volumeMode", _VOLUME_MODES)
    return errors + _validate_attributes_class(spec, "spec")


def validate_inline(spec: Obj, path: str) -> Errors:
    """The errors of an inline volume's spec in a VolumeAttachment, where CSI volumes alone are allowed."""
    errors = [] if spec.get("claimRef") is None else [field.forbidden(f"{path}.claimRef", _NOT_INLINE)]
    errors += [field.forbidden(f"{path}.capacity", _NOT_INLINE)] if spec.get("capacity") else []
    if spec.get("csi") is None:
        errors.append(field.required(f"{path}.csi", "has to be specified in the context of inline volumes"))
    errors += _validate_access_modes(spec.get("accessModes") or (), f"{path}.accessModes")
    if spec.get("persistentVolumeReclaimPolicy") not in {None, "", "Retain"}:
        detail = "may only be Retain in the context of inline volumes"
        errors.append(field.forbidden(f"{path}.persistentVolumeReclaimPolicy", detail))
    if spec.get("nodeAffinity") is not None:
        errors.append(field.forbidden(f"{path}.nodeAffinity", _NOT_INLINE))
    errors += _validate_source(spec, path, "")
    if spec.get("storageClassName"):
        errors.append(field.forbidden(f"{path}.storageClassName", _NOT_INLINE))
    if spec.get("volumeMode") not in {None, "Filesystem"}:
        detail = "may not specify volumeMode other than Filesystem in the context of inline volumes"
        errors.append(field.forbidden(f"{path}.volumeMode", detail))
    return errors


def source_of(spec: Obj) -> dict[str, Any]:
    """The volume source: the part of a spec that locates the storage."""
    return {name: spec[name] for name in SOURCES if spec.get(name) is not None}


def _validate_access_modes(modes: Sequence[str], path: str) -> Errors:
    errors = [] if modes else [field.required(path)]
    errors += [field.not_supported(path, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    known = {mode for mode in modes if mode in ACCESS_MODES}
    if _ALONE in known and len(known) > 1:
        errors.append(field.forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def _validate_capacity(capacity: Mapping[str, str] | None, path: str) -> Errors:
    errors = [] if capacity else [field.required(path)]
    if list(capacity or ()) != ["storage"]:
        errors.append(field.not_supported(path, internal.meta(capacity), ("storage",)))
    for name, text in (capacity or {}).items():
        errors += validate_amount(text, f"{path}[{name}]")
        if quantity.parse(text).digits <= 0:
            errors.append(field.invalid(f"{path}[{name}]", text, "must be greater than zero"))
    return errors


def validate_amount(text: str, path: str) -> Errors:
    """The error for a negative amount."""
    whole = counted_amounts.value(quantity.parse(text))
    return [field.invalid(path, whole, "must be a valid resource quantity")] if whole < 0 else []


def _validate_affinity(given: Obj | None, path: str, old: Obj | None) -> Errors:
    if given is None:
        return []
    if given.get("required") is None:
        return [field.required(f"{path}.required", "must specify required node constraints")]
    before = rules.member(rules.member(old, "nodeAffinity"), "required")
    return affinity.validate_node_selector(given["required"], f"{path}.required", any_value=_has_bad_values(before))


def _has_bad_values(selector: Obj) -> bool:
    """Whether the selector already has values that are no valid labels. An update may then keep such values."""
    return any(
        names.check_label_value(value)
        for term in selector.get("nodeSelectorTerms") or ()
        for expression in term.get("matchExpressions") or ()
        for value in expression.get("values") or ()
    )


def _validate_source(spec: Obj, path: str, name: str) -> Errors:
    errors: Errors = []
    found = 0
    for source, place in SOURCES.items():
        if spec.get(source) is None:
            continue
        if found and source != "flexVolume":
            errors.append(field.forbidden(f"{path}.{place}", _ONE_SOURCE))
            continue
        found += 1
        errors += _validate_one(spec[source], source, f"{path}.{source}", name)
        if source == "local" and spec.get("nodeAffinity") is None:
            errors.append(field.required(f"{path}.nodeAffinity", "Local volume requires node affinity"))
    if not found:
        errors.append(field.required(path, "must specify a volume type"))
    host = spec.get("hostPath")
    is_recycled = spec.get("persistentVolumeReclaimPolicy") == "Recycle"
    if host is not None and is_recycled and posixpath.normpath(host.get("path", "")) in {"/", "//"}:
        detail = "may not be 'recycle' for a hostPath mount of '/'"
        errors.append(field.forbidden(f"{path}.persistentVolumeReclaimPolicy", detail))
    return errors


def _validate_one(source: Obj, kind: str, path: str, name: str) -> Errors:
    if kind == "csi":
        return _validate_csi(source, path)
    if kind == "local":
        return _validate_local(source, path)
    place = volume_sources.Volume(name=name, pod_name="", options=options.PodOptions())
    errors = volume_sources.SOURCES[kind](source, path, place)
    if kind == "iscsi":
        return _validate_iscsi(source, path, name, errors)
    if kind in {"cinder", "storageos"} and source.get("secretRef") is not None:
        errors += rules.required(source["secretRef"], f"{path}.secretRef", "namespace")
    if kind == "azureFile" and source.get("secretNamespace") == "":
        errors.append(field.required(f"{path}.secretNamespace"))
    if kind == "glusterfs":
        errors += _validate_endpoints_namespace(source.get("endpointsNamespace"), f"{path}.endpointsNamespace")
    return errors


def _validate_endpoints_namespace(namespace: str | None, path: str) -> Errors:
    if namespace is None:
        return []
    if not namespace:
        detail = "if the endpointnamespace is set, it must be a valid namespace name"
        return [field.invalid(path, namespace, detail)]
    return rules.label(namespace, path)


def _validate_iscsi(source: Obj, path: str, name: str, errors: Errors) -> Errors:
    """The errors of an iSCSI source, with the shorter messages for persistent volumes."""
    portal = source.get("targetPortal", "")
    is_long = source.get("initiatorName") is not None and len(f"{name}:{portal}".encode()) > _ISCSI_LIMIT
    before = [field.invalid(f"{path}.targetportal", portal, _ISCSI_TOO_LONG)] if is_long else []
    secret = source.get("secretRef")
    if secret is not None:
        errors += rules.required(secret, f"{path}.secretRef", "name")
    return before + [
        replace(error, detail=_ISCSI_FORMAT) if error.detail.startswith(_ISCSI_FORMAT) else error for error in errors
    ]


def _validate_local(source: Obj, path: str) -> Errors:
    if not source.get("path"):
        return [field.required(f"{path}.path")]
    return rules.path_without_backsteps(source["path"], f"{path}.path")


def _validate_csi(source: Obj, path: str) -> Errors:
    errors = volume_sources.validate_csi_driver(source.get("driver", ""), f"{path}.driver")
    errors += rules.required(source, path, "volumeHandle")
    for name in _SECRETS:
        secret = source.get(name)
        if secret is not None:
            errors += _validate_secret(secret, f"{path}.{name}")
    return errors


def _validate_secret(secret: Obj, path: str) -> Errors:
    errors = rules.required(secret, path, "name")
    if secret.get("name"):
        errors += rules.subdomain(secret["name"], f"{path}.name")
    errors += rules.required(secret, path, "namespace")
    return errors + (rules.label(secret["namespace"], f"{path}.namespace") if secret.get("namespace") else [])


def _validate_attributes_class(spec: Obj, path: str) -> Errors:
    name = spec.get("volumeAttributesClassName")
    if name is None:
        return []
    here = f"{path}.volumeAttributesClassName"
    errors = rules.subdomain(name, here) if name else [field.required(here, "an empty string is disallowed")]
    if spec.get("csi") is None:
        detail = "has to be specified when using volumeAttributesClassName"
        errors.append(field.required(f"{path}.csi", detail))
    return errors


SOURCES: Mapping[str, str] = {
    name: {"cephfs": "cephFS"}.get(name, name)
    for name in (
        "hostPath",
        "gcePersistentDisk",
        "awsElasticBlockStore",
        "glusterfs",
        "flocker",
        "nfs",
        "rbd",
        "quobyte",
        "cephfs",
        "iscsi",
        "cinder",
        "fc",
        "flexVolume",
        "azureFile",
        "vsphereVolume",
        "photonPersistentDisk",
        "portworxVolume",
        "azureDisk",
        "scaleIO",
        "local",
        "storageos",
        "csi",
    )
}
"""The sources in kube-apiserver's order, and their names in the error for a second source."""
