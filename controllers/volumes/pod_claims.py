"""Pod claims: the names of a pod's resource claims, and the pods that a claim is reserved for. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

from aio_apiserver.base.unstructured import Object

FINALIZER = "resource.kubernetes.io/delete-protection"
_MOST_RESERVED = 256


class ClaimName(NamedTuple):
    """The name of a claim, or why there is none."""

    name: str
    problem: str = ""


def claim_names(pod: Object) -> Iterator[ClaimName]:
    """The claims of a pod by name. Entries that need no claim are left out."""
    made = {one["name"]: one for one in (pod.get("status") or {}).get("resourceClaimStatuses") or ()}
    for one in pod["spec"].get("resourceClaims") or ():
        if one.get("resourceClaimName"):
            yield ClaimName(one["resourceClaimName"])
        elif one["name"] not in made:
            metadata = pod["metadata"]
            yield ClaimName("", f'pod "{metadata["namespace"]}/{metadata["name"]}": ResourceClaim not created yet')
        elif name := made[one["name"]].get("resourceClaimName"):
            yield ClaimName(name)


def reserved_for(claim: Object) -> list[Object]:
    """The consumers of a claim."""
    return list((claim.get("status") or {}).get("reservedFor") or ())


def is_reserved_for(claim: Object, pod: Object) -> bool:
    return any(one["uid"] == pod["metadata"]["uid"] for one in reserved_for(claim))


def is_shared_by_too_many(claim: Object) -> bool:
    return len(reserved_for(claim)) >= _MOST_RESERVED
