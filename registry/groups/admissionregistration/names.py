"""Names of configurations: those with a certain end are kept for configurations from files. Pure."""

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.storage.stored_object import Object

_RESERVED = ".static.k8s.io"


def warn_of_reserved_name(obj: Object) -> list[str]:
    """What clients should hear of such a name."""
    if not obj["metadata"].get("name", "").endswith(_RESERVED):
        return []
    what = f"names ending with {quote(_RESERVED)} are reserved for static manifest-based configurations"
    return [f"metadata.name: {what} and cannot be managed via the API"]
