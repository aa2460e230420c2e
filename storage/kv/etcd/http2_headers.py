"""http2_headers: the header blocks of HTTP/2 (HPACK, RFC 7541), by the library hpack.

A gRPC server repeats the same few headers in all its responses. A block of references to
known headers is decoded once.

Must hold: an encoded block is good on every connection and at any time, since it uses no table. Tokens reach no log.
"""

import logging
from collections.abc import Iterable, Mapping

from hpack import Decoder, Encoder, HPACKError

from aio_apiserver.storage.kv.etcd.http2_frames import BrokenFrame

logging.getLogger("hpack").setLevel(logging.WARNING)  # it logs headers, the token for etcd among them

Headers = Mapping[str, str]

_REFERENCE = 0x80
"""The least byte that refers to one known header; a block of such bytes leaves the table as it is."""


def encoded(headers: Iterable[tuple[str, str]]) -> bytes:
    """A header block."""
    encoder = Encoder()
    encoder.header_table_size = 0
    return encoder.encode([(name, value, True) for name, value in headers])


class HeaderDecoder:
    """Decodes the header blocks of one connection, in their order."""

    def __init__(self) -> None:
        self._decoder = Decoder()
        self._known: dict[bytes, Headers] = {}

    def decode(self, block: bytes) -> Headers:
        """The headers in a block. Raises BrokenFrame."""
        headers = self._known.get(block)
        if headers is not None:
            return headers
        try:
            headers = {_text(name): _text(value) for name, value in self._decoder.decode(block, raw=True)}
        except HPACKError as error:
            raise BrokenFrame(f"a header block: {error!r}") from error
        if block and min(block) >= _REFERENCE:
            self._known[block] = headers
        else:
            self._known.clear()
        return headers


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")
