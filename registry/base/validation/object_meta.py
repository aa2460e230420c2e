"""Object meta: validation of ObjectMeta for every kind, on create and on update.

Pure. Must hold: the order of the errors is kube-apiserver's. Labels and annotations are checked in the order of the
object.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import NameCheck

IMMUTABLE = "field is immutable"
ORPHAN_DEPENDENTS = "orphan"
FOREGROUND_DELETION = "foregroundDeletion"

STANDARD_FINALIZERS = frozenset({"kubernetes", ORPHAN_DEPENDENTS, FOREGROUND_DELETION})

_EMPTY_REFERENCE = {"apiVersion": "", "kind": "", "name": "", "uid": ""}
_REFERENCE_MEMBERS = (*_EMPTY_REFERENCE, "controller", "blockOwnerDeletion")
_ANNOTATIONS_LIMIT = 256 * 1024
_FIELD_MANAGER_LIMIT = 128
_SUBRESOURCE_LIMIT = 256

Meta = Mapping[str, Any]


def validate(meta: Meta, *, is_namespaced: bool, check_name: NameCheck, path: str = "metadata") -> list[FieldError]:
    """The errors of a new object, after its name has been generated."""
    errors = []
    if generate_name := meta.get("generateName"):
        errors += field.invalid_each(f"{path}.generateName", generate_name, check_name(generate_name, True))
    name = meta.get("name")
    if not name:
        errors.append(field.required(f"{path}.name", "name or generateName is required"))
    elif wrong := check_name(name, False):
        errors += field.invalid_each(f"{path}.name", name, wrong)
    errors += _validate_namespace(meta.get("namespace", ""), is_namespaced=is_namespaced, path=f"{path}.namespace")
    if meta.get("generation", 0) < 0:
        errors.append(field.invalid(f"{path}.generation", meta["generation"], "must be greater than or equal to 0"))
    for member, rules in _RULES:
        if present := meta.get(member):
            errors += rules(present, f"{path}.{member}")
    return errors


def validate_update(new: Meta, old: Meta, *, path: str = "metadata") -> list[FieldError]:
    """The errors of an update, in addition to those of a new object."""
    errors = []
    if old.get("deletionTimestamp"):
        errors += _validate_no_new_finalizers(new, old, f"{path}.finalizers")
    if not new.get("resourceVersion"):
        errors.append(field.invalid(f"{path}.resourceVersion", "", "must be specified for an update"))
    if new.get("generation", 0) < old.get("generation", 0):
        errors.append(field.invalid(f"{path}.generation", new.get("generation", 0), "must not be decremented"))
    for name, empty in _IMMUTABLE_FIELDS:
        if new.get(name, empty) != old.get(name, empty):
            errors.append(field.invalid(f"{path}.{name}", new.get(name, empty), IMMUTABLE))
    for member, rules in _RULES:
        if member != "finalizers" and (present := new.get(member)):
            errors += rules(present, f"{path}.{member}")
    return errors


_IMMUTABLE_FIELDS = (
    ("name", ""),
    ("namespace", ""),
    ("uid", ""),
    ("creationTimestamp", None),
    ("deletionTimestamp", None),
    ("deletionGracePeriodSeconds", None),
)


def validate_labels(labels: Mapping[str, str], path: str) -> list[FieldError]:
    """The errors of keys and values of labels."""
    errors = []
    for key, value in labels.items():
        if wrong := names.check_qualified_name(key):
            errors += field.invalid_each(path, key, wrong)
        if wrong := names.check_label_value(value):
            errors += field.invalid_each(path, value, wrong)
    return errors


def validate_annotations(annotations: Mapping[str, str], path: str) -> list[FieldError]:
    """The errors of annotation keys, in which case does not matter, and of their total size."""
    errors = []
    for key in annotations:
        errors += field.invalid_each(path, key, names.check_qualified_name(key.lower()))
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > _ANNOTATIONS_LIMIT:
        errors.append(field.too_long(path, _ANNOTATIONS_LIMIT))
    return errors


def validate_field_manager(manager: str, path: str) -> list[FieldError]:
    """The errors of a field manager's name."""
    if manager.isprintable() and manager.isascii() and len(manager) <= _FIELD_MANAGER_LIMIT:
        return []
    errors = []
    if len(manager.encode()) > _FIELD_MANAGER_LIMIT:
        errors.append(field.too_long(path, _FIELD_MANAGER_LIMIT))
    position = 0
    for char in manager:
        if not char.isprintable():
            errors.append(field.invalid(path, manager, f"invalid character U+{ord(char):04X} (at position {position})"))
        position += len(char.encode())
    return errors


def _validate_namespace(namespace: str, *, is_namespaced: bool, path: str) -> list[FieldError]:
    if not is_namespaced:
        return [field.forbidden(path, "not allowed on this type")] if namespace else []
    if not namespace:
        return [field.required(path)]
    return field.invalid_each(path, namespace, names.is_dns_label(namespace, False))


