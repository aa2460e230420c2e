"""Ports of endpoints and of endpoint slices: their protocols. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError

_PROTOCOLS = ("SCTP", "TCP", "UDP")


def validate_protocols(port: Mapping[str, Any], path: str) -> list[FieldError]:
    """The protocol of transport, which there must be, and that of the application."""
    protocol, application = port.get("protocol"), port.get("appProtocol")
    errors = []
    if protocol is None:
        errors.append(field.required(f"{path}.protocol"))
    elif protocol not in _PROTOCOLS:
        errors.append(field.not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    if application is not None:
        messages = names.check_qualified_name(application)
        errors += field.invalid_each(f"{path}.appProtocol", application, messages)
    return errors
