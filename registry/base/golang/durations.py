"""Durations: Go's grammar for spans of time (1m30s, 500ms, 1h, -2s, 0), read as seconds.

Pure. Flags, the timeout parameter, configuration files and schedules use this grammar.
"""

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_TERM = re.compile(r"([0-9]*\.?[0-9]*)([^0-9.]*)")
_MAX_SECONDS = (2**63 - 1) / 1e9
_MOST_DIGITS = str(2**63)


class InvalidDuration(ValueError):
    """The text is no duration; the message is Go's."""


def parse(text: str) -> float:
    """The seconds of a duration. Raises InvalidDuration.

    >>> parse("1m30s"), parse("-1.5h"), parse("0")
    (90.0, -5400.0, 0.0)
    """
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    if unsigned == "0":
        return 0.0
    if not unsigned:
        raise InvalidDuration(f"time: invalid duration {_quoted(text)}")
    seconds = 0.0
    position = 0
    while position < len(unsigned):
        match = _TERM.match(unsigned, position)
        assert match is not None
        seconds += _term(match[1], match[2], text)
        position = match.end()
    if seconds > _MAX_SECONDS:
        raise InvalidDuration(f"time: invalid duration {_quoted(text)}")
    return -seconds if text.startswith("-") else seconds


def _term(number: str, unit: str, text: str) -> float:
    if number in ("", ".") or _is_too_long(number.partition(".")[0].lstrip("0")):
        raise InvalidDuration(f"time: invalid duration {_quoted(text)}")
    if not unit:
        raise InvalidDuration(f"time: missing unit in duration {_quoted(text)}")
    if unit not in _UNITS:
        raise InvalidDuration(f"time: unknown unit {_quoted(unit)} in duration {_quoted(text)}")
    return float(number) * _UNITS[unit]


def _is_too_long(digits: str) -> bool:
    return (len(digits), digits) > (len(_MOST_DIGITS), _MOST_DIGITS)


def _quoted(text: str) -> str:
    r"""The text as the messages of Go's time package quote it: each byte of a character outside of ASCII on its own.

    >>> print(_quoted('5é"'))
    "5\xc3\xa9\""
    """
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if " " <= character < "\x80":
        return f"\\{character}" if character in '"\\' else character
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))


def show(seconds: float) -> str:
    """The text that Go prints for a duration.

    >>> show(90), show(0.25), show(0), show(3600)
    ('1m30s', '250ms', '0s', '1h0m0s')
    """
    nanoseconds = round(abs(seconds) * 1e9)
    sign = "-" if seconds < 0 else ""
    for limit, unit in ((1_000, "ns"), (1_000_000, "µs"), (1_000_000_000, "ms")):
        if 0 < nanoseconds < limit:
            return f"{sign}{_trim(nanoseconds / limit * 1000)}{unit}"
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{_trim(rest / 1e9)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def _trim(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")