def _validate_owner_references(references: Sequence[Mapping[str, Any]], path: str) -> list[FieldError]:
    errors = []
    controller = ""
    for index, reference in enumerate(references):
        errors += [replace(error, position=index) for error in _validate_owner_reference(reference, path)]
        if not reference.get("controller"):
            continue
        this = f"{reference.get('kind', '')}/{reference.get('name', '')}"
        if controller:
            detail = (
                "Only one reference can have Controller set to true. "
                f'Found "true" in references for {controller} and {this}'
            )
            errors.append(field.invalid(path, [_as_printed(one) for one in references], detail))
        else:
            controller = this
    return errors


def _as_printed(reference: Mapping[str, Any]) -> dict[str, Any]:
    """A reference with its members in Kubernetes' order. Its texts are there, even if they are empty."""
    given = {**_EMPTY_REFERENCE, **reference}
    return {name: given[name] for name in _REFERENCE_MEMBERS if name in given}


def _validate_owner_reference(reference: Mapping[str, Any], path: str) -> list[FieldError]:
    api_version = reference.get("apiVersion", "")
    group, _, version = api_version.rpartition("/") if api_version.count("/") < 2 else ("", "", "")
    checks = (
        ("apiVersion", version, "version must not be empty"),
        ("kind", reference.get("kind"), "must not be empty"),
        ("name", reference.get("name"), "must not be empty"),
        ("uid", reference.get("uid"), "must not be empty"),
    )
    errors = [
        field.invalid(f"{path}.{name}", reference.get(name, ""), message)
        for name, value, message in checks
        if not value
    ]
    if (group, version, reference.get("kind")) == ("", "v1", "Event"):
        errors.append(field.invalid(path, _as_printed(reference), "/v1, Kind=Event is disallowed from being an owner"))
    return errors


def _validate_finalizers(finalizers: Sequence[str], path: str) -> list[FieldError]:
    errors = [error for finalizer in finalizers for error in _validate_finalizer_name(finalizer, path)]
    if ORPHAN_DEPENDENTS in finalizers and FOREGROUND_DELETION in finalizers:
        detail = f"finalizer {ORPHAN_DEPENDENTS} and {FOREGROUND_DELETION} cannot be both set"
        errors.append(field.invalid(path, list(finalizers), detail))
    return errors


def validate_builtin_finalizers(finalizers: Sequence[str], path: str = "metadata.finalizers") -> list[FieldError]:
    """The errors of finalizers on built-in kinds, where a name without a domain must be a standard one."""
    return [error for index, name in enumerate(finalizers) for error in _validate_known(name, f"{path}[{index}]")]


def validate_finalizer(name: str, path: str) -> list[FieldError]:
    """The errors of a finalizer outside of metadata, as in a namespace's spec."""
    return _validate_finalizer_name(name, path) + _validate_known(name, path)


def _validate_finalizer_name(name: str, path: str) -> list[FieldError]:
    return field.invalid_each(path, name, names.check_qualified_name(name))


def _validate_known(name: str, path: str) -> list[FieldError]:
    if "/" in name or name in STANDARD_FINALIZERS:
        return []
    return [field.invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")]


def _validate_no_new_finalizers(new: Meta, old: Meta, path: str) -> list[FieldError]:
    extra = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
    if not extra:
        return []
    listed = "[]string{" + ", ".join(map(quote, extra)) + "}"
    detail = f"no new finalizers can be added if the object is being deleted, found new finalizers {listed}"
    return [field.forbidden(path, detail)]


def _validate_managed_fields(entries: Sequence[Mapping[str, Any]], path: str) -> list[FieldError]:
    errors = []
    for index, entry in enumerate(entries):
        here = f"{path}[{index}]"
        operation = entry.get("operation", "")
        if operation not in {"Apply", "Update"}:
            errors.append(field.invalid(f"{here}.operation", operation, "must be `Apply` or `Update`"))
        fields_type = entry.get("fieldsType", "")
        if fields_type not in {"", "FieldsV1"}:
            errors.append(field.invalid(f"{here}.fieldsType", fields_type, "must be `FieldsV1`"))
        errors += validate_field_manager(entry.get("manager", ""), f"{here}.manager")
        if len(entry.get("subresource", "").encode()) > _SUBRESOURCE_LIMIT:
            errors.append(field.too_long(f"{here}.subresource", _SUBRESOURCE_LIMIT))
    return errors


_RULES: Sequence[tuple[str, Callable[[Any, str], list[FieldError]]]] = (
    ("labels", validate_labels),
    ("annotations", validate_annotations),
    ("ownerReferences", _validate_owner_references),
    ("finalizers", _validate_finalizers),
    ("managedFields", _validate_managed_fields),
)
"""The members of metadata with rules of their own, in the order of their errors."""
