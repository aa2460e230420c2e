"""gates: the fields of requests for devices that feature gates open, for claims and templates of claims."""

from collections.abc import Mapping

_REQUESTS = "devices.requests[]"
_GATES = {
    f"{_REQUESTS}.firstAvailable": "DRAPrioritizedList",
    f"{_REQUESTS}.exactly.adminAccess": "DRAAdminAccess",
    f"{_REQUESTS}.exactly.tolerations": "DRADeviceTaints",
    f"{_REQUESTS}.exactly.capacity": "DRAConsumableCapacity",
    f"{_REQUESTS}.exactly.derivedAttributes": "DRADerivedAttributes",
    f"{_REQUESTS}.firstAvailable[].tolerations": "DRADeviceTaints",
    f"{_REQUESTS}.firstAvailable[].capacity": "DRAConsumableCapacity",
    f"{_REQUESTS}.firstAvailable[].derivedAttributes": "DRADerivedAttributes",
    "devices.constraints[].distinctAttribute": "DRAConsumableCapacity",
}


def of_claims(path: str) -> Mapping[str, str]:
    """The fields of a claim whose spec is at a path, each with its gate."""
    return {f"{path}.{name}": gate for name, gate in _GATES.items()}
