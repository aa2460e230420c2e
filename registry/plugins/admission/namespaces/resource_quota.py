"""ResourceQuota: refuses a write that would exceed a ResourceQuota of its namespace.

The plugin adds the usage of a write to `status.used` before the object is stored. Must hold: the check is made on the
same revision of the quota that the update replaces. When one of several quotas refuses, the others get their charge
back. A charge stays when the write fails later, as in kube-apiserver; the quota controller recounts.
"""

from collections.abc import Mapping, Sequence

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import amounts, errors, objects
from aio_apiserver.registry.base.amounts import Amounts
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Plugin
from aio_apiserver.registry.generic.field_managers import field_managers
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.core.componentstatuses import COMPONENTSTATUSES
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.core.events.events import EVENTS
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.groups.core.namespaces.resourcequotas import RESOURCEQUOTAS
from aio_apiserver.registry.groups.core.pods.bindings import BINDINGS
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.pods.replicationcontrollers import REPLICATIONCONTROLLERS
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.events.provider import KINDS as NEWER_EVENTS
from aio_apiserver.registry.groups.resource.resourceclaims import RESOURCECLAIMS
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.plugins.admission.matching import REVIEWS
from aio_apiserver.registry.plugins.quota import charging, limited_resources
from aio_apiserver.registry.plugins.quota.claims import DeviceClaims, VolumeClaims
from aio_apiserver.registry.plugins.quota.evaluators import Evaluator, ObjectCounts, count_name
from aio_apiserver.registry.plugins.quota.limited_resources import Limited
from aio_apiserver.registry.plugins.quota.pods import Pods
from aio_apiserver.registry.plugins.quota.services import Services
from aio_apiserver.storage.interface import Storage, Update
from aio_apiserver.storage.stored_object import StoredObject

_OWN_NAME = "kube-apiserver"
_IGNORED = frozenset(
    {
        NAMESPACES.resource,
        BINDINGS.resource,
        COMPONENTSTATUSES.resource,
        *(kind.resource for kind in (EVENTS, *NEWER_EVENTS)),
    }
    | REVIEWS
)
EVALUATORS: Mapping[GroupResource, Evaluator] = {
    PODS.resource: Pods(),
    SERVICES.resource: Services(),
    PERSISTENTVOLUMECLAIMS.resource: VolumeClaims(),
    RESOURCECLAIMS.resource: DeviceClaims(),
    **{
        kind.resource: ObjectCounts((count_name(kind.resource), kind.plural))
        for kind in (CONFIGMAPS, RESOURCEQUOTAS, REPLICATIONCONTROLLERS, SECRETS)
    },
}


def make(given: Foundation) -> "ResourceQuota":
    """The plugin as it is configured. Raises ValueError."""
    limits = limited_resources.configured(given.config.admission_configuration.get(ResourceQuota.name))
    owners = field_managers(RESOURCEQUOTAS, given.types, given.clock).of("v1", "status")
    return ResourceQuota(given.writable_storage_for(resource_of(RESOURCEQUOTAS)), given.clock, owners, limits)


class ResourceQuota(Plugin):
    """Charges all quotas of a namespace that match the object."""

    name = "ResourceQuota"

    def __init__(self, quotas: Storage, clock: Clock, owners: FieldManager, limits: Sequence[Limited]) -> None:
        self._quotas = quotas
        self._owners = owners
        self._limits = limits
        self._known = Lookup(quotas, RESOURCEQUOTAS.resource, as_stored)
        self._clock = clock

    async def validate(self, attributes: Attributes) -> None:
        if not attributes.namespace or attributes.obj is None or attributes.resource in _IGNORED:
            return
        evaluator = EVALUATORS.get(attributes.resource) or ObjectCounts((count_name(attributes.resource),))
        if not evaluator.handles(attributes):
            return
        quotas = await self._known.list(f"{attributes.namespace}/")
        if self._limits:
            now = self._clock.now()
            if why := limited_resources.why_uncovered(self._limits, quotas, evaluator, attributes, now=now):
                raise refusals.forbidden(attributes, why)
        concerned = [_key(quota) for quota in quotas if charging.looks_at(quota, evaluator, attributes.obj)]
        await self._charge_all(concerned, evaluator, attributes)

    async def _charge_all(self, quotas: Sequence[str], evaluator: Evaluator, attributes: Attributes) -> None:
        if len(quotas) > 1:
            await self._ask_all(quotas, evaluator, attributes)
        charged: list[tuple[str, Amounts]] = []
        try:
            for quota in quotas:
                taken = await self._charge(quota, evaluator, attributes)
                charged.append((quota, taken))
        except errors.StatusError:
            for known, returned in charged:
                await self._give_back(known, returned)
            raise

    async def _ask_all(self, quotas: Sequence[str], evaluator: Evaluator, attributes: Attributes) -> None:
        """Check all quotas before the first one is charged, so that a refusal changes no quota."""
        for quota in quotas:
            try:
                known = await self._known.newest(quota)
            except errors.NotFound:
                continue
            charging.charge(known, evaluator, attributes, now=self._clock.now())

    async def _charge(self, quota: str, evaluator: Evaluator, attributes: Attributes) -> Amounts:
        """Add the usage of the write to a quota. Returns what was added."""
        taken: Amounts = {}

        async def charged(current: StoredObject | None) -> Update:
            nonlocal taken
            assert current is not None
            obj = current.decode()
            taken = charging.charge(obj, evaluator, attributes, now=self._clock.now())
            if taken and not attributes.is_dry_run:
                self._set_used(obj, amounts.added(_used(obj), taken))
            return Update(obj)

        try:
            updating = self._quotas.guaranteed_update(quota, charged)
            await interpreted(updating, StorageCall(RESOURCEQUOTAS.resource, "update", quota))
        except errors.NotFound:
            return {}
        return {} if attributes.is_dry_run else taken

    async def _give_back(self, quota: str, taken: Amounts) -> None:
        async def returned(current: StoredObject | None) -> Update:
            assert current is not None
            obj = current.decode()
            self._set_used(obj, amounts.reduced(_used(obj), taken))
            return Update(obj)

        if not taken:
            return
        try:
            updating = self._quotas.guaranteed_update(quota, returned)
            await interpreted(updating, StorageCall(RESOURCEQUOTAS.resource, "update", quota))
        except errors.NotFound:
            return

    def _set_used(self, quota: Object, used: Amounts) -> None:
        """Set `status.used`, with kube-apiserver as the field manager."""
        before = objects.clone(quota)
        quota["status"] = {**(quota.get("status") or {}), "used": amounts.texts(used)}
        self._owners.track(before, quota, _OWN_NAME)


def _key(quota: Object) -> str:
    return f"{quota['metadata']['namespace']}/{quota['metadata']['name']}"


def _used(quota: Object) -> Amounts:
    return amounts.parsed((quota.get("status") or {}).get("used"))
