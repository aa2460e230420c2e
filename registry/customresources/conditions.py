"""The conditions of a CustomResourceDefinition: finding, setting and comparing them. Pure."""

from typing import Any

from storage.stored_object import Object

NAMES_ACCEPTED = "NamesAccepted"
ESTABLISHED = "Established"
TERMINATING = "Terminating"
APPROVED = "KubernetesAPIApprovalPolicyConformant"

Condition = dict[str, Any]


def condition(kind: str, *, status: str, reason: str, message: str) -> Condition:
    """A condition that does not yet say since when."""
    return {"type": kind, "status": status, "reason": reason, "message": message}


def find(crd: Object, kind: str) -> Condition | None:
    """The condition of a definition."""
    present = (crd.get("status") or {}).get("conditions") or ()
    return next((one for one in present if one.get("type") == kind), None)


def is_true(crd: Object, kind: str) -> bool:
    """Whether a condition holds."""
    found = find(crd, kind)
    return found is not None and found.get("status") == "True"


def is_same(one: Condition | None, other: Condition | None) -> bool:
    """Whether two conditions say the same, whenever they began."""
    if one is None or other is None:
        return one is other
    return all(one.get(name, "") == other.get(name, "") for name in ("status", "reason", "message"))


def put(crd: Object, new: Condition, *, now: str) -> None:
    """Set a condition, in place. When only its reason or message changes, it has not begun anew."""
    status = crd.setdefault("status", {})
    present = status["conditions"] = list(status.get("conditions") or ())
    old = next((one for one in present if one.get("type") == new["type"]), None)
    began = now if old is None or old.get("status") != new["status"] else old.get("lastTransitionTime", now)
    made = {
        "type": new["type"],
        "status": new["status"],
        "lastTransitionTime": began,
        "reason": new["reason"],
        "message": new["message"],
    }
    if old is None:
        present.append(made)
    else:
        present[present.index(old)] = made
