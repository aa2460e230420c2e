"""Evictions: pods/eviction, which deletes a pod when its PodDisruptionBudget allows the disruption.

A pod that does not run or is being deleted is deleted without a charge. An unhealthy pod is too, when the budget allows
it. For other pods, the eviction is charged to the one budget that selects the pod.

Must hold: the charge comes before the condition on the pod, and uses the newest state of the budget. A decision on one
state of a pod deletes that state alone.
"""

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.names import GroupKind, GroupResource, GroupVersionKind
from aio_apiserver.registry.base.validation import field, label_selectors
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.generic import rest, url_names
from aio_apiserver.registry.generic.admission.interface import Chain, Operation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions, delete_options_of
from aio_apiserver.registry.generic.rest import Environment, Made, Request, UpdatedObject
from aio_apiserver.registry.generic.store.provider import open_store
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.pods import pod_conditions
from aio_apiserver.registry.groups.core.pods.pods_status import PodStatusStrategy
from aio_apiserver.registry.groups.policy import disruptions
from aio_apiserver.registry.groups.policy.poddisruptionbudgets import PODDISRUPTIONBUDGETS
from aio_apiserver.storage.interface import ListOptions, Preconditions, Update
from aio_apiserver.storage.stored_object import StoredObject

EVICTION = GroupVersionKind("policy", "v1", "Eviction")
_OLD = GroupVersionKind("policy", "v1beta1", "Eviction")

_ATTEMPTS = 20
_ENDED = frozenset({"Succeeded", "Failed"})
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_UNREADABLE = "ignoreStoreReadErrorWithClusterBreakingPotential"
_CONDITION = {
    "type": "DisruptionTarget",
    "status": "True",
    "lastProbeTime": None,
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}
# As in kube-apiserver, the resource in this message is the kind. Clients compare messages.
_SUBJECT = GroupResource("", "Pod")


class _Eviction(Struct, frozen=True):
    """One request, with the options for the deletion of the pod."""

    request: Request
    name: str
    options: DeleteOptions

    @property
    def has_version(self) -> bool:
        preconditions = self.options.preconditions
        return preconditions is not None and preconditions.resource_version is not None


class EvictionREST:
    """Evicts pods and stores no Eviction. It also accepts Evictions of policy/v1beta1."""

    accepts = frozenset({EVICTION, _OLD})

    def __init__(self, pods: Store, environment: Environment) -> None:
        self._pods = pods
        # Admission runs once, for the eviction. The writes that follow from it are not admitted again.
        self._quiet = replace(pods, admission=Chain(), managers=None)
        self._status = self._quiet.for_subresource("status", PodStatusStrategy())
        self._budgets = open_store(PODDISRUPTIONBUDGETS, environment)

    @property
    def kind(self) -> Kind:
        return self._pods.kind

    def object_kind(self, version: str) -> GroupVersionKind:
        return EVICTION

    async def create(self, request: Request, obj: Object, options: CreateOptions, *, name: str = "") -> Object:
        url_names.settle_namespace(obj, request, self.kind)
        attributes = self._pods.attributes(Operation.CREATE, request, options, name=name, obj=obj)
        attributes = replace(attributes, kind=EVICTION, subresource="eviction")
        await self._pods.admission.mutate(attributes)
        if name != obj["metadata"].get("name", ""):
            raise errors.BadRequest("name in URL does not match name in Eviction object")
        eviction = _Eviction(request, name, _delete_options(obj, options))
        await self._pods.admission.validate(attributes)
        await self._evict(eviction)
        return rest.success()

    async def _evict(self, eviction: _Eviction) -> None:
        """Delete the pod, after a charge to its budget when it needs one."""
        for attempt in range(_ATTEMPTS):
            stored = await self._pods.get(eviction.request, eviction.name)
            pod = stored.decode()
            if not _needs_no_budget(pod):
                return await self._evict_counted(eviction, pod)
            try:
                return await self._delete(_tied(eviction, stored) if _may_become_ready(pod) else eviction)
            except errors.Conflict:
                if eviction.has_version or attempt == _ATTEMPTS - 1:
                    raise
        return None

    async def _evict_counted(self, eviction: _Eviction, pod: Object) -> None:
        budgets = await self._budgets_of(eviction, pod)
        if len(budgets) > 1:
            raise StatusError(_SEVERAL)
        if not budgets:
            return await self._delete(eviction)
        budget = budgets[0]
        if pod_conditions.is_ready(pod) or not disruptions.allows_unhealthy(budget):
            await self._charge(eviction, budget["metadata"]["name"])
            return await self._delete(eviction)
        try:
            return await self._delete(_with_version(eviction, pod["metadata"]["resourceVersion"]))
        except errors.Conflict as exc:
            if eviction.has_version:
                raise
            raise disruptions.still_processed(budget["metadata"]["name"]) from exc

    async def _budgets_of(self, eviction: _Eviction, pod: Object) -> list[Object]:
        """The budgets that select the pod."""
        labels = pod["metadata"].get("labels") or {}
        found = await self._budgets.list(eviction.request, ListOptions())
        budgets = [item.decode() for item in found.items]
        return [one for one in budgets if label_selectors.selects((one.get("spec") or {}).get("selector"), labels)]

    async def _charge(self, eviction: _Eviction, name: str) -> None:
        now, budgets = rest.timestamp(self._budgets.clock.now()), self._budgets

        async def charge(current: StoredObject | None) -> Update:
            assert current is not None
            budget = current.decode()
            disruptions.charge(budget, eviction.name, now=now)
            return Update(budgets.canonical(budget))

        key = budgets.key(eviction.request, name)
        writing = budgets.storage.guaranteed_update(key, charge, dry_run=eviction.options.is_dry_run)
        await budgets.interpreted(writing, "update", name)

    async def _delete(self, eviction: _Eviction) -> None:
        """Set the condition DisruptionTarget on the pod, and delete it."""
        options = eviction.options
        if not options.is_dry_run:
            marked = await self._mark(eviction)
            if eviction.has_version:
                options = _with_version(eviction, str(marked.revision)).options
        await self._quiet.delete(eviction.request, eviction.name, options)

    async def _mark(self, eviction: _Eviction) -> StoredObject:
        now = rest.timestamp(self._pods.clock.now())

        async def make(current: StoredObject | None) -> Made:
            if current is None:
                raise errors.NotFound(self.kind.resource, eviction.name)
            pod = current.decode()
            _check(pod, eviction.options.preconditions)
            pod_conditions.put(pod.setdefault("status", {}), _CONDITION, now=now)
            return Made(pod)

        updated = await self._status.update(eviction.request, eviction.name, UpdatedObject(make), UpdateOptions())
        return updated.stored


