"""Mandatory: the FlowSchemas and priority levels of every server, with their fixed specs. Pure."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.flowcontrol import builtin_objects

Spec = Mapping[str, Any]


def schema_spec(name: str) -> Spec | None:
    """The fixed spec of the FlowSchema with this name; None for other names."""
    return _schemas().get(name)


def level_spec(name: str) -> Spec | None:
    """The fixed spec of the priority level with this name; None for other names."""
    return _levels().get(name)


@cache
def _schemas() -> Mapping[str, Spec]:
    return _specs(builtin_objects.flow_schemas())


@cache
def _levels() -> Mapping[str, Spec]:
    return _specs(builtin_objects.priority_levels())


def _specs(every: list[Object]) -> Mapping[str, Spec]:
    by_name = {one["metadata"]["name"]: one["spec"] for one in every}
    return {name: by_name[name] for name in builtin_objects.MANDATORY}


def differs(spec: Spec, wanted: Spec | None) -> bool:
    """Whether a spec differs from the fixed one. Empty equals missing."""
    return wanted is not None and _filled(spec) != _filled(wanted)


def _filled(value: Any) -> Any:
    if isinstance(value, Mapping):
        members = {name: _filled(one) for name, one in value.items()}
        return {name: one for name, one in members.items() if one not in (None, "", 0, False, [], {})}
    return [_filled(one) for one in value] if isinstance(value, list) else value
