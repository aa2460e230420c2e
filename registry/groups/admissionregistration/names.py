"""Names: the reserved names of webhook configurations and policies that come from files. Pure."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang.quoting import quote

_RESERVED = ".static.k8s.io"


def warn_of_reserved_name(obj: Object) -> list[str]:
    """The warning for an object with a reserved name."""
    if not obj["metadata"].get("name", "").endswith(_RESERVED):
        return []
    what = f"names ending with {quote(_RESERVED)} are reserved for static manifest-based configurations"
    return [f"metadata.name: {what} and cannot be managed via the API"]
