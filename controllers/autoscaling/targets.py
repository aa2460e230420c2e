"""Targets: finds the scale of the object that a HorizontalPodAutoscaler names, and its label selector."""

from collections.abc import Callable, Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.machinery.selectors import labels
from aio_apiserver.storage import selection

Selects = Callable[[Mapping[str, str]], bool]
_NO_SUBRESOURCE = "the server could not find the requested resource"


async def scale_of(client: ControllerClient, autoscaler: Object) -> tuple[ResourcePath, Object]:
    """The path of the target's scale, and the scale. Raises StatusError."""
    reference = autoscaler["spec"]["scaleTargetRef"]
    place = client.place_of(reference.get("apiVersion", ""), reference["kind"])
    path = place.part("scale")
    if client.served.get(path) is None:
        raise errors.StatusError(_NO_SUBRESOURCE)
    found = await client.get(path, f"{autoscaler['metadata']['namespace']}/{reference['name']}")
    if found is None:
        raise errors.NotFound(GroupResource(place.group, place.path), reference["name"])
    return path, found


def selector_of(scale: Object) -> str:
    """The text of the label selector; empty when the scale has none."""
    text: str = (scale.get("status") or {}).get("selector") or ""
    return text


def selects(text: str) -> Selects:
    """The test of a label selector. Raises BadRequest."""
    matchers = [selection.compile_requirement(one) for one in labels.parse(text)]
    return lambda found: all(match(found) for match in matchers)
