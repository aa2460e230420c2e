"""Conversion: between the two shapes of an Event: core/v1, which is stored, and events.k8s.io/v1.

Pure. The newer shape renames shared fields, and has the fields of the older shape as `deprecated*`.
"""

from collections.abc import Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.machinery.view import Conversion

_TO_CORE: Mapping[str, str] = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_FROM_CORE = {core: newer for newer, core in _TO_CORE.items()}


def _renamed(obj: Object, names: Mapping[str, str]) -> Object:
    return {names.get(name, name): value for name, value in obj.items()}


CONVERSION = Conversion(
    to_hub=lambda obj: _renamed(obj, _TO_CORE),
    from_hub=lambda obj: _renamed(obj, _FROM_CORE),
)
