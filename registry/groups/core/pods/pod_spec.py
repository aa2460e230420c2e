"""Pod spec: the defaults and lists that pods and pod templates share.

Must hold: a spec has the defaults of its types (types.json) before it comes here, so every non-pointer struct of Go
exists. pods.py has the rules for pods alone.
"""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.core.pods import image_pull_policy as images

_OF_INIT_CONTAINERS = frozenset(
    f"pod.{stage}.kubernetes.io/init-container{what}" for stage in ("alpha", "beta") for what in ("s", "-statuses")
)
CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")


def containers(spec: Object) -> Sequence[Object]:
    """All containers: init containers, then containers, then ephemeral containers."""
    found: list[Object] = []
    for name in CONTAINER_LISTS:
        found += spec.get(name) or ()
    return found


def default(spec: Object) -> None:
    """Set the defaults that depend on other fields."""
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for container in containers(spec):
        if "imagePullPolicy" not in container:
            container["imagePullPolicy"] = images.pull_policy(container.get("image", ""))
    for volume in spec.get("volumes") or ():
        _default_volume(volume)


def default_template(template: Any) -> None:
    """Set these defaults in a pod template, where there is one."""
    if template is not None:
        drop_old_annotations(template)
        default(template["spec"])


def drop_old_annotations(owner: Object) -> None:
    """Remove the annotations that described init containers before there were fields for them."""
    annotations = (owner.get("metadata") or {}).get("annotations")
    if annotations:
        for key in _OF_INIT_CONTAINERS & annotations.keys():
            del annotations[key]


def _default_volume(volume: Object) -> None:
    """Make a volume without a source an emptyDir, and set the pull policy of an image volume."""
    if not any(name != "name" for name in volume):
        volume["emptyDir"] = {}
    image = volume.get("image")
    if image is not None and "pullPolicy" not in image:
        image["pullPolicy"] = images.pull_policy(image.get("reference", ""))
