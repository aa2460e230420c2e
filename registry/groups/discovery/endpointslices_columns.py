"""endpointslices_columns: the columns of an EndpointSlice: its address type, ports and endpoints."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import UNSET

_SHOWN = 3


def _slice_ports(obj: Object, _now: float) -> str:
    texts = [_slice_port(port) for port in obj.get("ports") or ()]
    return formats.with_more(texts, _SHOWN, len(texts)) or UNSET


def _slice_port(port: Mapping[str, Any]) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    name = port.get("name")
    return "*" if name is None else str(name)


def _slice_endpoints(obj: Object, _now: float) -> str:
    texts = [address for one in obj.get("endpoints") or () for address in one.get("addresses") or ()]
    return formats.with_more(texts, _SHOWN, len(texts)) or UNSET


COLUMNS = table_of(
    NAME,
    (Column(name="AddressType", field="discovery.v1.EndpointSlice.addressType"), value("addressType")),
    (Column(name="Ports", field="discovery.v1.EndpointSlice.ports"), _slice_ports),
    (Column(name="Endpoints", field="discovery.v1.EndpointSlice.endpoints"), _slice_endpoints),
    AGE,
)
