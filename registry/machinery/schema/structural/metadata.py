"""The metadata of custom resources: decoded as Kubernetes' own type and shown as an unstructured map.

Must hold: what comes out has no empty members and its keys sorted; a creation time that is not set is left out. Objects
that were stored before the metadata was checked are read with what is malformed in them dropped.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.machinery.schema.catalog import Decoded, ObjectType


class MetadataType:
    """ObjectMeta, as unstructured objects carry it."""

    def __init__(self, of_type: ObjectType) -> None:
        self._type = of_type

    def decode(self, value: Any) -> Decoded:
        """The metadata in its one form, and what is unknown in it. Raises DecodeError."""
        decoded = self._type.decode(value if value is not None else {})
        return Decoded(self._shown(decoded.obj), decoded.strict_errors)

    def decode_leniently(self, value: Any) -> dict[str, Any]:
        """The metadata without what does not decode."""
        try:
            return self.decode(value).obj
        except DecodeError:
            return self._decode_by_member(value) if isinstance(value, dict) else {}

    def restore(self, value: Any) -> dict[str, Any]:
        """The metadata of a stored object, which has a place for its resourceVersion and a generation."""
        metadata = {"generation": 1, **self.decode_leniently(value), "resourceVersion": ""}
        return dict(sorted(metadata.items()))

    def _decode_by_member(self, value: Mapping[str, Any]) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        for name, item in value.items():
            try:
                metadata |= self._type.decode({name: item}).obj
            except DecodeError:
                continue
        return self._shown(metadata)

    def _shown(self, metadata: dict[str, Any]) -> dict[str, Any]:
        shown = self._type.canonical(metadata)
        if shown.get("creationTimestamp") is None:
            shown.pop("creationTimestamp", None)
        ordered: dict[str, Any] = orjson.loads(orjson.dumps(shown, option=orjson.OPT_SORT_KEYS))
        return ordered
