"""Schema: OpenAPI schemas of built-in types and custom resources in one model, and the decoders compiled from it."""

from aio_apiserver.registry.base.golang.decode_errors import DecodeError, UnknownKind, UnknownMinor
from aio_apiserver.registry.machinery.schema.catalog import Catalog, Decoded, ObjectType, builtin

__all__ = ["Catalog", "DecodeError", "Decoded", "ObjectType", "UnknownKind", "UnknownMinor", "builtin"]
