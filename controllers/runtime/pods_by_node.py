"""Pods by node: an index of an informer's pods by the node that they are bound to."""

from collections.abc import Callable, Iterator

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.informers import Informer


def _node(pod: Object | None) -> str:
    return str(pod["spec"].get("nodeName") or "") if pod is not None else ""


class PodsByNode:
    """The index. `changed` is called with the key of each pod on a node that is new there or has changed."""

    def __init__(self, pods: Informer, changed: Callable[[str], None] = lambda _key: None) -> None:
        self._pods = pods
        self._changed = changed
        self._keys: dict[str, set[str]] = {}
        pods.listen(self._look)

    def _look(self, key: str, before: Object | None, after: Object | None) -> None:
        was, now = _node(before), _node(after)
        if was and was != now:
            self._keys[was].discard(key)
            if not self._keys[was]:
                del self._keys[was]
        if now:
            self._keys.setdefault(now, set()).add(key)
            self._changed(key)

    def keys_on(self, node: str) -> list[str]:
        return list(self._keys.get(node, ()))

    def on(self, node: str) -> Iterator[Object]:
        """The pods of a node."""
        for key in self.keys_on(node):
            pod = self._pods.get(key)
            if pod is not None:
                yield pod
