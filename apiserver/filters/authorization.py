"""Authorization: whether the user of a request may do what it asks for.

An Authorizer decides; here its refusals become kube-apiserver's 403s. Must hold: no answer of the server's state is
given before the Authorizer has said yes.
"""

import logging

from aiohttp import web

from apiserver import responses
from apiserver.context import Handler, RequestContext
from apiserver.request_info import RequestInfo
from apiserver.urls import Query
from registry import errors
from registry.access.authorizer import UNLIMITED, Attributes, Authorizer, Selectors
from registry.access.users import UserInfo
from registry.names import GroupResource
from registry.quoting import quote

logger = logging.getLogger(__name__)

_SAFE_IN_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_VERBS_WITH_SELECTORS = frozenset({"list", "watch", "deletecollection"})


def with_authorization(handler: Handler, authorizer: Authorizer) -> Handler:
    """Answer 403 unless the authorizer says yes."""

    async def authorized(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        attributes = attributes_of(context.user, context.info, context.query)
        decision = await authorizer.authorize(attributes)
        if decision.is_allowed:
            return await handler(request, context)
        if decision.error:
            logger.error("authorization failed: %s", decision.error)
            why = f"Internal Server Error: {quote(request.raw_path)}: {decision.error}\n"
            return responses.text(context, why.translate(_SAFE_IN_HTML), status=500)
        return refusal(request, context, attributes, decision.reason)

    return authorized


def attributes_of(user: UserInfo, info: RequestInfo, query: Query) -> Attributes:
    """A request as an Authorizer sees it."""
    verb, path, is_resource, _prefix, group, version, namespace, resource, subresource, name, _parts = info
    selectors = _selectors(info, query) if query and verb in _VERBS_WITH_SELECTORS else UNLIMITED
    return Attributes(user, verb, group, version, resource, subresource, namespace, name, path, is_resource, selectors)


def _selectors(info: RequestInfo, query: Query) -> Selectors:
    """What the request is limited to. Deprecated paths of watches do not always heed selectors: there, none count."""
    root = f"/{info.prefix}/{info.group}/{info.version}/" if info.group else f"/{info.prefix}/{info.version}/"
    if info.path.startswith(f"{root}watch/"):
        return UNLIMITED
    fields, labels = (query.get(name, ("",))[0] for name in ("fieldSelector", "labelSelector"))
    return Selectors(fields, labels) if fields or labels else UNLIMITED


def refusal(
    request: web.BaseRequest, context: RequestContext, attributes: Attributes, reason: str
) -> web.StreamResponse:
    """The 403 that says who may not do what, and why if the authorizer knows."""
    response = responses.error(request, context, _forbidden(attributes, reason))
    response.headers[responses.NOSNIFF] = "nosniff"
    return response


def _forbidden(attributes: Attributes, reason: str) -> errors.Forbidden:
    what = _what_is_refused(attributes).translate(_SAFE_IN_HTML)
    resource = GroupResource(attributes.group, attributes.resource) if attributes.is_resource else None
    return errors.Forbidden(resource, attributes.name, why=f"{what}: {reason}" if reason else what)


def _what_is_refused(asked: Attributes) -> str:
    who = f"User {quote(asked.user.name)} cannot {asked.verb}"
    if not asked.is_resource:
        return f"{who} path {quote(asked.path)}"
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    what = f"{who} resource {quote(resource)} in API group {quote(asked.group)}"
    return f"{what} in the namespace {quote(asked.namespace)}" if asked.namespace else f"{what} at the cluster scope"
