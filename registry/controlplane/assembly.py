"""Assembly: puts all API groups together on one storage factory.

The server opens storage, calls `assemble`, and serves the returned REST storages. Nothing is read or written here. Each
resource opens its storage, and starts its cache, when it is first used.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from aio_apiserver.registry.controlplane import completeness
from aio_apiserver.registry.controlplane.admission_plugins import chain_of
from aio_apiserver.registry.controlplane.kind_mapping import KindMapping
from aio_apiserver.registry.controlplane.providers import providers_of
from aio_apiserver.registry.generic.enablement import Enablement
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment, Foundation, RESTStorage
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.customresourcedefinitions import DEFINITIONS

Groups = Mapping[str, Mapping[str, Mapping[str, RESTStorage]]]
"""The REST storages by group, version and path. Groups and versions are in the order of discovery."""


def environment_of(given: Foundation) -> Environment:
    """The environment that all resources share, custom resources included."""
    given = replace(given, kinds=KindMapping(given.storage_for(resource_of(DEFINITIONS)), given.minor))
    chain = chain_of(given)
    return Environment(
        storage_for=given.storage_for,
        writable_storage_for=given.writable_storage_for,
        custom_storage=given.custom_storage,
        clock=given.clock,
        types=given.types,
        minor=given.minor,
        config=given.config,
        authorizer=given.authorizer,
        tokens=given.tokens,
        issuer=given.issuer,
        kinds=given.kinds,
        metrics=given.metrics,
        call_webhook=given.call_webhook,
        probe=given.probe,
        admission=chain,
        runs=chain.runs,
    )


def served(groups: Groups, enablement: Enablement) -> Groups:
    """The groups, versions and resources that are enabled."""
    found = {
        group: {
            version: {
                path: storage
                for path, storage in paths.items()
                if enablement.has(group, version, path.partition("/")[0])
            }
            for version, paths in versions.items()
        }
        for group, versions in groups.items()
    }
    return {
        group: kept
        for group, versions in found.items()
        if (kept := {name: one for name, one in versions.items() if one})
    }


def assemble(environment: Environment) -> Groups:
    """Make the resources of all groups. Raises IncompleteMinor."""
    providers = providers_of(environment.minor)
    completeness.check(environment.minor, providers)
    return {provider.group.name: provider.storages(environment) for provider in providers}
