"""Schemas: what the values of objects may be, in one model for Kubernetes' own types and for custom resources."""

from aio_apiserver.registry.schema.catalog import Catalog, Decoded, ObjectType, builtin
from aio_apiserver.registry.schema.errors import DecodeError, UnknownKind, UnknownMinor

__all__ = ["Catalog", "DecodeError", "Decoded", "ObjectType", "UnknownKind", "UnknownMinor", "builtin"]
