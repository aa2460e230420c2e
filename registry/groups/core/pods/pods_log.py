"""Pods log: pods/log, the log of a container, read from the kubelet of its node."""

from collections.abc import Iterator
from operator import itemgetter

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.locations import ConnectRequest, Location, Passage
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.generic.rest import Environment, Request
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.connections import connect_options, connections
from aio_apiserver.registry.groups.core.connections.connections import ConnectSubresource
from aio_apiserver.registry.groups.core.connections.kubelets import Kubelets

_OPTIONS = "PodLogOptions"
_FLAGS = ("follow", "previous", "timestamps")
_VALUES = ("sinceSeconds", "sinceTime", "tailLines", "limitBytes")


class LogREST(ConnectSubresource):
    """Connects to the kubelet's log of one container."""

    verbs = frozenset({"get"})
    takes_paths = False

    def __init__(self, pods: Store, environment: Environment) -> None:
        super().__init__(pods, environment, subresource="log", options=_OPTIONS, shown="Pod")
        self._kubelets = Kubelets(environment)

    async def connect(self, request: Request, name: str, call: ConnectRequest) -> Location | None:
        options = connect_options.read(_OPTIONS, call.query)
        if found := connect_options.validate_log(options):
            raise invalid_of(GroupKind("", _OPTIONS), name, found)
        pod = await self.get(request, name)
        container = connections.container_of(pod, options.get("container", ""))
        node = pod["spec"].get("nodeName")
        if not node:
            return None
        kubelet = await self._kubelets.of(node, self.kind.resource)
        return Location(
            passage=Passage.LOG,
            scheme="https",
            host=kubelet.host,
            port=kubelet.port,
            path=f"/containerLogs/{request.namespace}/{name}/{container}",
            query=sorted(_query(options), key=itemgetter(0)),
            is_kubelet=True,
            is_verified=not options.get("insecureSkipTLSVerifyBackend"),
        )


def _query(options: Object) -> Iterator[tuple[str, str]]:
    for name in _FLAGS:
        if options.get(name):
            yield name, "true"
    for name in _VALUES:
        if options.get(name) is not None:
            yield name, str(options[name])
