"""Objects as they come out of a request's body: decoded and with all defaults."""

from typing import Any

from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.machinery import schema

CONTEXT = StrategyContext(namespace="default")
_KEPT = ("uid", "creationTimestamp", "resourceVersion", "generation")


def defaulted(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    """The hub object of a body."""
    object_type = schema.builtin().type_for(kind.group, kind.hub_version, kind.kind)
    obj = object_type.decode({"metadata": {"name": "a"}, **value}).obj
    object_type.apply_defaults(obj)
    kind.strategy.default(obj)
    return obj


def created(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    """The object that a creation stores."""
    obj = defaulted(kind, value)
    obj["metadata"] |= {"uid": "u-1", "creationTimestamp": "2030-01-01T00:00:00Z"}
    preparation.prepare_new(_of_default_minor(kind), kind.strategy, obj=obj, context=CONTEXT)
    obj["metadata"]["resourceVersion"] = "1"
    return canonical(kind, obj)


def updated(kind: Kind, old: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """The object that an update stores."""
    new = canonical(kind, defaulted(kind, value))
    new["metadata"] |= {name: old["metadata"][name] for name in _KEPT if name in old["metadata"]}
    preparation.prepare_changed(_of_default_minor(kind), kind.strategy, new=new, old=old, context=CONTEXT)
    return new


def _of_default_minor(kind: Kind) -> Kind:
    """A kind as the default minor has it, unless it is already that of a minor."""
    return kind if kind.closed else kind.at(Minor())


def canonical(kind: Kind, obj: dict[str, Any]) -> dict[str, Any]:
    """The form in which objects are stored."""
    return schema.builtin().type_for(kind.group, kind.hub_version, kind.kind).canonical(obj)
