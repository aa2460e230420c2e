"""Pod volumes: the PersistentVolumeClaims of pods, and the claims that ephemeral volumes need.

Pure.
"""

from collections.abc import Iterator

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.pods import controller_of, controller_reference


def claims_of(pod: Object) -> Iterator[tuple[str, bool]]:
    """The names of a pod's claims, and whether the claim is that of an ephemeral volume."""
    for volume in pod["spec"].get("volumes") or ():
        if volume.get("persistentVolumeClaim") is not None:
            yield volume["persistentVolumeClaim"]["claimName"], False
        elif volume.get("ephemeral") is not None:
            yield f"{pod['metadata']['name']}-{volume['name']}", True


def ephemeral_claims(pod: Object) -> list[Object]:
    """The claims of a pod's ephemeral volumes."""
    metadata, found = pod["metadata"], []
    for volume in pod["spec"].get("volumes") or ():
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is not None:
            given = template.get("metadata") or {}
            made: Object = {name: dict(given[name]) for name in ("labels", "annotations") if given.get(name)}
            made["name"] = f"{metadata['name']}-{volume['name']}"
            made["ownerReferences"] = [controller_reference(pod, "v1", "Pod")]
            found.append({"metadata": made, "spec": template["spec"]})
    return found


def is_foreign(claim: Object, pod: Object) -> bool:
    """Whether the claim of an ephemeral volume belongs to another pod, or to none."""
    return bool(controller_of(claim).get("uid") != pod["metadata"]["uid"])


def protects(pod: Object, claim: Object) -> bool:
    """Whether a pod keeps its claim from being deleted. Pods without a node do not."""
    name = claim["metadata"]["name"]
    if not pod["spec"].get("nodeName"):
        return False
    return any(
        one == name and not (is_ephemeral and (_is_shut_down(pod) or is_foreign(claim, pod)))
        for one, is_ephemeral in claims_of(pod)
    )


def _is_shut_down(pod: Object) -> bool:
    return podrules.is_ending(pod) and pod["metadata"].get("deletionGracePeriodSeconds") == 0
