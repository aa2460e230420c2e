"""Control plane: builds the registry of one server: built-in resources, custom resources, and their bootstrap objects.

It must not know requests.
"""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from msgspec import Struct

from aio_apiserver.apiserver.access import assembly as access_assembly
from aio_apiserver.apiserver.access.assembly import Access
from aio_apiserver.apiserver.aggregation.assembly import Aggregation
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.metrics.monitoring import Monitoring
from aio_apiserver.apiserver.outgoing.assembly import Outgoing
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.controlplane import assembly, served_paths
from aio_apiserver.registry.controlplane.assembly import Groups
from aio_apiserver.registry.controlplane.bootstrap.upkeep import Upkeep
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.component_probes import CONTROLLER_MANAGER_PORT, SCHEDULER_PORT, within_process
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.controller import DefinitionController
from aio_apiserver.registry.groups.apiextensions.serving.resources import CustomResources
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.storage.factory.factory import StorageFactory

if TYPE_CHECKING:
    from aio_apiserver.registry.plugins.simulation import resource_metrics
else:
    resource_metrics = Deferred("aio_apiserver.registry.plugins.simulation.resource_metrics")


class ControlPlane(Struct, frozen=True):
    """The resources of one server. `served` has the resources that clients can reach."""

    foundation: Foundation
    groups: Groups
    served: ServedPaths
    definitions: DefinitionController


def foundation_of(
    settings: Settings,
    config: Config,
    storage: StorageFactory,
    clock: Clock,
    *,
    access: Access,
    out: Outgoing,
    monitoring: Monitoring,
) -> Foundation:
    """The components that all parts of the registry share."""
    own = ((CONTROLLER_MANAGER_PORT, settings.controllers), (SCHEDULER_PORT, settings.simulate))
    return Foundation(
        storage_for=storage.storage_for,
        writable_storage_for=storage.storage_for,
        custom_storage=storage.opened,
        clock=clock,
        minor=settings.minor,
        types=schema.builtin(settings.minor.text),
        config=config,
        metrics=monitoring.registered,
        authorizer=access.authorizer,
        tokens=access.tokens,
        issuer=access.issuer,
        call_webhook=out.webhooks,
        open_webhook=out.webhooks.open_webhook,
        probe=within_process([port for port, runs in own if runs], out.documents.probe),
    )


def open_control_plane(
    foundation: Foundation, storage: StorageFactory, *, background: Tasks, stack: AsyncExitStack
) -> ControlPlane:
    """All built-in resources, and custom resources as soon as their definitions are read."""
    environment = assembly.environment_of(foundation)
    groups = assembly.assemble(environment)
    enabled = assembly.served(groups, foundation.config.enablement)
    found = served_paths.index(enabled, foundation.types, foundation.clock)
    for name, offer in resource_metrics.offers(environment) if foundation.config.simulates else ():
        found.publish(name, offer)
    resources = CustomResources(environment, storage.retire, foundation.call_webhook)
    definitions = DefinitionController(environment, resources, found.publish)
    stack.push_async_callback(definitions.close)
    definitions.start()
    for run in environment.runs:
        background.spawn(run(foundation.clock.patience), name="admission")
    return ControlPlane(foundation, groups, found, definitions)


def open_upkeep(
    settings: Settings,
    control_plane: ControlPlane,
    fairness: Fairness | None,
    *,
    access: Access,
    aggregation: Aggregation,
    stack: AsyncExitStack,
) -> Upkeep:
    """Creates the objects that every cluster has, and reconciles them."""
    upkeep = Upkeep(
        control_plane.groups,
        control_plane.foundation,
        fairness,
        registrations=aggregation.registrations,
        check_remote=aggregation.gateway.check,
        trust=lambda: access_assembly.published(settings, access.certified),
    )
    stack.push_async_callback(upkeep.close)
    return upkeep
