"""Quantity: Kubernetes' resource.Quantity (500m, 1.5Gi, 1e3), its parser and its canonical text.

Pure. Text that Go considers canonical is kept: `1E3` and `+1` stay. Other text is rewritten with the largest unit of
its family that needs no fraction: 1.5k becomes 1500, 0.5Gi becomes 512Mi.

Must hold: digits below a nano are rounded away from zero. The canonical text of a canonical text is the text itself.
"""

import re
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from aio_apiserver.registry.base.golang.decode_errors import DecodeError

MILLI = -3
NANO = -9
_MAX_INT64 = 2**63 - 1
_MAX_DIGITS = 18
_CACHED_LENGTH = 24

_FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX_WRONG = "unable to parse quantity's suffix"
_NUMBER_WRONG = "unable to parse numeric part of quantity"

_PARTS = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIXES = {exponent: suffix for suffix, exponent in _BINARY.items()}
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)
_MAX_EXPONENT = 1000
"""A larger exponent is refused, since its digits would fill the memory."""


class QuantityFormat(Enum):
    """The families of units."""

    DECIMAL = "DecimalSI"
    BINARY = "BinarySI"
    EXPONENT = "DecimalExponent"


class Quantity(Struct, frozen=True):
    """`digits` times ten to the power of `scale`. `text` is the original text when it is canonical.

    is_big: kube-apiserver keeps the value as a number of arbitrary length (inf.Dec) instead of 64 bits.
    """

    digits: int
    scale: int
    format: QuantityFormat
    text: str = ""
    is_big: bool = False

    @property
    def nanos(self) -> int:
        """The value in whole billionths, for comparing and adding."""
        return _rescaled(self.digits, self.scale, NANO)

    def __str__(self) -> str:
        return self.text or _canonical(self)


def parse(text: str) -> Quantity:
    """Read a quantity. Raises DecodeError."""
    if not text:
        raise DecodeError(_FORMAT_WRONG)
    if text == "0":
        return Quantity(0, 0, QuantityFormat.DECIMAL, text)
    match = _PARTS.match(text)
    assert match is not None, "every part may be empty"
    if match.end() != len(text):
        raise DecodeError(_FORMAT_WRONG)
    sign, whole, fraction, suffix = match[1], match[2] or "0", match[3] or "", match[4]
    form, exponent = _unit(suffix)
    if form is QuantityFormat.BINARY:
        return _binary(text, sign, whole, fraction, exponent)
    return _decimal(text, sign, whole, fraction, form, exponent)


def parse_cached(text: str) -> Quantity:
    """Like `parse`, with a cache: objects repeat the same few amounts. Raises DecodeError."""
    return _cached_parse(text) if len(text) <= _CACHED_LENGTH else parse(text)


def canonical(text: str) -> str:
    """The text as kube-apiserver prints it. Raises DecodeError."""
    return _cached(text) if len(text) <= _CACHED_LENGTH else str(parse(text))


def rounded_up(text: str, scale: int) -> str:
    """The canonical text of the quantity, rounded up to ten to the power of `scale`."""
    return _cached_rounding(text, scale) if len(text) <= _CACHED_LENGTH else _rounded(text, scale)


@lru_cache(maxsize=4096)
def _cached_parse(text: str) -> Quantity:
    return parse(text)


@lru_cache(maxsize=4096)
def _cached(text: str) -> str:
    return str(parse(text))


@lru_cache(maxsize=4096)
def _cached_rounding(text: str, scale: int) -> str:
    return _rounded(text, scale)


def _rounded(text: str, scale: int) -> str:
    quantity = parse(text)
    if quantity.scale >= scale or quantity.text == "0":
        return str(quantity)
    return str(Quantity(_rescaled(quantity.digits, quantity.scale, scale), scale, quantity.format))


def _unit(suffix: str) -> tuple[QuantityFormat, int]:
    """The family of a suffix and its exponent of ten; for binary units the exponent of two."""
    if suffix in _DECIMAL:
        return QuantityFormat.DECIMAL, _DECIMAL[suffix]
    if suffix in _BINARY:
        return QuantityFormat.BINARY, _BINARY[suffix]
    match = _EXPONENT.fullmatch(suffix)
    if match is None or len(match[1]) > len(str(_MAX_EXPONENT)) + 1 or abs(int(match[1])) > _MAX_EXPONENT:
        raise DecodeError(_SUFFIX_WRONG)
    return QuantityFormat.EXPONENT, int(match[1])


def _decimal(text: str, sign: str, whole: str, fraction: str, form: QuantityFormat, exponent: int) -> Quantity:
    digits, scale = _integer(sign, whole + fraction), exponent - len(fraction)
    if len(whole) + len(fraction) <= _MAX_DIGITS and scale >= NANO:
        shifted = whole + fraction
        is_canonical = scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
        return Quantity(digits, scale, form, text if is_canonical else "")
    if scale < NANO:
        digits, scale = _rescaled(digits, scale, NANO), NANO
    return Quantity(digits, scale, form, is_big=True)


def _binary(text: str, sign: str, whole: str, fraction: str, exponent: int) -> Quantity:
    if not fraction:
        value = _integer(sign, whole)
        if len(whole) + int(exponent * 3 / 10) + 1 <= 15:
            return Quantity(value << exponent, 0, QuantityFormat.BINARY, text if value & 7 else "")
        return Quantity(_capped(value << exponent), 0, QuantityFormat.BINARY, is_big=True)
    digits = _integer(sign, whole + fraction) << exponent
    nanos = _rescaled(digits, -len(fraction), NANO)
    if abs(nanos) > _MAX_INT64 * 10**9:
        return Quantity(_capped(nanos // 10**9), 0, QuantityFormat.BINARY, is_big=True)
    return Quantity(
        nanos, NANO, QuantityFormat.DECIMAL if 0 < abs(nanos) < 10**9 else QuantityFormat.BINARY, is_big=True
    )


def _integer(sign: str, digits: str) -> int:
    try:
        value = int(digits)
    except ValueError as exc:
        raise DecodeError(_NUMBER_WRONG) from exc
    return -value if sign == "-" else value


def _capped(value: int) -> int:
    return max(-_MAX_INT64, min(_MAX_INT64, value))


def _rescaled(digits: int, scale: int, wanted: int) -> int:
    """The digits at another scale; lost digits are rounded away from zero."""
    factor: int = 10 ** abs(scale - wanted)
    if scale >= wanted:
        return digits * factor
    return -(-digits // factor) if digits > 0 else digits // factor


def _canonical(quantity: Quantity) -> str:
    digits, scale = quantity.digits, quantity.scale
    if digits == 0:
        return "0"
    if quantity.format is QuantityFormat.BINARY and abs(quantity.nanos) >= 1024 * 10**9 and quantity.nanos % 10**9 == 0:
        return _with_binary_unit(_rescaled(digits, scale, 0))
    while digits % 10 == 0:
        digits //= 10
        scale += 1
    while scale % 3:
        digits *= 10
        scale -= 1
    if quantity.format is QuantityFormat.EXPONENT:
        return f"{digits}e{scale}" if scale else str(digits)
    return f"{digits}{_DECIMAL_SUFFIXES.get(scale, '')}"


def _with_binary_unit(value: int) -> str:
    exponent = 0
    while value % 1024 == 0:
        value //= 1024
        exponent += 10
    return f"{value}{_BINARY_SUFFIXES.get(exponent, '')}"
