"""Binary: base64 strings in objects, as Go's base64.StdEncoding reads them. Pure.

Go accepts line breaks anywhere, requires padding, and ignores surplus bits at the end.
"""

import binascii

from aio_apiserver.registry.base.golang.decode_errors import DecodeError

_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_LINE_BREAKS = frozenset(b"\r\n")
_PADDING = ord("=")


def canonical(text: str) -> str:
    """The text that kube-apiserver prints for the same bytes. Raises DecodeError."""
    try:
        found = encoded(binascii.a2b_base64(text, strict_mode=True))
    except (binascii.Error, ValueError):
        found = ""
    if len(found) == len(text):  # the strict mode accepts surplus padding
        return found
    return encoded(_decoded(text.encode(errors="replace")))


def encoded(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def _decoded(data: bytes) -> bytes:
    """The bytes of a text with line breaks. Raises DecodeError for invalid base64."""
    letters = 0
    for at, letter in enumerate(data):
        if letter in _LINE_BREAKS:
            continue
        if letter not in _ALPHABET:
            _check_end(data, at, letters % 4)
            break
        letters += 1
    else:
        if letters % 4:
            raise _illegal(_last_group(data, letters % 4))
    return binascii.a2b_base64(data)


def _check_end(data: bytes, at: int, letters: int) -> None:
    """Require that the first non-letter is the padding of the last group, and that the text ends there."""
    if data[at] != _PADDING or letters < 2:
        raise _illegal(at)
    end = at + 1
    if letters == 2:
        end = _after_line_breaks(data, end)
        if end == len(data):
            raise _illegal(len(data))
        if data[end] != _PADDING:
            raise _illegal(end - 1)
        end += 1
    end = _after_line_breaks(data, end)
    if end < len(data):
        raise _illegal(end)


def _after_line_breaks(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in _LINE_BREAKS:
        at += 1
    return at


def _last_group(data: bytes, letters: int) -> int:
    """The position that Go reports for an unfinished group: as many bytes before the end as the group has letters."""
    return len(data) - letters


def _illegal(at: int) -> DecodeError:
    return DecodeError(f"illegal base64 data at input byte {at}")