def _delete_options(obj: Object, options: CreateOptions) -> DeleteOptions:
    """The options for the deletion. Raises Invalid, and StatusError when query and body differ in dryRun."""
    value = obj.get("deleteOptions")
    if value is None:
        return DeleteOptions(dry_run=options.dry_run)
    if value.get(_UNREADABLE):
        why = "can not be set for pod eviction, try after removing the option"
        wrong = field.invalid(f"deleteOptions.{_UNREADABLE}", True, why)
        raise invalid_of(GroupKind(EVICTION.group, EVICTION.kind), obj["metadata"].get("name", ""), [wrong])
    wanted = delete_options_of(value)
    in_query, in_body = list(options.dry_run), list(wanted.dry_run)
    if in_query and in_body and in_query != in_body:
        shown = " and ".join(f"[{' '.join(one)}]" for one in (in_query, in_body))
        raise StatusError(f"Non-matching dry-run options in request and content: {shown}")
    return wanted if in_body else replace(wanted, dry_run=options.dry_run)


def _needs_no_budget(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in _ENDED or phase == "Pending" or bool(pod["metadata"].get("deletionTimestamp"))


def _may_become_ready(pod: Object) -> bool:
    """Whether a pod without a charge could need one before it is deleted."""
    return (pod.get("status") or {}).get("phase") not in _ENDED and not pod["metadata"].get("deletionTimestamp")


def _tied(eviction: _Eviction, stored: StoredObject) -> _Eviction:
    """The eviction with this state as precondition, unless the client has given one."""
    return eviction if eviction.has_version else _with_version(eviction, str(stored.revision))


def _with_version(eviction: _Eviction, version: str) -> _Eviction:
    preconditions = replace(eviction.options.preconditions or Preconditions(), resource_version=version)
    return replace(eviction, options=replace(eviction.options, preconditions=preconditions))


def _check(pod: Object, preconditions: Preconditions | None) -> None:
    """Check the preconditions. Raises Conflict."""
    if preconditions is None:
        return
    metadata, name = pod["metadata"], pod["metadata"]["name"]
    if preconditions.uid and preconditions.uid != metadata.get("uid"):
        why = (
            f"the UID in the precondition ({preconditions.uid}) does not match the UID in record "
            f"({metadata.get('uid')}). The object might have been deleted and then recreated"
        )
        raise errors.Conflict(_SUBJECT, name, why=why)
    if preconditions.resource_version and preconditions.resource_version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({preconditions.resource_version}) does not match the "
            f"ResourceVersion in record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise errors.Conflict(_SUBJECT, name, why=why)
