"""Refusals: the Forbidden error of a request that the authorizer does not allow. Pure.

Must hold: the part of the message that names user and resource has no markup, as kube-apiserver writes it.
"""

from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.access.authorizer import Attributes

_WITHOUT_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def forbidden(attributes: Attributes, reason: str = "") -> Forbidden:
    """The error with the user, the request, and the authorizer's reason, if there is one."""
    what = _refused(attributes).translate(_WITHOUT_MARKUP)
    resource = GroupResource(attributes.group, attributes.resource) if attributes.is_resource else None
    return Forbidden(resource, attributes.name, why=f"{what}: {reason}" if reason else what)


def _refused(attributes: Attributes) -> str:
    subject = f"User {quote(attributes.user.name)} cannot {attributes.verb}"
    if not attributes.is_resource:
        return f"{subject} path {quote(attributes.path)}"
    resource = f"{attributes.resource}/{attributes.subresource}" if attributes.subresource else attributes.resource
    what = f"{subject} resource {quote(resource)} in API group {quote(attributes.group)}"
    return (
        f"{what} in the namespace {quote(attributes.namespace)}"
        if attributes.namespace
        else f"{what} at the cluster scope"
    )
