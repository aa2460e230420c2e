"""AlwaysPullImages: sets imagePullPolicy to `Always`, so that a pod needs the image's credentials although the node has
the image.
"""

from collections.abc import Iterator

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.plugins.admission.pod_writes import PODS, containers_with_paths, is_pod

_ALWAYS = "Always"


class AlwaysPullImages(Plugin):
    """Looks at new pods, and at updates that bring other images. Other updates cannot use another image."""

    name = "AlwaysPullImages"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS})

    async def mutate(self, attributes: Attributes) -> None:
        if not _is_concerned(attributes):
            return
        assert attributes.obj is not None
        for container, _ in containers_with_paths(attributes.obj["spec"]):
            container["imagePullPolicy"] = _ALWAYS
        for volume, _ in _image_volumes(attributes.obj["spec"]):
            volume["image"]["pullPolicy"] = _ALWAYS

    async def validate(self, attributes: Attributes) -> None:
        if not _is_concerned(attributes):
            return
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        policies = [
            (f"{path}.imagePullPolicy", container.get("imagePullPolicy", ""))
            for container, path in containers_with_paths(spec)
        ]
        policies += [
            (f"{path}.image.pullPolicy", one["image"].get("pullPolicy", "")) for one, path in _image_volumes(spec)
        ]
        wrong = [
            refusals.forbidden(attributes, str(field.not_supported(path, policy, (_ALWAYS,)))).message
            for path, policy in policies
            if policy != _ALWAYS
        ]
        if wrong:
            raise errors.StatusError(errors.aggregate(wrong))


def _is_concerned(attributes: Attributes) -> bool:
    if not is_pod(attributes):
        return False
    if attributes.operation is not Operation.UPDATE:
        return True
    assert attributes.obj is not None
    assert attributes.old is not None
    return not _images(attributes.obj["spec"]) <= _images(attributes.old["spec"])


def _images(spec: Object) -> set[str]:
    return {container.get("image", "") for container, _ in containers_with_paths(spec)}


def _image_volumes(spec: Object) -> Iterator[tuple[Object, str]]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        if volume.get("image") is not None:
            yield volume, f"spec.volumes[{index}]"
