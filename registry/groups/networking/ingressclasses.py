"""IngressClasses: the controller for Ingresses of a class, and its parameters."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import domains, field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_LABEL
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.networking import backends
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE

DEFAULT_ANNOTATION = "ingressclass.kubernetes.io/is-default-class"

_LONGEST_CONTROLLER = 250
_SCOPES = ("Cluster", "Namespace")


class IngressClassStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of ingress classes. The controller is immutable."""

    def default(self, obj: Object) -> None:
        parameters = (obj.get("spec") or {}).get("parameters")
        if parameters is not None:
            parameters.setdefault("scope", "Cluster")

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj.get("spec") or {})

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        controllers = [(one.get("spec") or {}).get("controller") or "" for one in (new, old)]
        if controllers[0] != controllers[1]:
            errors.append(field.invalid("spec.controller", controllers[0], object_meta.IMMUTABLE))
        return errors + self.validate_again(context, new)


def _validate_spec(spec: Mapping[str, Any]) -> list[FieldError]:
    path, controller = "spec.controller", spec.get("controller") or ""
    errors = []
    if len(controller.encode()) > _LONGEST_CONTROLLER:
        errors.append(field.too_long(path, _LONGEST_CONTROLLER))
    errors += domains.validate_prefixed_path(controller, path)
    parameters = spec.get("parameters")
    return errors + (_validate_parameters(parameters, "spec.parameters") if parameters is not None else [])


def _validate_parameters(parameters: Mapping[str, Any], path: str) -> list[FieldError]:
    errors = backends.validate_reference(parameters, path)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        return [*errors, field.required(f"{path}.scope")]
    if scope not in _SCOPES:
        return [*errors, field.not_supported(f"{path}.scope", scope, _SCOPES)]
    if scope == "Cluster":
        is_wrong = namespace is not None
        why = "`parameters.scope` is set to 'Cluster'"
        return errors + ([field.forbidden(f"{path}.namespace", why)] if is_wrong else [])
    if namespace is None:
        return [*errors, field.required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")]
    return errors + domains.validate_format(namespace, DNS1123_LABEL, f"{path}.namespace")


def _parameters(obj: Object, _now: float) -> str:
    parameters = objects.get(obj, "spec.parameters")
    if parameters is None:
        return NONE
    group = parameters.get("apiGroup")
    kind = parameters.get("kind", "") if group is None else f"{parameters.get('kind', '')}.{group}"
    return f"{kind}/{parameters.get('name', '')}"


_COLUMNS = table_of(
    (NAME[0], formats.marked_name("ingressclass.kubernetes.io/is-default-class")),
    (
        Column(name="Controller", text="Controller that is responsible for handling this class"),
        value("spec.controller"),
    ),
    (Column(name="Parameters", text="A reference to a resource with additional parameters"), _parameters),
    AGE,
)

INGRESSCLASSES = Kind(
    group="networking.k8s.io",
    plural="ingressclasses",
    kind="IngressClass",
    is_namespaced=False,
    strategy=IngressClassStrategy(has_generation=True),
    columns=_COLUMNS,
)
