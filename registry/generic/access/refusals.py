"""Refusals: what somebody hears who may not do something. Pure."""

from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.access.authorizer import Attributes

_SAFE_IN_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def in_html(text: str) -> str:
    """A text that no browser takes for anything else."""
    return text.translate(_SAFE_IN_HTML)


def forbidden(asked: Attributes, reason: str = "") -> Forbidden:
    """Who may not do what, and why if the authorizer knows."""
    what = in_html(_refused(asked))
    resource = GroupResource(asked.group, asked.resource) if asked.is_resource else None
    return Forbidden(resource, asked.name, why=f"{what}: {reason}" if reason else what)


def _refused(asked: Attributes) -> str:
    who = f"User {quote(asked.user.name)} cannot {asked.verb}"
    if not asked.is_resource:
        return f"{who} path {quote(asked.path)}"
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    what = f"{who} resource {quote(resource)} in API group {quote(asked.group)}"
    return f"{what} in the namespace {quote(asked.namespace)}" if asked.namespace else f"{what} at the cluster scope"
