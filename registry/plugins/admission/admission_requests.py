"""Admission requests: the AdmissionRequest of a write, for CEL expressions and webhooks, without the objects. Pure."""

from typing import Any

from msgspec.structs import asdict

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.generic.options import META_GROUP, DeleteOptions
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES

_NAMESPACES = NAMESPACES.resource


def request(attributes: Attributes, own: AdmissionForm, matched: AdmissionForm) -> Object:
    """The AdmissionRequest of a write. `own` is the form of the request, `matched` the form that a rule matched."""
    user = attributes.user
    shown: Object = {
        "kind": _kind(matched.kind),
        "resource": _resource(matched),
        "subResource": attributes.subresource,
        "requestKind": _kind(own.kind),
        "requestResource": _resource(own),
        "requestSubResource": attributes.subresource,
        "name": attributes.name,
        "namespace": _namespace(attributes),
        "operation": attributes.operation.value,
        "userInfo": {
            "username": user.name,
            "uid": user.uid,
            "groups": list(user.groups),
            "extra": {name: list(values) for name, values in user.extra.items()},
        },
        "dryRun": attributes.is_dry_run,
        "options": options(attributes),
    }
    shown["userInfo"] = _present(shown["userInfo"])
    return _present(shown)


def _present(members: Object) -> Object:
    """The members that Go's JSON encoder would not omit as empty."""
    return {name: value for name, value in members.items() if value not in ("", None, [], {})}


def _namespace(attributes: Attributes) -> str:
    """The namespace of the request. The creation of a Namespace counts as a request in that namespace."""
    if attributes.operation is Operation.CREATE and attributes.resource == _NAMESPACES and attributes.obj is not None:
        return "" if attributes.obj["metadata"].get("generateName") else attributes.name
    return attributes.namespace


def _kind(kind: GroupVersionKind) -> Object:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _resource(form: AdmissionForm) -> Object:
    return {"group": form.resource.group, "version": form.version, "resource": form.resource.resource}


_NAMES = {
    "dry_run": "dryRun",
    "field_manager": "fieldManager",
    "field_validation": "fieldValidation",
    "force": "force",
    "grace_period_seconds": "gracePeriodSeconds",
    "orphan_dependents": "orphanDependents",
    "propagation_policy": "propagationPolicy",
}


def options(attributes: Attributes) -> Object | None:
    """The options of a write as CreateOptions, UpdateOptions or DeleteOptions; None when it has none."""
    given = attributes.options
    if given is None:
        return None
    shown: dict[str, Any] = {"kind": type(given).__name__, "apiVersion": f"{META_GROUP}/v1"}
    for attribute, value in asdict(given).items():
        name = _NAMES.get(attribute)
        if name is not None and value not in (None, "", ()):
            shown[name] = list(value) if isinstance(value, tuple) else value
    if isinstance(given, DeleteOptions) and given.preconditions is not None:
        wanted = {"uid": given.preconditions.uid, "resourceVersion": given.preconditions.resource_version}
        shown["preconditions"] = {name: value for name, value in wanted.items() if value is not None}
    return shown
