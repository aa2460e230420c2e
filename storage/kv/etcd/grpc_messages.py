"""grpc_messages: gRPC's messages and status on an HTTP/2 stream, as its protocol document defines them.

Pure. Must hold: a failure has the code and the message that gRPC's own libraries would give it.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from aio_apiserver.storage.kv.etcd import http2_headers
from aio_apiserver.storage.kv.etcd.failures import NOT_CONNECTED
from aio_apiserver.storage.kv.etcd.grpc_status import Code, RpcFailed

_PREFIX_BYTES = 5
"""The bytes before each message: a flag for compression (never set, as we do not offer it), and the size in four bytes.
"""
_CODES: Mapping[int, Code] = {code.value: code for code in Code}
_BY_HTTP_STATUS = {
    "400": Code.INTERNAL,
    "401": Code.UNAUTHENTICATED,
    "403": Code.PERMISSION_DENIED,
    "404": Code.UNIMPLEMENTED,
    "429": Code.UNAVAILABLE,
    "502": Code.UNAVAILABLE,
    "503": Code.UNAVAILABLE,
    "504": Code.UNAVAILABLE,
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


def failure_in(headers: Mapping[str, str]) -> RpcFailed | None:
    """The failure in the headers and trailers of a response; None when the call was successful."""
    code = headers.get("grpc-status")
    if code == "0":
        return None
    if code is None:
        status = headers.get(":status", "none")
        return failed(_BY_HTTP_STATUS.get(status, Code.UNKNOWN), f"HTTP status {status}")
    number = int(code) if code.isdecimal() else -1
    return failed(_CODES.get(number, Code.UNKNOWN), unquote(headers.get("grpc-message", "")))


def broken(reason: str, *, was_sent: bool) -> RpcFailed:
    """The failure of a call whose connection or stream has broken."""
    return failed(Code.UNAVAILABLE, reason if was_sent else f"{NOT_CONNECTED}: {reason}")


def failed(code: Code, details: str) -> RpcFailed:
    """A failure."""
    return RpcFailed(code, details)
