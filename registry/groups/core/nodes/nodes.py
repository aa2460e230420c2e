"""Nodes: their taints, their pod CIDRs, and the status that kubelets report."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.fields import flag
from aio_apiserver.registry.base.golang import json_texts
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import addresses, field, internal, names, resource_names, taints
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import CONFIG_KEY
from aio_apiserver.registry.generic.error_history import instead, since
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.nodes import nodes_columns

_TAINTS_ANNOTATION = "scheduler.alpha.kubernetes.io/taints"
_AVOID_PODS_ANNOTATION = "scheduler.alpha.kubernetes.io/preferAvoidPods"
_ANNOTATIONS = "metadata.annotations"
_TAINTS = "metadata.taints"

_FEATURE = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
_FEATURE_LIMIT = 253
_FEATURE_DETAIL = (
    "invalid feature name {}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' "
    "(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)
_SET_ONCE = 'node updates may not change {} except from "" to valid'
_ONE_SOURCE = "exactly one reference subfield must be non-nil"


class NodeStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of nodes. A new node may bring its status; later, /status alone changes the status."""

    def default(self, obj: Object) -> None:
        _default(obj)

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        (obj.get("spec") or {}).pop("configSource", None)
        (obj.get("status") or {}).pop("config", None)

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        if not _spec(old).get("configSource"):
            _spec(new).pop("configSource", None)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        status = obj.get("status") or {}
        errors = super().validate(context, obj) + _validate_annotations(obj)
        errors += taints.validate(_spec(obj).get("taints") or (), _TAINTS)
        errors += _validate_resources(status)
        capacity = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
        if capacity is not None and capacity <= 0:
            errors.append(field.invalid("metadata.nodeSwapStatus.capacity", capacity, "must be greater than zero"))
        errors += _validate_features(status)
        return errors + _validate_blocks(_spec(obj).get("podCIDRs") or ())

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return (
            self.validate_again(context, new) + super().validate_update(context, new, old) + _validate_changes(new, old)
        )

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        spec = _spec(obj)
        warnings = []
        if spec.get("configSource"):
            warnings.append("spec.configSource: the feature is removed")
        if spec.get("externalID"):
            warnings.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
        for index, block in enumerate(spec.get("podCIDRs") or ()):
            warnings += addresses.warn_cidr(block, f"spec.podCIDRs[{index}]")
        return warnings

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


class NodeStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status that the kubelet reports."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        if not (old.get("status") or {}).get("config"):
            (new.get("status") or {}).pop("config", None)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + _validate_changes(new, old)


def _spec(obj: Object) -> Object:
    spec: Object = obj.get("spec") or {}
    return spec


def _default(obj: Object) -> None:
    spec, status = _spec(obj), obj.get("status") or {}
    single, blocks = spec.get("podCIDR"), spec.get("podCIDRs") or []
    if single and (not blocks or blocks[0] != single):
        spec["podCIDRs"] = [single]
    elif blocks:
        spec["podCIDR"] = blocks[0]
    if status.get("capacity") is not None and status.get("allocatable") is None:
        status["allocatable"] = dict(status["capacity"])


def _validate_annotations(obj: Object) -> list[FieldError]:
    annotations = obj["metadata"].get("annotations") or {}
    errors = []
    if text := annotations.get(_TAINTS_ANNOTATION):
        found, wrong = _list_in(text, "[]core.Taint")
        if wrong:
            errors.append(field.invalid(_ANNOTATIONS, _TAINTS_ANNOTATION, wrong))
        errors += taints.validate(_with_small_names(found), f"{_ANNOTATIONS}.{_TAINTS_ANNOTATION}")
    if text := annotations.get(_AVOID_PODS_ANNOTATION):
        errors += _validate_avoided_pods(text)
    return errors


def _list_in(text: str, go_type: str) -> tuple[Sequence[Any], str]:
    """The maps in an annotation that holds a JSON list, and the message when it is no such list."""
    try:
        value = json_texts.value_of(text.encode())
    except ValueError as exc:
        return (), str(exc)
    if not isinstance(value, list | None):
        return (), f"json: cannot unmarshal {type(value).__name__} into Go value of type {go_type}"
    return [one for one in value or () if isinstance(one, Mapping)], ""


def _with_small_names(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{str(name).lower(): value for name, value in one.items()} for one in found]


def _validate_avoided_pods(text: str) -> list[FieldError]:
    try:
        value = json_texts.value_of(text.encode())
    except ValueError as exc:
        return [field.invalid(f"{_ANNOTATIONS}.AvoidPods", _AVOID_PODS_ANNOTATION, str(exc))]
    entries = value.get("preferAvoidPods") if isinstance(value, Mapping) else None
    errors = []
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        path = f"{_ANNOTATIONS}.{_AVOID_PODS_ANNOTATION}[{index}].PodSignature"
        signature = entry.get("podSignature") if isinstance(entry, Mapping) else None
        controller = signature.get("podController") if isinstance(signature, Mapping) else None
        if not isinstance(controller, Mapping):
            errors.append(field.required(path))
        elif not controller.get("controller"):
            errors.append(field.invalid(f"{path}.PodController.Controller", False, "must point to a controller"))
    return errors


def _validate_resources(status: Mapping[str, Any]) -> list[FieldError]:
    return [
        error
        for member in ("capacity", "allocatable")
        for name, amount in (status.get(member) or {}).items()
        for error in resource_names.validate_amount(
            name, amount, field.child(f"status.{member}", name) if name else f"status.{member}[]"
        )
    ]


