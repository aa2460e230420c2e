"""advancing_tls: ends TLS connections whose other side sends messages of TLS, and no data.

After the handshake, TLS 1.3 has messages that carry no data: new keys, new session tickets. OpenSSL reads as many of
them as have come within one call. 256 KB of new keys take it a tenth of a second. Go's TLS counts them, and closes the
connection behind the sixteenth.

The event loop writes what has come to one buffer. OpenSSL reads from another one, which gets record by record of it:

    came                       OpenSSL gets          read() returns
    data, data                 the first record      the first data
    new keys, data             both records          the data
    17 times new keys          all of them           nothing: it raises

Must hold: OpenSSL has at most the record that it is about to read. No byte changes its place.
"""

import ssl
from collections.abc import Callable
from typing import Any

_MOST_USELESS = 16
"""The records in a row without data, as in Go's crypto/tls."""
_TOO_MANY = "too many non-advancing records"
_HEADER = 5
"""The bytes of a record's header: its type, two for a version, and two for the length of the rest."""


class AdvancingTLS(ssl.SSLObject):
    """One side of a TLS connection."""

    read: Callable[..., Any]
    _records: "_Records"

    @classmethod
    def _create(cls, incoming: ssl.MemoryBIO, *arguments: Any, **settings: Any) -> Any:
        records = _Records(incoming)
        created: Any = super()._create(records.bio, *arguments, **settings)  # type: ignore[misc]
        created._records = records
        created.read = records.reader(created._sslobj.read)
        return created

    def do_handshake(self) -> None:
        """Go on with the handshake. Raises ssl.SSLWantReadError, ssl.SSLError."""
        while True:
            try:
                super().do_handshake()
            except ssl.SSLWantReadError:
                if not self._records.feed():
                    raise
                continue
            self._records.useless = 0
            return

    def unwrap(self) -> Any:
        """End TLS. The other side's end may stand behind records that were not read. Raises ssl.SSLWantReadError,
        ssl.SSLError.
        """
        while True:
            try:
                return super().unwrap()
            except ssl.SSLWantReadError:
                if self._records.useless > _MOST_USELESS:
                    raise ssl.SSLError(_TOO_MANY) from None
                if not self._records.feed():
                    raise


class _Records:
    """What has come for one connection, handed to OpenSSL record by record."""

    __slots__ = ("_header", "_incoming", "_missing", "bio", "useless")

    def __init__(self, incoming: ssl.MemoryBIO) -> None:
        self._incoming = incoming
        self.bio = ssl.MemoryBIO()
        """The buffer that OpenSSL reads from."""
        self._header = b""
        """The beginning of a header that has not come as a whole."""
        self._missing = 0
        """The bytes of the present record that have not come."""
        self.useless = 0
        """Whole records since the last data."""

    def feed(self) -> bool:
        """Hand over the next record, or what has come of it. Returns False when nothing has come."""
        incoming = self._incoming
        if not self._missing:
            header = self._header + incoming.read(_HEADER - len(self._header))
            if len(header) < _HEADER:
                self._header = header
                return False
            self._header = b""
            self._missing = header[3] << 8 | header[4]
            self.bio.write(header)
        elif not incoming.pending:
            return False
        self._missing -= self.bio.write(incoming.read(self._missing))
        if not self._missing:
            self.useless += 1
        return True

    def reader(self, read: Callable[..., Any]) -> Callable[..., Any]:
        """The function that reads data, around that of the interpreter. Raises ssl.SSLWantReadError, ssl.SSLError."""

        def read_advancing(*wanted: Any) -> Any:
            if not self.bio.pending:
                self.feed()
            while True:
                try:
                    data = read(*wanted)
                except ssl.SSLWantReadError:
                    if self.useless > _MOST_USELESS:
                        raise ssl.SSLError(_TOO_MANY) from None
                    if not self.feed():
                        raise
                    continue
                self.useless = 0
                return data

        return read_advancing
