"""Schemas: what the values of objects may be, in one model for Kubernetes' own types and for custom resources."""

from aio_apiserver.registry.base.golang.decode_errors import DecodeError, UnknownKind, UnknownMinor
from aio_apiserver.registry.machinery.schema.catalog import Catalog, Decoded, ObjectType, builtin

__all__ = ["Catalog", "DecodeError", "Decoded", "ObjectType", "UnknownKind", "UnknownMinor", "builtin"]
