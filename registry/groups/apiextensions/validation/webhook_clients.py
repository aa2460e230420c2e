"""Webhook clients: validates the clientConfig of a conversion webhook: URL, service and CA bundle. Pure."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError

_FORM = "; desired format: https://host[/path]"
_UNREADABLE = "unable to load root certificates: unable to parse bytes as PEM block"
_PORTS = range(1, 65536)


def has_sound_authorities(crd: Object) -> bool:
    """Whether the CA bundle of a definition's conversion webhook is readable or absent."""
    webhook = (crd["spec"].get("conversion") or {}).get("webhook") or {}
    return are_authorities((webhook.get("clientConfig") or {}).get("caBundle"))


def are_authorities(bundle: Any) -> bool:
    """Whether a base64 bundle contains certificates or is absent."""
    if not bundle:
        return True
    try:
        return bool(x509.load_pem_x509_certificates(base64.b64decode(bundle)))
    except (ValueError, binascii.Error):
        return False


def validate(client: Mapping[str, Any], path: str, *, allows_bad_authorities: bool) -> list[FieldError]:
    """The errors of a clientConfig."""
    url, service, bundle = client.get("url"), client.get("service"), client.get("caBundle")
    if (url is None) == (service is None):
        found = [field.required(path, "exactly one of url or service is required")]
    elif url is not None:
        found = _validate_url(url, f"{path}.url")
    else:
        found = _validate_service(service or {}, f"{path}.service")
    if bundle and not allows_bad_authorities and not are_authorities(bundle):
        found.append(field.invalid(f"{path}.caBundle", bundle, _UNREADABLE))
    return found


def _validate_url(text: str, path: str) -> list[FieldError]:
    try:
        url = urlsplit(text)
    except ValueError as exc:
        return [field.required(path, f"url must be a valid URL: {exc}{_FORM}")]
    found = []
    if url.scheme != "https":
        found.append(field.invalid(path, url.scheme, f"'https' is the only allowed URL scheme{_FORM}"))
    user, _, host = url.netloc.rpartition("@")
    if not host:
        found.append(field.invalid(path, "", f"host must be specified{_FORM}"))
    if user:
        found.append(field.invalid(path, user, "user information is not permitted in the URL"))
    if url.fragment:
        found.append(field.invalid(path, url.fragment, "fragments are not permitted in the URL"))
    if url.query:
        found.append(field.invalid(path, url.query, "query parameters are not permitted in the URL"))
    return found


def _validate_service(service: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors of a service. As in kube-apiserver, a missing namespace is reported at `name`, and a missing name at
    `namespace`.
    """
    found = []
    if not service.get("namespace"):
        found.append(field.required(f"{path}.name"))
    if not service.get("name"):
        found.append(field.required(f"{path}.namespace"))
    port = service.get("port", 443)
    if port not in _PORTS:
        detail = "port is not valid: must be between 1 and 65535, inclusive"
        found.append(field.invalid(f"{path}.port", port, detail))
    return found + _validate_path(service.get("path") or "", f"{path}.path")


def _validate_path(text: str, path: str) -> list[FieldError]:
    if text in {"", "/"}:
        return []
    if text == "//":
        return [field.invalid(path, text, "segment[0] may not be empty")]
    found = [] if text.startswith("/") else [field.invalid(path, text, "must start with a '/'")]
    for index, step in enumerate(text[1:].removesuffix("/").split("/")):
        if not step:
            found.append(field.invalid(path, text, f"segment[{index}] may not be empty"))
            continue
        wrong = names.DNS1123_SUBDOMAIN.check(step)
        found += [field.invalid(path, text, f"segment[{index}]: {words}") for words in wrong]
    return found
