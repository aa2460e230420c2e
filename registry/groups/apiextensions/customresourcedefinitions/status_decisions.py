"""Status decisions: the controller's decisions on a definition: names, approval, structural schemas, establishment.

Pure. A decision changes the definition in place and returns whether it did.
"""

from collections.abc import Callable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions import structure as structural_schemas
from aio_apiserver.registry.groups.apiextensions.definitions import approval as approvals
from aio_apiserver.registry.groups.apiextensions.definitions import crd_conditions
from aio_apiserver.registry.groups.apiextensions.definitions import naming as names
from aio_apiserver.registry.groups.apiextensions.definitions.naming import TakenNames
from aio_apiserver.registry.groups.apiextensions.validation import webhook_clients

Decide = Callable[[Object, str], bool]
"""Decides on a definition. The second argument is the time for conditions."""

_ESTABLISHED = crd_conditions.condition(
    crd_conditions.ESTABLISHED,
    status="True",
    reason="InitialNamesAccepted",
    message="the initial names have been accepted",
)
_BAD_AUTHORITIES = crd_conditions.condition(
    crd_conditions.ESTABLISHED,
    status="False",
    reason="InvalidCABundle",
    message="The conversion webhook CABundle is invalid",
)


def naming(taken: TakenNames) -> Decide:
    """The decision that accepts the names that no other definition has."""

    def decide(crd: Object, now: str) -> bool:
        if names.is_settled(crd):
            return False
        found = names.decide(crd, taken)
        is_known = crd_conditions.is_same(found.names_accepted, crd_conditions.find(crd, crd_conditions.NAMES_ACCEPTED))
        if is_known and found.accepted == names.names_of(crd):
            return False
        crd["status"]["acceptedNames"] = found.accepted
        crd_conditions.put(crd, found.names_accepted, now=now)
        crd_conditions.put(crd, found.established, now=now)
        return True

    return decide


def approval(crd: Object, now: str) -> bool:
    """Set the approval condition of a definition in a group of the Kubernetes community."""
    found = approvals.condition_of(crd)
    if found is None or crd_conditions.is_same(found, crd_conditions.find(crd, crd_conditions.APPROVED)):
        return False
    crd_conditions.put(crd, found, now=now)
    return True


def structure(crd: Object, now: str) -> bool:
    """Set or remove the condition NonStructuralSchema."""
    found = structural_schemas.condition_of(crd)
    if crd_conditions.is_same(found, crd_conditions.find(crd, crd_conditions.NON_STRUCTURAL)):
        return False
    if found is None:
        crd_conditions.drop(crd, crd_conditions.NON_STRUCTURAL)
    else:
        crd_conditions.put(crd, found, now=now)
    return True


def establishing(crd: Object, now: str) -> bool:
    """Set the condition Established."""
    if not crd_conditions.is_true(crd, crd_conditions.NAMES_ACCEPTED) or crd_conditions.is_true(
        crd, crd_conditions.ESTABLISHED
    ):
        return False
    found = _ESTABLISHED if webhook_clients.has_sound_authorities(crd) else _BAD_AUTHORITIES
    if crd_conditions.is_same(found, crd_conditions.find(crd, crd_conditions.ESTABLISHED)):
        return False
    crd_conditions.put(crd, found, now=now)
    return True
