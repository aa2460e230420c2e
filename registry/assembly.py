"""Assembly: all API groups, put together on one storage factory.

The registry's single entry: the server opens storage, calls `assemble`, and serves what comes back. Nothing is read or
written here; each resource opens its storage, and starts its cache, when it is first used.
"""

from collections.abc import Mapping

from registry.admission.default_toleration_seconds import DefaultTolerationSeconds
from registry.admission.interface import Chain
from registry.admission.namespace_lifecycle import NamespaceLifecycle
from registry.admission.priority import Priority
from registry.core.namespaces import NAMESPACES
from registry.generic.provider import resource_of
from registry.providers import PROVIDERS
from registry.rest import Environment, RESTStorage, StorageFor
from registry.scheduling.priorityclasses import PRIORITYCLASSES
from registry.schema import Catalog
from storage.clock import Clock

Groups = Mapping[str, Mapping[str, Mapping[str, RESTStorage]]]
"""What is served, by group, version and path. Groups and versions are in the order of discovery."""


def assemble(storage_for: StorageFor, *, clock: Clock, types: Catalog) -> Groups:
    """Make the resources of all groups."""
    admission = Chain(
        (
            NamespaceLifecycle(storage_for(resource_of(NAMESPACES))),
            Priority(storage_for(resource_of(PRIORITYCLASSES))),
            DefaultTolerationSeconds(),
        )
    )
    environment = Environment(storage_for=storage_for, admission=admission, clock=clock, types=types)
    return {provider.group: provider.storages(environment) for provider in PROVIDERS}
