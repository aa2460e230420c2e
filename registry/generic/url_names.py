"""URL names: checks the name and the namespace of an object against those of the request's URL.

Pure. Every write needs it: a create for the namespace, an update or a patch for both.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import Request


def namespace_needed() -> BadRequest:
    """The error when the URL of a namespaced object leaves its namespace empty."""
    return BadRequest("Namespace parameter required.")


def settle_namespace(obj: Object, request: Request, kind: Kind) -> None:
    """Set the request's namespace on the object; none where the request has none. Raises BadRequest for another."""
    wanted = request.namespace if kind.is_namespaced else ""
    metadata = obj["metadata"]
    given = metadata.get("namespace", "")
    if given == wanted:
        return
    if given and wanted:
        raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    if wanted:
        metadata["namespace"] = wanted
    else:
        del metadata["namespace"]


def settle(obj: Object, request: Request, kind: Kind, name: str) -> None:
    """The same, for an object that must have the name of the URL."""
    settle_namespace(obj, request, kind)
    given = obj["metadata"].get("name", "")
    if not given:
        raise BadRequest(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
    if given != name:
        raise BadRequest(f"the name of the object ({given}) does not match the name on the URL ({name})")
