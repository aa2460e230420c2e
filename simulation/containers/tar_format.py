"""Tar format: the entries of an archive, as ustar, pax and GNU's tar write them.

Pure. Sparse files are not read. Must hold: reading goes forwards alone, and a header is read in a bounded time. The
library's reader promises neither for an archive of a stranger.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_BLOCK = 512
_NAME, _SIZE, _SUM, _KIND, _PREFIX = slice(0, 100), slice(124, 136), slice(148, 156), slice(156, 157), slice(345, 500)
_FILES, _DIRECTORY = (b"0", b"\0", b"7"), b"5"
_PAX, _LONG_NAME = b"x", b"L"
_IGNORED = (b"g", b"K", b"V")
_LONGEST_HEADER = 16 * 1024
_RECORD = re.compile(rb"([0-9]{1,6}) ([^=\n]{1,100})=")
_OCTAL = re.compile(rb"[0-7]{1,12}")
_EMPTY = bytes(_BLOCK)


class MalformedArchive(ValueError):
    """An archive that cannot be read."""


class TarEntry(NamedTuple):
    """An entry. Its contents are between `start` and `end` of the archive."""

    name: str
    is_file: bool
    is_directory: bool
    start: int
    end: int


def entries(archive: bytes) -> Iterator[TarEntry]:
    """The entries in their order. Raises MalformedArchive."""
    at, long_name = 0, b""
    while at < len(archive) and archive[at : at + _BLOCK] != _EMPTY:
        head = archive[at : at + _BLOCK]
        _check(head)
        start, size, kind = at + _BLOCK, _number(head[_SIZE]), head[_KIND]
        if start + size > len(archive):
            raise MalformedArchive("unexpected end of the archive")
        at = start + -(-size // _BLOCK) * _BLOCK
        if kind == _LONG_NAME:
            long_name = _header(archive, start, size).rstrip(b"\0")
        elif kind == _PAX:
            long_name = _pax_path(_header(archive, start, size)) or long_name
        elif kind not in _IGNORED:
            name = (long_name or _short_name(head)).decode(errors="replace")
            yield TarEntry(name, kind in _FILES, kind == _DIRECTORY, start, start + size)
            long_name = b""


def _check(head: bytes) -> None:
    """Raises MalformedArchive for a header whose checksum is wrong."""
    field = head[_SUM]
    if len(head) != _BLOCK or sum(head) - sum(field) + len(field) * ord(" ") != _number(field):
        raise MalformedArchive("invalid tar header")


def _number(field: bytes) -> int:
    digits = _OCTAL.fullmatch(field.strip(b" \0") or b"0")
    if digits is None:
        raise MalformedArchive("invalid number in a tar header")
    return int(digits[0], 8)


def _header(archive: bytes, start: int, size: int) -> bytes:
    """The contents of an entry that belongs to the next one."""
    if size > _LONGEST_HEADER:
        raise MalformedArchive("too long a tar header")
    return archive[start : start + size]


def _pax_path(records: bytes) -> bytes:
    """The path in the records of a pax header; empty without one."""
    at, path = 0, b""
    while record := _RECORD.match(records, at):
        end = at + int(record[1])
        if end <= record.end():
            raise MalformedArchive("invalid pax header")
        path = records[record.end() : end - 1] if record[2] == b"path" else path
        at = end
    return path


def _short_name(head: bytes) -> bytes:
    name, prefix = (head[part].partition(b"\0")[0] for part in (_NAME, _PREFIX))
    return prefix + b"/" + name if prefix and head[257:262] == b"ustar" else name
