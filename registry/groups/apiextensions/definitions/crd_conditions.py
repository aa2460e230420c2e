"""CRD conditions: finds, sets and compares the conditions of a CustomResourceDefinition. Pure."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.base.conditions import Condition

NAMES_ACCEPTED = "NamesAccepted"
ESTABLISHED = "Established"
TERMINATING = "Terminating"
APPROVED = "KubernetesAPIApprovalPolicyConformant"
NON_STRUCTURAL = "NonStructuralSchema"


def condition(kind: str, *, status: str, reason: str, message: str) -> Condition:
    """A condition without its transition time."""
    return {"type": kind, "status": status, "reason": reason, "message": message}


def find(crd: Object, kind: str) -> Condition | None:
    """The condition of this type; None when the definition has none."""
    return conditions.find(crd.get("status") or {}, kind)


def is_true(crd: Object, kind: str) -> bool:
    """Whether a condition is true."""
    return conditions.is_true(crd.get("status") or {}, kind)


def is_same(one: Condition | None, other: Condition | None) -> bool:
    """Whether two conditions are equal apart from their times."""
    if one is None or other is None:
        return one is other
    return all(one.get(name, "") == other.get(name, "") for name in ("status", "reason", "message"))


def drop(crd: Object, kind: str) -> None:
    """Remove a condition."""
    status = crd["status"]
    status["conditions"] = [one for one in status.get("conditions") or () if one.get("type") != kind]


def put(crd: Object, new: Condition, *, now: str) -> None:
    """Set a condition."""
    conditions.put(crd.setdefault("status", {}), new, now=now)
