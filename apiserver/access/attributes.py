"""attributes: a request as an Authorizer sees it, upstream's authorizer.Attributes.

Pure. Authorization, impersonation and the audit policy ask with it. Must hold: selectors count where the
request's path is sure to heed them.
"""

from aio_apiserver.apiserver.wire.request_info import RequestInfo
from aio_apiserver.apiserver.wire.urls import Query
from aio_apiserver.registry.generic.access.authorizer import UNLIMITED, Attributes, Selectors
from aio_apiserver.registry.generic.access.users import UserInfo

_VERBS_WITH_SELECTORS = frozenset({"list", "watch", "deletecollection"})


def attributes_of(user: UserInfo, info: RequestInfo, query: Query) -> Attributes:
    """A request as an Authorizer sees it."""
    return Attributes(
        user,
        info.verb,
        group=info.group,
        version=info.version,
        resource=info.resource,
        subresource=info.subresource,
        namespace=info.namespace,
        name=info.name,
        path=info.path,
        is_resource=info.is_resource,
        selectors=_selectors(info, query) if query and info.verb in _VERBS_WITH_SELECTORS else UNLIMITED,
    )


def _selectors(info: RequestInfo, query: Query) -> Selectors:
    """What the request is limited to. Deprecated paths of watches do not always heed selectors: there, none count."""
    root = f"/{info.prefix}/{info.group}/{info.version}/" if info.group else f"/{info.prefix}/{info.version}/"
    if info.path.startswith(f"{root}watch/"):
        return UNLIMITED
    fields, labels = (query.get(name, ("",))[0] for name in ("fieldSelector", "labelSelector"))
    return Selectors(fields, labels) if fields or labels else UNLIMITED
