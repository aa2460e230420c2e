"""Assembly: all API groups, put together on one storage factory.

The registry's single entry: the server opens storage, calls `assemble`, and serves what comes back. Nothing is read or
written here; each resource opens its storage, and starts its cache, when it is first used.
"""

from collections.abc import Mapping

from registry.admission.plugins import chain_of
from registry.providers import PROVIDERS
from registry.rest import Environment, Foundation, RESTStorage

Groups = Mapping[str, Mapping[str, Mapping[str, RESTStorage]]]
"""What is served, by group, version and path. Groups and versions are in the order of discovery."""


def environment_of(given: Foundation) -> Environment:
    """What all resources share, those that clients define included."""
    chain = chain_of(given)
    return Environment(
        storage_for=given.storage_for,
        clock=given.clock,
        types=given.types,
        config=given.config,
        authorizer=given.authorizer,
        tokens=given.tokens,
        issuer=given.issuer,
        allocation_metrics=given.allocation_metrics,
        call_webhook=given.call_webhook,
        admission=chain,
        runs=chain.runs,
    )


def assemble(environment: Environment) -> Groups:
    """Make the resources of all groups."""
    return {provider.group: provider.storages(environment) for provider in PROVIDERS}
