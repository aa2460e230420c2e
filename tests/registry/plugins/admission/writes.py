"""Writes for admission, of pods and of the objects that they refer to."""

from typing import Any

from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.generic.options import CreateOptions

PODS = GroupResource("", "pods")


def write(
    obj: dict[str, Any],
    *,
    old: dict[str, Any] | None = None,
    resource: GroupResource = PODS,
    subresource: str = "",
) -> Attributes:
    """The creation of an object, or its update when there is an old one."""
    return Attributes(
        operation=Operation.UPDATE if old else Operation.CREATE,
        resource=resource,
        version="v1",
        kind=GroupVersionKind(resource.group, "v1", "Pod"),
        subresource=subresource,
        namespace="default",
        name=obj.get("metadata", {}).get("name", "p"),
        obj=obj,
        old=old,
        options=CreateOptions(),
        is_dry_run=False,
        user=UserInfo(name="u"),
        warn=lambda _text: None,
    )
