"""Claims: validates the spec that persistent volume claims and ephemeral volume templates share. Pure."""

from collections.abc import Collection, Sequence

from aio_apiserver.registry.base.validation import field, label_selectors, names, object_meta, resource_names
from aio_apiserver.registry.groups.core.pods.validation import rules
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ALONE = "ReadWriteOncePod"
_VOLUME_MODES = ("Block", "Filesystem")
_CLAIM = "PersistentVolumeClaim"
_OTHER_KIND = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
_META_MEMBERS = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
"""The metadata of a claim template, beside labels and annotations. None of it may be set."""
_EMPTY_COUNTS = frozenset(
    {"deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields"}
)
"""Members that count as set when they are present, even when they are empty."""
_GO_NAMES = {"uid": "uID"}


def validate_template(template: Obj, path: str, *, empties: Collection[str] = ()) -> Errors:
    """The errors of an ephemeral volume's claim template: metadata and spec."""
    errors = validate_template_metadata(rules.member(template, "metadata"), f"{path}.metadata", empties=empties)
    return errors + validate_spec(rules.member(template, "spec"), f"{path}.spec")


def validate_template_metadata(metadata: Obj, path: str, *, empties: Collection[str] = ()) -> Errors:
    """The errors of the template's metadata. Labels and annotations may be set. `empties` are the paths of empty fields
    in the request.
    """
    errors = object_meta.validate_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    errors += object_meta.validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    for member in _META_MEMBERS:
        is_there = metadata.get(member) is not None if member in _EMPTY_COUNTS else metadata.get(member)
        if is_there or f"{path}.{member}" in empties:
            errors.append(field.forbidden(f"{path}.{_GO_NAMES.get(member, member)}", "cannot be set"))
    return errors


def validate_spec(spec: Obj, path: str, *, old: Obj | None = None) -> Errors:
    """The errors of a claim's spec. An update may keep some violations of the old spec."""
    modes = spec.get("accessModes") or ()
    errors = [] if modes else [field.required(f"{path}.accessModes", "at least 1 access mode is required")]
    errors += _validate_selector(spec, path, old)
    errors += _validate_access_modes(modes, f"{path}.accessModes")
    errors += _validate_size(spec, f"{path}.resources[storage]")
    if spec.get("storageClassName"):
        errors += rules.subdomain(spec["storageClassName"], f"{path}.storageClassName")
    errors += rules.word(spec, path, "volumeMode", _VOLUME_MODES)
    errors += _validate_sources(spec, path, old)
    if spec.get("volumeAttributesClassName"):
        errors += rules.subdomain(spec["volumeAttributesClassName"], f"{path}.volumeAttributesClassName")
    return errors


def _validate_selector(spec: Obj, path: str, old: Obj | None) -> Errors:
    here = f"{path}.selector"
    if spec.get("selector") is None:
        return []
    before = (old or {}).get("selector")
    is_lenient = before is not None and bool(label_selectors.validate(before, here))
    return label_selectors.validate(spec["selector"], here, allows_invalid_values=is_lenient)


def _validate_access_modes(modes: Sequence[str], path: str) -> Errors:
    errors = [field.not_supported(path, mode, _ACCESS_MODES) for mode in modes if mode not in _ACCESS_MODES]
    known = {mode for mode in modes if mode in _ACCESS_MODES}
    if _ALONE in known and len(known) > 1:
        errors.append(field.forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def _validate_size(spec: Obj, path: str) -> Errors:
    size = rules.member(rules.member(spec, "resources"), "requests").get("storage")
    if size is None:
        return [field.required(path)]
    if size.startswith("-") or size == "0":
        return [field.invalid(path, size, "must be greater than zero")]
    return resource_names.validate_amount("storage", size, path)


def _validate_sources(spec: Obj, path: str, old: Obj | None) -> Errors:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    any_group = any(rules.member(old, member).get("apiGroup") is not None for member in ("dataSource", "dataSourceRef"))
    errors: Errors = []
    if source is not None:
        errors += _validate_source(source, f"{path}.dataSource", any_group=any_group)
    if reference is not None:
        errors += _validate_source(reference, f"{path}.dataSourceRef", any_group=any_group)
        if reference.get("namespace"):
            errors += rules.label(reference["namespace"], f"{path}.dataSourceRef.namespace")
    if source is None or reference is None:
        return errors
    if reference.get("namespace"):
        errors.append(field.invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified"))
    elif any(source.get(member) != reference.get(member) for member in ("apiGroup", "kind", "name")):
        errors.append(field.invalid(path, {}, "must match dataSourceRef"))
    return errors


def _validate_source(source: Obj, path: str, *, any_group: bool) -> Errors:
    errors = rules.required(source, path, "name", "kind")
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    if not group and kind != _CLAIM:
        errors.append(field.invalid(path, kind, _OTHER_KIND))
    if group and not any_group:
        errors += field.invalid_each(f"{path}.apiGroup", group, names.is_dns_subdomain(group, False))
    return errors
