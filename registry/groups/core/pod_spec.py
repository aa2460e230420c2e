"""Pod specs: what pods and the templates of pods have in common.

Must hold: specs have the defaults of their types when they come here (types.json), so that everything that a
Go struct always has is there. What is true of pods alone is in pods.py.
"""

from collections.abc import Iterator
from typing import Any

from aio_apiserver.registry.groups.core import images
from aio_apiserver.storage.stored_object import Object

_OF_INIT_CONTAINERS = frozenset(
    f"pod.{stage}.kubernetes.io/init-container{what}" for stage in ("alpha", "beta") for what in ("s", "-statuses")
)
CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")


def containers(spec: Object) -> Iterator[Object]:
    """All containers, those that come first first."""
    for name in CONTAINER_LISTS:
        yield from spec.get(name) or ()


def default(spec: Object) -> None:
    """The defaults that depend on other fields."""
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for container in containers(spec):
        if "imagePullPolicy" not in container:
            container["imagePullPolicy"] = images.pull_policy(container.get("image", ""))
    for volume in spec.get("volumes") or ():
        _default_volume(volume)


def default_template(template: Any) -> None:
    """The same for a template, which may be missing where it is a pointer."""
    if template is not None:
        drop_old_annotations(template)
        default(template["spec"])


def drop_old_annotations(owner: Object) -> None:
    """Take away the annotations that once told of init containers: the fields tell it now."""
    annotations = (owner.get("metadata") or {}).get("annotations")
    if annotations:
        for key in _OF_INIT_CONTAINERS & annotations.keys():
            del annotations[key]


def drop_disabled(spec: Object) -> None:
    """Take away what kube-apiserver's default feature gates do not know."""
    spec.pop("schedulingGroup", None)
    for container in containers(spec):
        lifecycle = container.get("lifecycle")
        if lifecycle and lifecycle.pop("stopSignal", None) is not None and not lifecycle:
            del container["lifecycle"]
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            source.pop("clusterTrustBundle", None)
            source.pop("podCertificate", None)


def _default_volume(volume: Object) -> None:
    """A volume without a source is an empty directory."""
    if not any(name != "name" for name in volume):
        volume["emptyDir"] = {}
    image = volume.get("image")
    if image is not None and "pullPolicy" not in image:
        image["pullPolicy"] = images.pull_policy(image.get("reference", ""))
