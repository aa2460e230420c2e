"""Setting types: the types of settings: how a flag's text becomes a value, and the checks of a single value.

flag_types.py has read the texts of numbers, booleans, durations and addresses before. settings_checks.py checks several
settings together. Must hold: a refusal has the words of kube-apiserver, where it refuses the value, too.
"""

import contextlib
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from math import inf
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from aio_apiserver.apiserver.config.flags import cores, port_range
from aio_apiserver.apiserver.config.flags.flag_types import FlagType
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.factory import servers_overrides

_NEGATIVE = "--{flag} can not be negative value"
_NOT_POSITIVE = "--{flag} should be a positive number, but value '{value}' provided"
_NO_PORT = "--{flag} {value} must be between 0 and 65535, inclusive"
_NOT_ALLOWED = '--{flag} "{value}" invalid, allowed values: {allowed}'

N = TypeVar("N", int, float)


class RefusedSetting(ValueError):
    """A value that kube-apiserver reads and then refuses: the message is the whole line about it."""


def one_of(*allowed: str, words: str = _NOT_ALLOWED) -> AfterValidator:
    """One of these texts, or none. words: the refusal, with {flag}, {value}, and {allowed} or {listed}."""

    def check(text: str, info: ValidationInfo) -> str:
        if text and text not in allowed:
            raise _refusal(words, info, text, allowed)
        return text

    return AfterValidator(check)


def each_of(*allowed: str, words: str = _NOT_ALLOWED) -> AfterValidator:
    """A list of these texts. words: the refusal, as in `one_of`."""

    def check(texts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for text in texts:
            if text not in allowed:
                raise _refusal(words, info, text, allowed)
        return texts

    return AfterValidator(check)


def between(least: float, most: float, words: str) -> AfterValidator:
    """A number with bounds. words: the refusal, with {flag} and {value}."""

    def check(number: N, info: ValidationInfo) -> N:
        if not least <= number <= most:
            raise _refusal(words, info, f"{number:g}" if isinstance(number, float) else str(number))
        return number

    return AfterValidator(check)


def _refusal(words: str, info: ValidationInfo, value: str, allowed: Sequence[str] = ()) -> RefusedSetting:
    flag = (info.field_name or "").replace("_", "-")
    return RefusedSetting(words.format(flag=flag, value=value, allowed=", ".join(allowed), listed=",".join(allowed)))


def _address(text: str) -> str:
    return str(ip_address(text)) if text else ""


def _seconds(value: Any) -> Any:
    return durations.parse(value) if isinstance(value, str) else value


def _cache_sizes(settings: tuple[str, ...]) -> tuple[str, ...]:
    for setting in settings:
        resource, _, size = setting.partition("#")
        if not resource or "#" not in setting:
            raise RefusedSetting(f"invalid value of watch cache size: {setting}")
        if not size.isdecimal():
            raise RefusedSetting(f"invalid size of watch cache size: {setting}")
    return settings


def _overrides(settings: tuple[str, ...]) -> tuple[str, ...]:
    for setting in settings:
        try:
            servers_overrides.parse(setting)
        except InvalidOptions as exc:
            raise ValueError(str(exc)) from exc
    return settings


def _modules(settings: tuple[str, ...]) -> tuple[str, ...]:
    for setting in settings:
        pattern, _, level = setting.partition("=")
        if not pattern or not (level.isascii() and level.isdigit()):
            raise ValueError(f"{quote(setting)} does not have the pattern=N format")
    return settings


def _workers(value: Any) -> Any:
    return cores.usable() if value == "auto" else value


def _networks(values: Any) -> Any:
    return [_network(number, one) if isinstance(one, str) else one for number, one in enumerate(values)]


def _network(number: int, text: str) -> IPv4Network | IPv6Network:
    if "/" in text:
        with contextlib.suppress(ValueError):
            return ip_network(text, strict=False)
    raise RefusedSetting(f"service-cluster-ip-range[{number}] is not a valid cidr")


def _ports(value: str) -> str:
    port_range.parse(value)
    return value


Duration = Annotated[float, BeforeValidator(_seconds), between(0, inf, _NEGATIVE), FlagType.DURATION]
Address = Annotated[str, AfterValidator(_address), FlagType.IP]
Port = Annotated[int, between(0, 65535, _NO_PORT)]
OwnPort = Annotated[int, between(0, 65535, f"{_NO_PORT}. With 0 the server takes a free port")]
Count = Annotated[int, between(0, inf, _NEGATIVE)]
FileCount = Annotated[int, between(0, inf, "--{flag} {value} can't be a negative number")]
Level = Annotated[int, between(0, inf, _NEGATIVE), FlagType.LEVEL]
Positive = Annotated[int, between(1, inf, _NOT_POSITIVE)]
Workers = Annotated[int, BeforeValidator(_workers), between(1, inf, _NOT_POSITIVE), FlagType.INT_OR_AUTO]
Rate = Annotated[float, between(0, inf, _NEGATIVE)]
Strings = tuple[str, ...]
Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], BeforeValidator(_networks)]
Ports = Annotated[str, AfterValidator(_ports)]
CacheSizes = Annotated[Strings, AfterValidator(_cache_sizes)]
Modules = Annotated[Strings, AfterValidator(_modules)]
Overrides = Annotated[Strings, AfterValidator(_overrides)]
