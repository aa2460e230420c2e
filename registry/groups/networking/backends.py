"""Backends: validates the backend of an Ingress: a port of a service, or a reference to another object. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.validation import domains, field, ports
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_SUBDOMAIN, TextFormat


def validate(backend: Mapping[str, Any], path: str, services: TextFormat) -> list[FieldError]:
    """The errors of a backend, which has a service or a resource, but not both. services: the format of their names."""
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [field.invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return validate_reference(resource, f"{path}.resource")
    if service is None:
        return [field.invalid(path, "", "resource or service backend is required")]
    name_path, name = f"{path}.service.name", service.get("name") or ""
    errors = domains.validate_format(name, services, name_path) if name else [field.required(name_path)]
    return errors + _validate_port(service.get("port") or {}, path)


def _validate_port(port: Mapping[str, Any], path: str) -> list[FieldError]:
    name, number = port.get("name") or "", port.get("number") or 0
    if name and number:
        return [field.invalid(path, "", "cannot set both port name & port number")]
    if name:
        return ports.validate(name, f"{path}.service.port.name")
    if number:
        return ports.validate(number, f"{path}.service.port.number")
    return [field.required(path, "port name or number is required")]


def validate_reference(reference: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors of a reference by group, kind and name."""
    errors = []
    if reference.get("apiGroup") is not None:
        errors += domains.validate_format(reference["apiGroup"], DNS1123_SUBDOMAIN, f"{path}.apiGroup")
    for name in ("kind", "name"):
        here = f"{path}.{name}"
        errors += domains.validate_segment(reference[name], here) if reference.get(name) else [field.required(here)]
    return errors
