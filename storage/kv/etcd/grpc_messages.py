"""grpc_messages: gRPC's messages and status on an HTTP/2 stream, as its protocol document defines them.

Pure. Must hold: a failure has the code and the message that gRPC's own libraries would give it.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata

from aio_apiserver.storage.kv.etcd import http2_headers
from aio_apiserver.storage.kv.etcd.failures import NOT_CONNECTED

_PREFIX_BYTES = 5
"""The bytes before each message: a flag for compression (never set, as we do not offer it), and the size in four bytes.
"""
_CODES: Mapping[int, StatusCode] = {code.value[0]: code for code in StatusCode}
_BY_HTTP_STATUS = {
    "400": StatusCode.INTERNAL,
    "401": StatusCode.UNAUTHENTICATED,
    "403": StatusCode.PERMISSION_DENIED,
    "404": StatusCode.UNIMPLEMENTED,
    "429": StatusCode.UNAVAILABLE,
    "502": StatusCode.UNAVAILABLE,
    "503": StatusCode.UNAVAILABLE,
    "504": StatusCode.UNAVAILABLE,
}
"""The codes for responses without a gRPC status, from a proxy."""


def request_headers(method: str, *, scheme: str, authority: str, metadata: Iterable[tuple[str, str]]) -> bytes:
    """The header block of a call."""
    return http2_headers.encoded(
        [
            (":method", "POST"),
            (":scheme", scheme),
            (":path", method),
            (":authority", authority),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            *metadata,
        ]
    )


def framed(message: bytes) -> bytes:
    """A message with its prefix."""
    return b"\0" + len(message).to_bytes(4, "big") + message


def unframed(data: bytes) -> bytes | None:
    """The message in the whole data of a response; None when it is no single message."""
    if (
        len(data) < _PREFIX_BYTES
        or data[0]
        or int.from_bytes(data[1:_PREFIX_BYTES], "big") != len(data) - _PREFIX_BYTES
    ):
        return None
    return data[_PREFIX_BYTES:]


def cut(buffer: bytearray) -> list[bytes]:
    """Take the whole messages from the beginning of a buffer."""
    messages = []
    begin, size = 0, len(buffer)
    while begin + _PREFIX_BYTES <= size:
        end = begin + _PREFIX_BYTES + int.from_bytes(buffer[begin + 1 : begin + _PREFIX_BYTES], "big")
        if end > size:
            break
        messages.append(bytes(buffer[begin + _PREFIX_BYTES : end]))
        begin = end
    del buffer[:begin]
    return messages


def failure_in(headers: Mapping[str, str]) -> AioRpcError | None:
    """The failure in the headers and trailers of a response; None when the call was successful."""
    code = headers.get("grpc-status")
    if code == "0":
        return None
    if code is None:
        status = headers.get(":status", "none")
        return failed(_BY_HTTP_STATUS.get(status, StatusCode.UNKNOWN), f"HTTP status {status}")
    number = int(code) if code.isdecimal() else -1
    return failed(_CODES.get(number, StatusCode.UNKNOWN), unquote(headers.get("grpc-message", "")))


def broken(reason: str, *, was_sent: bool) -> AioRpcError:
    """The failure of a call whose connection or stream has broken."""
    return failed(StatusCode.UNAVAILABLE, reason if was_sent else f"{NOT_CONNECTED}: {reason}")


def failed(code: StatusCode, details: str) -> AioRpcError:
    """A failure, as grpc.aio raises it."""
    return AioRpcError(code, Metadata(), Metadata(), details=details)