def _validate_features(status: Mapping[str, Any]) -> list[FieldError]:
    features = status.get("declaredFeatures") or ()
    errors = []
    for index, feature in enumerate(features):
        path = f"status.declaredFeatures[{index}]"
        before = features[index - 1] if index else None
        if before == feature:
            errors.append(field.duplicate(path, feature))
        elif before is not None and before > feature:
            errors.append(field.invalid(path, feature, "list must be sorted alphabetically"))
        if len(feature) > _FEATURE_LIMIT:
            detail = f"invalid feature name {quote(feature)}: must be no more than {_FEATURE_LIMIT} characters"
            errors.append(field.invalid(path, feature, detail))
        elif not _FEATURE.fullmatch(feature):
            errors.append(field.invalid(path, feature, _FEATURE_DETAIL.format(quote(feature))))
    return errors


def _validate_blocks(blocks: Sequence[str]) -> list[FieldError]:
    errors = []
    for index, block in enumerate(blocks):
        errors += addresses.validate_legacy_cidr(block, f"spec.podCIDRs[{index}]")
    if len(blocks) < 2:
        return errors
    parsed = [addresses.parse_cidr(block) for block in blocks]
    wrong = parsed.index(None) if None in parsed else None
    if wrong is not None:
        failure = f"invalid CIDR[{wrong}]: <nil> (invalid CIDR address: {blocks[wrong]})"
        detail = f"invalid PodCIDRs. failed to check with dual stack with error:{failure}"
        errors.append(field.internal("spec.podCIDRs", detail))
    families = {addresses.version_of(found) for found in parsed if found is not None}
    if wrong is not None or len(families) < 2 or len(blocks) > 2:
        detail = "may specify no more than one CIDR for each IP family"
        errors.append(field.invalid("spec.podCIDRs", list(blocks), detail))
    return errors


def _validate_changes(new: Object, old: Object) -> list[FieldError]:
    spec, old_spec, status = _spec(new), _spec(old), new.get("status") or {}
    errors = _validate_annotations(new) + _validate_resources(status) + _validate_features(status)
    errors += _validate_addresses(status.get("addresses") or ())
    errors += _validate_kept_blocks(spec.get("podCIDRs") or (), old_spec.get("podCIDRs") or ())
    known = old_spec.get("providerID")
    if known and known != spec.get("providerID"):
        errors.append(field.forbidden("spec.providerID", _SET_ONCE.format("providerID")))
    if spec.get("configSource") is not None:
        errors += _validate_source(spec["configSource"], "spec.configSource", is_status=False)
    for name in ("assigned", "active", "lastKnownGood"):
        source = (status.get("config") or {}).get(name)
        if source is not None:
            errors += _validate_source(source, f"status.config.{name}", is_status=True)
    errors += taints.validate(spec.get("taints") or (), _TAINTS)
    if spec.get("externalID", "") != old_spec.get("externalID", ""):
        errors.append(field.forbidden("spec.externalID", "may not be updated"))
    return errors


def _validate_addresses(given: Sequence[Mapping[str, str]]) -> list[FieldError]:
    errors = []
    seen = set()
    for index, address in enumerate(given):
        one = (address.get("type", ""), address.get("address", ""))
        if one in seen:
            errors.append(field.duplicate(f"status.addresses[{index}]", internal.form("core.NodeAddress", address)))
        seen.add(one)
    return errors


def _validate_kept_blocks(new: Sequence[str], old: Sequence[str]) -> list[FieldError]:
    if not old:
        return []
    changed = 1 if len(new) != len(old) else sum(one != other for one, other in zip(new, old, strict=True))
    return [field.forbidden("spec.podCIDRs", _SET_ONCE.format("podCIDR"))] * changed


def _validate_source(source: Mapping[str, Any], path: str, *, is_status: bool) -> list[FieldError]:
    reference = source.get("configMap")
    if reference is None:
        return [field.invalid(path, internal.form("core.NodeConfigSource", source), _ONE_SOURCE)]
    path = f"{path}.configMap"
    errors = []
    for name in ("uid", "resourceVersion"):
        if is_status and not reference.get(name):
            errors.append(field.required(f"{path}.{name}"))
        elif not is_status and reference.get(name):
            errors.append(field.forbidden(f"{path}.{name}", f"{name} must not be set in spec"))
    checks = (
        ("namespace", lambda value: names.is_dns_label(value, False)),
        ("name", lambda value: names.is_dns_subdomain(value, False)),
        ("kubeletConfigKey", CONFIG_KEY.check),
    )
    for name, check in checks:
        value = reference.get(name, "")
        found = check(value) if value else ()
        errors += field.invalid_each(f"{path}.{name}", value, found)
        if not value:
            errors.append(field.required(f"{path}.{name}"))
    return errors


_ERRORS = (
    since(
        (1, 37),
        r"spec\.providerID",
        instead(field.invalid("spec.providerID", None, "field cannot be modified once set")),
        type=field.ErrorType.FORBIDDEN,
    ),
)

NODES = Kind(
    group="",
    plural="nodes",
    kind="Node",
    stored_under="minions",
    is_namespaced=False,
    short_names=("no",),
    strategy=NodeStrategy(has_status=True),
    status_strategy=NodeStatusStrategy(),
    fields={"spec.unschedulable": flag("spec.unschedulable")},
    columns=nodes_columns.COLUMNS,
    history=(before((1, 36), columns=nodes_columns.COLUMNS_BEFORE_1_36),),
    errors=_ERRORS,
)
