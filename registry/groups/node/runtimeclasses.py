"""RuntimeClasses: the container runtime of pods, with its overhead and the nodes that support it."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import domains, field, internal, node_labels, object_meta
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_LABEL
from aio_apiserver.registry.generic.error_history import showing, since, until
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods.validation import options, resources, scheduling
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

_REQUIRED = ErrorType.REQUIRED
_TOLERATION_KEYS = ("key", "operator", "value", "effect")


class RuntimeClassStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of runtime classes. The handler is immutable."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors, handler = super().validate(context, obj), obj.get("handler") or ""
        errors += domains.validate_format(handler, DNS1123_LABEL, "handler") if handler else [field.required("handler")]
        if obj.get("overhead") is not None:
            requirements = {"limits": obj["overhead"].get("podFixed") or {}}
            errors += resources.validate(requirements, "overhead", options=options.PodOptions())
        return errors + _validate_scheduling(obj.get("scheduling") or {}, "scheduling")

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_again(context, new) + super().validate_update(context, new, old)
        if new.get("handler") != old.get("handler"):
            errors.append(field.invalid("handler", new.get("handler") or "", object_meta.IMMUTABLE))
        return errors

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        labels = (obj.get("scheduling") or {}).get("nodeSelector") or {}
        return [
            f"scheduling.nodeSelector: {node_labels.DEPRECATED[label]}"
            for label in labels
            if label in node_labels.DEPRECATED
        ]

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


def _validate_scheduling(part: Mapping[str, Any], path: str) -> list[FieldError]:
    errors = object_meta.validate_labels(part.get("nodeSelector") or {}, f"{path}.nodeSelector")
    return errors + _validate_tolerations(part.get("tolerations") or (), f"{path}.tolerations")


def _validate_tolerations(tolerations: Sequence[Mapping[str, Any]], path: str) -> list[FieldError]:
    errors = scheduling.validate_tolerations(tolerations, path)
    seen: set[tuple[str, ...]] = set()
    for index, toleration in enumerate(tolerations):
        key = tuple(toleration.get(name) or "" for name in _TOLERATION_KEYS)
        if key in seen:
            errors.append(field.duplicate(f"{path}[{index}]", internal.form("core.Toleration", toleration)))
        seen.add(key)
    return errors


def _below_itself(error: FieldError) -> list[FieldError]:
    """The error with the field's name twice in its path."""
    return [replace(error, path=error.path.replace("tolerations[", "tolerations.tolerations[", 1))]


_COLUMNS = table_of(NAME, (Column(name="Handler"), value("handler")), AGE)

_ERRORS = (
    until((1, 35), r"scheduling\.tolerations\[\d+\].*", _below_itself),
    since((1, 37), "handler", showing(None), detail=object_meta.IMMUTABLE),
    until((1, 36), "handler", lambda _: domains.validate_format("", DNS1123_LABEL, "handler"), type=_REQUIRED),
)

RUNTIMECLASSES = Kind(
    group="node.k8s.io",
    plural="runtimeclasses",
    kind="RuntimeClass",
    is_namespaced=False,
    strategy=RuntimeClassStrategy(
        allows_create_on_update=True, allows_unconditional_update=False, allows_any_finalizer=True
    ),
    columns=_COLUMNS,
    errors=_ERRORS,
)
