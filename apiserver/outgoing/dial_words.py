"""dial_words: why a connection or a call failed, in the words of Go's packages net, net/http and crypto/tls. Pure.

Operators know these words, and programs look for them. Upstream's HTTP client and upstream's proxy word certificates
differently from each other; all other words are shared.
"""

import errno
import os
import socket
import ssl

import aiohttp

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.locations import Location

_TLS = "tls: failed to verify certificate: "
_EXPIRED, _NOT_YET_VALID = 10, 9
_OTHER_NAME = frozenset({62, 64})
"""Codes of OpenSSL: of a host name, of an address."""
_NETWORK = frozenset(
    {errno.ECONNREFUSED, errno.ECONNRESET, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ETIMEDOUT},
)


def of_call(exc: BaseException) -> str:
    """Why a webhook or the server of a document gave no answer."""
    match exc:
        case aiohttp.ClientConnectorCertificateError():
            return _of_certificate(exc.certificate_error, exc.host)
        case aiohttp.ClientConnectorDNSError():
            return _unknown(exc.host)
        case aiohttp.ClientConnectorSSLError():
            return _of_handshake(str(exc.os_error))
        case aiohttp.ClientConnectorError():
            return _unconnected(f"{exc.host}:{exc.port}", exc.errno, (exc.strerror or "failed").lower())
        case aiohttp.ServerDisconnectedError():
            return "EOF"
        case aiohttp.ClientPayloadError():
            return "unexpected EOF"
        case aiohttp.ClientResponseError():
            return _of_answer(exc)
        case aiohttp.InvalidURL():
            return f"invalid URL {quote(str(exc))}"
        case OSError() if exc.errno in _NETWORK:
            return f"read: {os.strerror(exc.errno).lower()}"
        case ConnectionResetError():
            return "read: connection reset by peer"
    return str(exc)


def of_relay(exc: BaseException, location: Location) -> str:
    """Why a request did not reach a kubelet, a pod, a service or an aggregated server."""
    if isinstance(exc, aiohttp.ClientConnectorCertificateError):
        return f"{_TLS}{exc.certificate_error}"
    if isinstance(exc, aiohttp.ClientResponseError):
        return _of_answer(exc)
    cause = exc.os_error if isinstance(exc, aiohttp.ClientConnectorError) else exc
    match cause:
        case ssl.SSLCertVerificationError():
            return f"{_TLS}{cause.verify_message}"
        case socket.gaierror():
            return _unknown(location.host)
    if isinstance(exc, TimeoutError) or isinstance(cause, TimeoutError):
        return f"dial tcp {location.authority}: i/o timeout"
    if isinstance(cause, ssl.SSLError):
        return f"tls: {cause.reason or 'handshake failure'}"
    return _unconnected(location.authority, getattr(cause, "errno", None), str(cause))


def is_reset(exc: BaseException) -> bool:
    """Whether the other side broke the connection off. The next try may succeed."""
    return isinstance(exc, OSError) and exc.errno == errno.ECONNRESET


def _of_answer(exc: aiohttp.ClientResponseError) -> str:
    """Why an answer could not be read. Of a limit, answer_parser.py has the words; they have no status."""
    if exc.message and not exc.status:
        return exc.message
    return "net/http: HTTP/1.x transport connection broken: malformed HTTP response"


def _unknown(host: str) -> str:
    return f"dial tcp: lookup {host}: no such host"


def _unconnected(address: str, number: int | None, otherwise: str) -> str:
    """`number` is the operating system's error; a failure without one is told with the words in `otherwise`."""
    why = os.strerror(number).lower() if number is not None and number in errno.errorcode else otherwise
    return f"dial tcp {address}: connect: {why}"


def _of_certificate(exc: Exception, host: str) -> str:
    if not isinstance(exc, ssl.SSLCertVerificationError):
        return f"{_TLS}x509: {exc}"
    if exc.verify_code in {_EXPIRED, _NOT_YET_VALID}:
        return f"{_TLS}x509: certificate has expired or is not yet valid"
    if exc.verify_code in _OTHER_NAME:
        return f"{_TLS}x509: certificate is not valid for {host}"
    return f"{_TLS}x509: certificate signed by unknown authority"


def _of_handshake(text: str) -> str:
    if "WRONG_VERSION_NUMBER" in text or "HTTP_REQUEST" in text:
        return "http: server gave HTTP response to HTTPS client"
    return f"remote error: tls: {text}"
