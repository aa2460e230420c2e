"""Bindings: pods/binding and /bindings, with which the scheduler assigns a pod to a node. A pod keeps its node."""

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic import rest, url_names
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.pods import pod_conditions
from aio_apiserver.storage.interface import Preconditions, Update
from aio_apiserver.storage.stored_object import StoredObject

BINDING = GroupVersionKind("", "v1", "Binding")
BINDINGS = Kind(group="", plural="bindings", kind="Binding", verbs=("create",))

_RESOURCE = GroupResource("", "pods/binding")


class BindingREST:
    """Assigns pods to nodes, and stores no Binding. `kind` is the kind of the path: pods or bindings."""

    def __init__(self, pods: Store, kind: Kind) -> None:
        self._pods = pods
        self._kind = kind

    @property
    def kind(self) -> Kind:
        return self._kind

    def object_kind(self, version: str) -> GroupVersionKind:
        return BINDING

    async def create(self, request: Request, obj: Object, options: CreateOptions, *, name: str = "") -> Object:
        url_names.settle_namespace(obj, request, self._kind)
        if not name:  # kube-apiserver keeps a uid as a precondition on the subresource alone
            obj["metadata"].pop("uid", None)
        pod_name = name or obj["metadata"].get("name", "")
        attributes = replace(
            self._pods.attributes(Operation.CREATE, request, options, name=pod_name, obj=obj),
            kind=BINDING,
            resource=self._kind.resource,
            subresource="binding" if name else "",
            forms=self._pods.forms if name else (),
        )
        await self._pods.admission.mutate(attributes)
        metadata = obj["metadata"]
        if name and name != metadata.get("name", ""):
            raise errors.BadRequest("name in URL does not match name in Binding object")
        if found := _validate(obj):
            raise StatusError(errors.aggregate(map(str, found)))
        await self._pods.admission.validate(attributes)
        _check_name(metadata.get("name", ""))
        await self._assign(request, obj, is_dry_run=options.is_dry_run)
        return rest.success()

    async def _assign(self, request: Request, binding: Object, *, is_dry_run: bool) -> None:
        name, store = binding["metadata"]["name"], self._pods
        now = rest.timestamp(store.clock.now())

        async def bind(current: StoredObject | None) -> Update:
            assert current is not None
            pod = current.decode()
            if why := _why_not(pod):
                raise errors.Conflict(_RESOURCE, name, why=why)
            _bind(pod, binding, now=now)
            return Update(store.canonical(pod))

        writing = store.storage.guaranteed_update(
            store.key(request, name), bind, preconditions=_preconditions(binding["metadata"]), dry_run=is_dry_run
        )
        await store.interpreted(writing, "update", name)


def _check_name(name: str) -> None:
    """Refuse a name that no pod can have. Raises BadRequest."""
    if not name:
        raise errors.BadRequest("Name parameter required.")
    if wrong := names.is_path_segment(name, False):
        raise errors.BadRequest(f"Name parameter invalid: {quote(name)}: {', '.join(wrong)}")


def _validate(binding: Object) -> list[FieldError]:
    target = binding.get("target") or {}
    found = []
    if target.get("kind") and target["kind"] != "Node":
        found.append(field.not_supported("target.kind", target["kind"], ("Node", "<empty>")))
    return found if target.get("name") else [*found, field.required("target.name")]


def _preconditions(metadata: Object) -> Preconditions:
    return Preconditions(uid=metadata.get("uid") or None, resource_version=metadata.get("resourceVersion") or None)


def _why_not(pod: Object) -> str:
    """The reason why the pod cannot be assigned to a node now; empty when it can."""
    name, spec = pod["metadata"]["name"], pod["spec"]
    if pod["metadata"].get("deletionTimestamp"):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f"pod {name} is already assigned to node {quote(spec['nodeName'])}"
    return f"pod {name} has non-empty .spec.schedulingGates" if spec.get("schedulingGates") else ""


def _bind(pod: Object, binding: Object, *, now: str) -> None:
    pod["spec"]["nodeName"] = binding["target"]["name"]
    status = pod.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    for member in ("annotations", "labels"):
        if added := binding["metadata"].get(member):
            pod["metadata"][member] = {**(pod["metadata"].get(member) or {}), **added}
    pod_conditions.put(status, {"type": "PodScheduled", "status": "True"}, now=now)
