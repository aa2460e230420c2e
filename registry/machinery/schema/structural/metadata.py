"""Metadata: the metadata of custom resources: decoded as ObjectMeta, shown as an unstructured map.

Objects may have been stored before their metadata was validated. When they are read, malformed metadata is dropped.

Must hold: the result has sorted keys and no empty members. A missing creation time is left out.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.machinery.schema.catalog import Decoded, ObjectType


class MetadataType:
    """ObjectMeta of unstructured objects."""

    def __init__(self, of_type: ObjectType) -> None:
        self._type = of_type

    def decode(self, value: Any) -> Decoded:
        """The metadata in canonical form, and its unknown fields. Raises DecodeError."""
        decoded = self._type.decode(value if value is not None else {})
        return Decoded(self._canonical(decoded.obj), decoded.strict_errors)

    def decode_leniently(self, value: Any) -> dict[str, Any]:
        """The metadata without the members that do not decode."""
        try:
            return self.decode(value).obj
        except DecodeError:
            return self._decode_by_member(value) if isinstance(value, dict) else {}

    def restore(self, value: Any) -> dict[str, Any]:
        """The metadata of a stored object, with a generation and an empty resourceVersion."""
        metadata = {"generation": 1, **self.decode_leniently(value), "resourceVersion": ""}
        return dict(sorted(metadata.items()))

    def _decode_by_member(self, value: Mapping[str, Any]) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        for name, item in value.items():
            try:
                metadata |= self._type.decode({name: item}).obj
            except DecodeError:
                continue
        return self._canonical(metadata)

    def _canonical(self, metadata: dict[str, Any]) -> dict[str, Any]:
        shown = self._type.canonical(metadata)
        if shown.get("creationTimestamp") is None:
            shown.pop("creationTimestamp", None)
        ordered: dict[str, Any] = orjson.loads(orjson.dumps(shown, option=orjson.OPT_SORT_KEYS))
        return ordered
