"""Formats: the string formats of OpenAPI that kube-apiserver validates.

Their names are compared without dashes. Other names have no effect. Pure.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date

from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.registry.machinery.schema.validation import patterns, uris

_LIMITS = BudgetLimits(steps=1_000_000, bytes_made=0)
"""What a pattern of the server's own may cost for a text of limited length."""
_LONGEST_ADDRESS = 4096
"""Characters. Go has no limit, but no mail server takes a longer address."""
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\x{80}-\x{10ffff}]+"
_DOT_ATOM = rf"{_ATOM}(?:\.{_ATOM})*"
_QUOTED = r'"(?:[^"\\\r\n]|\\.)*"'
_LITERAL = r"\[[0-9A-Fa-f:.]+\]"
_SPEC = rf"(?:{_DOT_ATOM}|{_QUOTED})@(?:{_DOT_ATOM}|{_LITERAL})"
_PHRASE = rf"(?:(?:{_ATOM}|{_QUOTED}|\.)[ \t]*)+"
_ADDRESS = rf"^[ \t]*(?:{_SPEC}|(?:{_PHRASE})?<{_SPEC}>)[ \t]*$"


def is_address(text: str) -> bool:
    """Whether the text is one mail address."""
    return len(text) <= _LONGEST_ADDRESS and patterns.matches(_ADDRESS, text, Budget(_LIMITS))


Check = Callable[[str], bool]


def effective(name: str, of_type: str) -> str:
    """The normalized name of a format for values of a type; empty when the format has no effect."""
    if of_type in {"", "string"}:
        normal = name.replace("-", "")
        return normal if normal in CHECKS else ""
    return name if name in _OF_NUMBERS.get(of_type, ()) else ""


_OF_NUMBERS: Mapping[str, frozenset[str]] = {
    "integer": frozenset({"int32", "int64"}),
    "number": frozenset({"float", "double"}),
}


def _like(pattern: str) -> Check:
    return lambda text: re.fullmatch(pattern, text, re.ASCII) is not None


_HOSTNAME = (
    r"^(?:[0-9\p{S}\p{L}]-?[0-9\p{S}\p{L}]*|(?:[0-9\p{S}\p{L}](?:[0-9\p{S}\p{L}-]*[0-9\p{S}\p{L}])?\.)+\p{L}{2,})$"
)
"""kube-apiserver's pattern without its limits, for a text whose parts have at most 63 bytes."""


def _hostname(text: str) -> bool:
    if len(text.encode()) > 255 or any(len(part.encode()) > 63 for part in text.split(".")):
        return False
    return patterns.matches(_HOSTNAME, text, Budget(_LIMITS))


def _without_leading_zeros(text: str) -> str:
    """An address without leading zeros in its decimal parts, which old clients write."""
    return re.sub(r"(?<![0-9a-fA-F:])0+(?=[0-9])", "", text) if "." in text else text


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return None if "%" in text else ipaddress.ip_address(text)
    except ValueError:
        return None


def _ipv4(text: str) -> bool:
    return "." in text and _address(_without_leading_zeros(text)) is not None


def _ipv6(text: str) -> bool:
    return ":" in text and _address(text) is not None


def _cidr(text: str) -> bool:
    address, found, bits = text.partition("/")
    parsed = _address(_without_leading_zeros(address)) if found else None
    return parsed is not None and re.fullmatch("[0-9]{1,3}", bits) is not None and int(bits) <= parsed.max_prefixlen


_MAC_LENGTHS = frozenset({6, 8, 20})


def _mac(text: str) -> bool:
    for separator, pattern in ((":", "[0-9a-fA-F]{2}"), ("-", "[0-9a-fA-F]{2}"), (".", "[0-9a-fA-F]{4}")):
        parts = text.split(separator)
        if len(parts) > 1:
            octets = len(parts) * (2 if separator == "." else 1)
            return octets in _MAC_LENGTHS and all(re.fullmatch(pattern, part) for part in parts)
    return False


def _isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if re.fullmatch("[0-9]{9}[0-9X]", digits, re.ASCII) is None:
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum(weight * value for weight, value in enumerate(values, 1)) % 11 == 0


def _isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if re.fullmatch("[0-9]{13}", digits, re.ASCII) is None:
        return False
    return sum((1, 3)[index % 2] * int(digit) for index, digit in enumerate(digits)) % 10 == 0


_CREDIT_CARD = _like(
    r"(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}"
    r"|6[27][0-9]{14})"
)


def _credit_card(text: str) -> bool:
    digits = re.sub("[^0-9]+", "", text)
    if not _CREDIT_CARD(digits):
        return False
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + index % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


_CHANNEL = r"\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*"


def _date(text: str) -> bool:
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII) is None:
        return False
    try:
        date(max(int(text[:4]), 4) if int(text[:4]) == 0 else int(text[:4]), int(text[5:7]), int(text[8:]))
    except ValueError:
        return False
    return True


_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))", re.ASCII)


def _date_time(text: str) -> bool:
    parts = text.lower().split("t")
    if len(parts) < 2 or not _date(parts[0]):
        return False
    found = _TIME.fullmatch(parts[1])
    return found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


_GO_DURATION = re.compile(r"[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)")
_SPOKEN_PART = re.compile(r"(?<![0-9])([0-9]++)\s*+([A-Za-zµ]+)")
_UNITS = frozenset("ns nano us µs micro ms milli s sec m min h hr hour d day w wk week".split())
_LONG_UNITS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _duration(text: str) -> bool:
    if _GO_DURATION.fullmatch(text):
        return True
    parts = _SPOKEN_PART.findall(text)
    if any(len(number) > 18 for number, _ in parts):
        return False
    return any(unit.lower() in _UNITS or unit.lower().startswith(_LONG_UNITS) for _, unit in parts)


def _uuid(version: str = "[0-9a-f]", variant: str = "[0-9a-f]") -> Check:
    pattern = f"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{version}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}}"
    return lambda text: re.fullmatch(pattern, text, re.ASCII | re.IGNORECASE) is not None


_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"


def _short(check: Check, limit: int) -> Check:
    return lambda text: len(text.encode()) <= limit and check(text)


CHECKS: Mapping[str, Check] = {
    "bsonobjectid": _like("[0-9a-fA-F]{24}"),
    "uri": uris.is_request_uri,
    "email": is_address,
    "hostname": _hostname,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "cidr": _cidr,
    "mac": _mac,
    "uuid": _uuid(),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4", "[89ab]"),
    "uuid5": _uuid("5", "[89ab]"),
    "isbn": lambda text: _isbn10(text) or _isbn13(text),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "creditcard": _credit_card,
    "ssn": _like("[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}"),
    "hexcolor": _like("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _like(rf"rgb\({_CHANNEL},{_CHANNEL},{_CHANNEL}\)"),
    "byte": _like("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "password": lambda _text: True,
    "date": _date,
    "duration": _duration,
    "datetime": _date_time,
    "k8sshortname": _short(_like(_LABEL), 63),
    "k8slongname": _short(_like(rf"{_LABEL}(\.{_LABEL})*"), 253),
}
