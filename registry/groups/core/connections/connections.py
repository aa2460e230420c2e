"""Connections: the base of subresources that connect the client to a kubelet, pod or service (rest.Connecter).

Must hold: admission of CONNECT sees the options before the server reads the object.
"""

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.access import authorizer as access
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Environment, Request
from aio_apiserver.registry.generic.store.store import Store

UPGRADEABLE = frozenset({"create", "get"})
ALL = frozenset({"create", "delete", "get", "patch", "update", ""})
"""The verbs of proxies. The empty verb stands for methods without a verb, such as OPTIONS."""


class ConnectSubresource:
    """A subresource that connects. `shown` is the kind in discovery, and `options` is the kind of its options."""

    def __init__(
        self, store: Store, environment: Environment, *, subresource: str, options: str, shown: str = ""
    ) -> None:
        self._store = store
        self._authorizer = environment.authorizer
        self._subresource = subresource
        self._options = GroupVersionKind("", "v1", options)
        self._shown = GroupVersionKind("", "v1", shown or options)

    @property
    def kind(self) -> Kind:
        return self._store.kind

    def object_kind(self, version: str) -> GroupVersionKind:
        return self._shown

    async def admit(self, request: Request, name: str, options: Object) -> None:
        """Run mutating and validating admission for CONNECT. Admission may change the options."""
        attributes = self._store.attributes(Operation.CONNECT, request, CreateOptions(), name=name, obj=options)
        attributes = replace(attributes, kind=self._options, subresource=self._subresource, options=None)
        await self._store.admission.mutate(attributes)
        await self._store.admission.validate(attributes)

    async def authorize(self, request: Request, name: str, verb: str) -> None:
        """Authorize one more verb for the user of the request. Raises Forbidden."""
        question = access.Attributes(
            request.user,
            verb,
            version=request.version,
            resource=self.kind.plural,
            subresource=self._subresource,
            namespace=request.namespace,
            name=name,
        )
        decision = await self._authorizer.authorize(question)
        if not decision.is_allowed:
            raise errors.Forbidden(self.kind.resource, name, why=decision.reason)

    async def get(self, request: Request, name: str) -> Object:
        """The object to which the subresource belongs."""
        return (await self._store.get(request, name)).decode()


def container_of(pod: Object, name: str) -> str:
    """The container that the options name, or the pod's only container. Raises BadRequest."""
    members = ("initContainers", "containers", "ephemeralContainers")
    names = [one["name"] for member in members for one in pod["spec"].get(member) or ()]
    pod_name = pod["metadata"]["name"]
    if name:
        if name not in names:
            raise errors.BadRequest(f"container {name} is not valid for pod {pod_name}")
        return name
    containers = objects.get(pod, "spec.containers", ())
    if len(containers) != 1:
        why = f"a container name must be specified for pod {pod_name}"
        raise errors.BadRequest(f"{why}, choose one of: [{' '.join(names)}]" if containers else why)
    return str(containers[0]["name"])
