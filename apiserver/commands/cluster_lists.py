"""cluster_lists: the lists of a cluster that `apiserver clone` copies. The cluster may answer what it likes.

    the cluster sends                               the clone
    a page of more than 64 MiB, or 2,097,152 maps   asks again for fewer objects; refuses one object of that size
      and lists
    more than 2 GiB in all                          ends with an error
    pages without end                               ends with an error: a page without objects has no next one
    a list of another kind                          leaves the resource out
    an object of another kind or namespace, or      leaves the object out
      with a name that is no part of a path

Must hold: an object is of the resource and the namespace that were asked for. Its key lies under the place of its
resource. What is told of the cluster's words has no control characters.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from aio_apiserver.apiserver.commands.cloned_objects import ClonedResource
from aio_apiserver.apiserver.outgoing.clusters import Cluster, ClusterFailed, TooLong
from aio_apiserver.registry.base.validation import names

_PAGE = 500
_LESS = 10
"""A page that was too long is asked for again with a tenth of the objects."""
_MOST_PAGE_BYTES = 64 << 20
_MOST_VALUES = 1 << 21
_MOST_BYTES = 2 << 30
"""The default size of an etcd database."""
_LONGEST_NAME = 1_024

LeaveOut = Callable[[ClonedResource, str], None]
"""Notes why an object was left out."""


class ClusterLists:
    """Reads lists of one cluster."""

    def __init__(self, cluster: Cluster, leave_out: LeaveOut) -> None:
        self._cluster = cluster
        self._leave_out = leave_out
        self._left = _MOST_BYTES

    async def items(self, resource: ClonedResource, namespace: str = "") -> AsyncIterator[dict[str, Any]]:
        """The objects of a resource, in one namespace if it has a name. Raises ClusterFailed."""
        root = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
        path = f"{root}/namespaces/{quote(namespace, safe='')}" if namespace else root
        limit, token = _PAGE, ""
        while True:
            query = {"limit": str(limit), **({"continue": token} if token else {})}
            try:
                page = await self._page(f"{path}/{resource.plural}?{urlencode(query)}")
            except TooLong:
                if limit == 1:
                    raise
                limit = max(limit // _LESS, 1)
                continue
            if page.get("kind") != f"{resource.kind}List":
                self._leave_out(resource, f"the cluster sent {_escaped(page.get('kind'))}")
                return
            items, token = _items_of(page), _next_of(page)
            if token and not items:
                raise ClusterFailed(
                    f"{self._cluster.url}{path}/{resource.plural}: a page without objects has a next one"
                )
            for item in items:
                problem = _problem_of(resource, item, namespace)
                if problem:
                    self._leave_out(resource, problem)
                else:
                    yield item
            if not token:
                return

    async def _page(self, path: str) -> Mapping[str, Any]:
        """Raises ClusterFailed."""
        page, size = await self._cluster.document(path, most_bytes=_MOST_PAGE_BYTES, most_values=_MOST_VALUES)
        self._left -= size
        if self._left < 0:
            why = f"the cluster has sent more than {_MOST_BYTES} bytes: choose fewer with --kinds or --namespace"
            raise ClusterFailed(f"{self._cluster.url}: {why}")
        if not isinstance(page, dict):
            raise ClusterFailed(f"{self._cluster.url}{path}: the answer is no list")
        return page


def _items_of(page: Mapping[str, Any]) -> list[Any]:
    items = page.get("items")
    return items if isinstance(items, list) else []


def _next_of(page: Mapping[str, Any]) -> str:
    """The continue token of a page; empty behind the last one."""
    metadata = page.get("metadata")
    token = metadata.get("continue") if isinstance(metadata, dict) else ""
    return token if isinstance(token, str) else ""


def _problem_of(resource: ClonedResource, item: Any, namespace: str) -> str:
    """Why an object of a list is not copied; empty when it is."""
    metadata = item.get("metadata") if isinstance(item, dict) else None
    if not isinstance(metadata, dict):
        return "an object without metadata"
    name, of_namespace = metadata.get("name"), metadata.get("namespace", "")
    if not _is_name(name):
        return f"an object with the name {_escaped(name)}"
    if item.get("kind", resource.kind) != resource.kind:
        return f"{name}: it is of the kind {_escaped(item['kind'])}"
    if resource.is_namespaced and (not _is_name(of_namespace) or namespace not in ("", of_namespace)):
        return f"{name}: its namespace is {_escaped(of_namespace)}"
    if not resource.is_namespaced and of_namespace:
        return f"{name}: it has the namespace {_escaped(of_namespace)}"
    return ""


def _is_name(name: Any) -> bool:
    """Whether a name can be a part of a key and of a path, and be shown."""
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        return False
    return not names.is_path_segment(name, is_prefix=False)


def _escaped(value: Any) -> str:
    """A value of the cluster, for messages."""
    return ascii(value)[:100]
