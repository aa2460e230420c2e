"""Pods streams: pods/exec, pods/attach and pods/portforward, which connect through the kubelet of the node."""

from collections.abc import Iterator
from operator import itemgetter

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.locations import ConnectRequest, Location, Passage
from aio_apiserver.registry.generic.rest import Environment, Request
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.connections import connect_options, connections
from aio_apiserver.registry.groups.core.connections.connections import UPGRADEABLE, ConnectSubresource
from aio_apiserver.registry.groups.core.connections.kubelets import Kubelets

_FLAGS = (("stdin", "input"), ("stdout", "output"), ("stderr", "error"), ("tty", "tty"))
"""The option, and the name of the kubelet's parameter for it."""


class StreamREST(ConnectSubresource):
    """Connects to a container, or with portforward to ports of the pod."""

    verbs = UPGRADEABLE
    takes_paths = False

    def __init__(self, pods: Store, environment: Environment, *, subresource: str, options: str) -> None:
        super().__init__(pods, environment, subresource=subresource, options=options)
        self._kubelets = Kubelets(environment)

    async def connect(self, request: Request, name: str, call: ConnectRequest) -> Location | None:
        options = connect_options.read(self._options.kind, call.query)
        await self.admit(request, name, options)
        if call.verb != "create":
            # A WebSocket begins with GET. The stream can change the pod, so the user also needs the verb create.
            await self.authorize(request, name, "create")
        pod = await self.get(request, name)
        place = f"{request.namespace}/{name}"
        if self._subresource != "portforward":
            place += f"/{connections.container_of(pod, options.get('container', ''))}"
        node = pod["spec"].get("nodeName")
        if not node:
            raise errors.BadRequest(f"pod {name} does not have a host assigned")
        kubelet = await self._kubelets.of(node, self.kind.resource)
        return Location(
            passage=Passage.STREAM,
            scheme="https",
            host=kubelet.host,
            port=kubelet.port,
            path=f"/{_PATHS.get(self._subresource, self._subresource)}/{place}",
            query=sorted(_query(options), key=itemgetter(0)),
            is_kubelet=True,
        )


_PATHS = {"portforward": "portForward"}


def _query(options: Object) -> Iterator[tuple[str, str]]:
    for name, parameter in _FLAGS:
        if options.get(name):
            yield parameter, "1"
    for word in options.get("command") or ():
        yield "command", word
    if options.get("ports"):
        yield "port", ",".join(map(str, options["ports"]))
