"""Refusals: the Forbidden error of a request that the authorizer does not allow. Pure.

Must hold: the part of the message that names user and resource has no markup, as kube-apiserver writes it.
"""

from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.access.authorizer import Attributes

_WITHOUT_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def forbidden(asked: Attributes, reason: str = "") -> Forbidden:
    """The error with the user, the request, and the authorizer's reason, if there is one."""
    what = _refused(asked).translate(_WITHOUT_MARKUP)
    resource = GroupResource(asked.group, asked.resource) if asked.is_resource else None
    return Forbidden(resource, asked.name, why=f"{what}: {reason}" if reason else what)


def _refused(asked: Attributes) -> str:
    who = f"User {quote(asked.user.name)} cannot {asked.verb}"
    if not asked.is_resource:
        return f"{who} path {quote(asked.path)}"
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    what = f"{who} resource {quote(resource)} in API group {quote(asked.group)}"
    return f"{what} in the namespace {quote(asked.namespace)}" if asked.namespace else f"{what} at the cluster scope"
