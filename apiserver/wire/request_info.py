"""Request info: the verb, resource and name of a request, from its method, path and query.

Pure. It must not know which groups and resources exist. Authorization, deadlines, flow control and handlers use this
one result. It is made before authentication: a selector is parsed where it can name an object, within the size
limit of selectors.

    /api/v1/namespaces/default/pods/web/log   get pods/log "web" in "default"
    /apis/apps/v1/deployments?watch=1         watch deployments of apps, in all namespaces
    /api/v1/watch/namespaces/default/pods     watch pods in "default" (deprecated form)
    /healthz                                  get of a path

Must hold: every path has a RequestInfo or raises UnreadablePath. The result is kube-apiserver's, since RBAC roles are
written for it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.machinery.selectors import fields
from aio_apiserver.storage.selection import Operator

_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_PATH_VERBS = frozenset({"proxy", "watch"})
_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})
_LONG_RUNNING_VERBS = frozenset({"watch", "proxy"})
_LONG_RUNNING_SUBRESOURCES = frozenset({"attach", "exec", "proxy", "log", "portforward"})
_READING_VERBS = frozenset({"get", "list", "watch"})
_NAME = "metadata.name"
_MOST_PARTS = 4
"""A resource, its name, its subresource, and any path behind it."""
_PROFILES = "/debug/pprof/"
"""The client chooses how long responses to paths below it take."""


Route = tuple[str | bool | int, ...]


class UnreadablePath(ValueError):
    """A path under an API prefix with a verb (`proxy`, `watch`) and no resource."""


class RequestInfo(NamedTuple):
    """The result. For a path outside of the APIs, only `verb` (the method in lower case) and `path` are set.

    has_namespace: whether the path has a place for a namespace, which may be empty as in `namespaces//pods`.
    parts: the path from the resource on: resource, name, subresource, and the path for a proxy.
    is_long_running: the request has no deadline and does not count as in flight. route: what decides on the handler of
    a resource's request, beside the method: requests for objects of different names have the same.
    """

    verb: str
    path: str
    is_resource: bool = False
    prefix: str = ""
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    parts: Sequence[str] = ()
    has_namespace: bool = False
    is_reading: bool = True
    is_long_running: bool = False
    route: Route = ()


UNRESOLVED = RequestInfo(verb="", path="")
"""The value before the filter request_info has run."""


def resolve(method: str, path: str, query: Mapping[str, Sequence[str]]) -> RequestInfo:
    """The RequestInfo of a request. Raises UnreadablePath."""
    parts = path.strip("/").split("/")
    prefix = parts[0]
    consumed = {"api": 1, "apis": 2}.get(prefix, 0)
    if not consumed or len(parts) < consumed + 2:
        verb = method.lower()
        return RequestInfo(verb, path, is_reading=verb in _READING_VERBS, is_long_running=path.startswith(_PROFILES))
    group = parts[1] if consumed == 2 else ""
    version, rest = parts[consumed], parts[consumed + 1 :]
    verb = _VERBS.get(method, "")
    if rest[0] in _PATH_VERBS:
        verb, *rest = rest
        if not rest:
            raise UnreadablePath(path)
    has_namespace, namespace, rest = _split_namespace(rest)
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 and verb != "proxy" else ""
    if not name:
        verb, name = _of_collection(verb, query)
    return RequestInfo(
        *(verb, path, True, prefix, group, version, namespace, rest[0], subresource, name, rest, has_namespace),
        is_reading=verb in _READING_VERBS,
        is_long_running=verb in _LONG_RUNNING_VERBS or subresource in _LONG_RUNNING_SUBRESOURCES,
        route=(
            *(verb, group, version, rest[0], subresource),
            *(has_namespace, bool(name), namespace == name, min(len(rest), _MOST_PARTS)),
        ),
    )


def _split_namespace(parts: list[str]) -> tuple[bool, str, list[str]]:
    """Whether there is a place for a namespace, its name, and the parts from the resource on.

    A namespace object is a resource in its own namespace.
    """
    if parts[0] != "namespaces" or len(parts) < 2:
        return False, "", parts
    if len(parts) > 2 and parts[2] not in _NAMESPACE_SUBRESOURCES:
        return True, parts[1], parts[2:]
    return True, parts[1], parts


def _of_collection(verb: str, query: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """The verb and the selected name of a request without a name in its path."""
    if verb == "delete":
        return "deletecollection", ""
    if verb != "get":
        return verb, ""
    watched = query.get("watch")
    is_watch = watched is not None and watched[0].lower() not in ("false", "0")
    return "watch" if is_watch else "list", _selected_name(query)


def _selected_name(query: Mapping[str, Sequence[str]]) -> str:
    """The name of `metadata.name=x`, so that a permission for one object also allows to list and watch that object."""
    selectors = query.get("fieldSelector")
    if not selectors or _NAME not in selectors[0]:
        return ""
    try:
        wanted = [value for label, operator, value in fields.terms(selectors[0]) if _is_name(label, operator)]
    except BadRequest:
        return ""
    return wanted[0] if wanted and _is_path_segment(wanted[0]) else ""


def _is_name(label: str, operator: Operator) -> bool:
    return label == _NAME and operator is Operator.IN


def _is_path_segment(name: str) -> bool:
    return name not in ("", ".", "..") and "/" not in name and "%" not in name
