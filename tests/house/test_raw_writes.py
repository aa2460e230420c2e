"""Raw writes: which modules write to storage past the generic Store, where no admission and no strategy sees the write.

Foundation.storage_for hands out readers, so that the type checker refuses any other write. What may write is listed
here with its reason.
"""

import ast

import pytest

from tests.house.sources import Source, product

_WRITES = frozenset({"guaranteed_update"})
_ASKS = frozenset({"writable_storage_for"})
_STORE = "registry.generic.store"

WRITERS = {
    "registry.controlplane.bootstrap.kubernetes_service": "leases of API servers are no resource of the API",
    "registry.groups.apiextensions.customresourcedefinitions.cleanup": "the end of a definition",
    "registry.groups.apiextensions.customresourcedefinitions.controller": "conditions and names",
    "registry.groups.apiextensions.customresourcedefinitions.definition_store": "a deletion begins with a mark",
    "registry.groups.core.services.allocation.node_ports": "the stock of node ports is no resource of the API",
    "registry.groups.core.pods.bindings": "a binding changes the pod that it names; admission has seen the binding",
    "registry.groups.core.namespaces.namespaces_deletion": "a deletion marks a namespace before it begins",
    "registry.groups.policy.evictions": "an eviction charges a budget; admission has seen the eviction",
    "registry.plugins.admission.namespaces.resource_quota": "a quota is charged within the write that it judges",
    "registry.plugins.authentication.legacy_tokens": "the day of the last use is noted on the token's secret",
}
"""Modules that change stored objects by compare-and-set themselves."""
OPENERS = {
    "registry.controlplane.assembly": "hands it on",
    "registry.controlplane.bootstrap.service_repair": "the stock of node ports",
    "registry.controlplane.bootstrap.upkeep": "the leases of API servers",
    "registry.generic.rest": "declares it",
    "registry.groups.apiextensions.serving.resources": "opens the generic Stores of custom resources",
    "registry.groups.core.services.service_hooks": "the stock of node ports",
    "registry.plugins.admission.namespaces.namespace_auto_provision": "creates the namespace of a write",
    "registry.plugins.admission.namespaces.resource_quota": "charges quotas",
}
"""Modules that ask for storage that can be written, besides the generic Store."""


def _names(source: Source) -> frozenset[str]:
    """The attributes that a module reads."""
    return frozenset(node.attr for node in ast.walk(source.tree) if isinstance(node, ast.Attribute)) | frozenset(
        node.target.id
        for node in ast.walk(source.tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    )


@pytest.mark.parametrize(("words", "listed"), [(_WRITES, WRITERS), (_ASKS, OPENERS)], ids=["writers", "openers"])
def test_only_listed_modules_write_past_the_generic_store(words: frozenset[str], listed: dict[str, str]) -> None:
    found = {
        source.name
        for source in product()
        if source.name.startswith("registry.") and not source.name.startswith(_STORE) and words & _names(source)
    }

    assert found == set(listed)
