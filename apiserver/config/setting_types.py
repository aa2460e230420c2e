"""Setting types: the types of settings: how a flag's text becomes a value, and the checks of a single value.

settings_checks.py checks several settings together.
"""

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from aio_apiserver.apiserver.config import cores, port_range
from aio_apiserver.apiserver.config.flag_grammar import FlagType
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.factory import servers_overrides


def one_of(*allowed: str) -> AfterValidator:
    def check(text: str) -> str:
        if text and text not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return text

    return AfterValidator(check)


def each_of(*allowed: str) -> AfterValidator:
    def check(texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            if text not in allowed:
                raise ValueError(f"{text} is not one of {', '.join(allowed)}")
        return texts

    return AfterValidator(check)


def _address(text: str) -> str:
    return str(ip_address(text)) if text else ""


def _seconds(value: Any) -> Any:
    return durations.parse(value) if isinstance(value, str) else value


def _cache_sizes(settings: tuple[str, ...]) -> tuple[str, ...]:
    for setting in settings:
        resource, _, size = setting.partition("#")
        if not resource or not size.isdecimal():
            raise ValueError(f"{setting} is not of the format resource[.group]#size")
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
            raise ValueError(f"{setting} is not of the format pattern=N")
    return settings


def _workers(value: Any) -> Any:
    return cores.usable() if value == "auto" else value


def _network(value: Any) -> Any:
    return ip_network(value, strict=False) if isinstance(value, str) else value


def _ports(value: str) -> str:
    port_range.parse(value)
    return value


Duration = Annotated[float, BeforeValidator(_seconds), Field(ge=0), FlagType.DURATION]
Address = Annotated[str, AfterValidator(_address), FlagType.IP]
Port = Annotated[int, Field(ge=0, le=65535)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(gt=0)]
Workers = Annotated[int, BeforeValidator(_workers), Field(gt=0)]
Rate = Annotated[float, Field(ge=0)]
Strings = tuple[str, ...]
Network = Annotated[IPv4Network | IPv6Network, BeforeValidator(_network)]
Ports = Annotated[str, AfterValidator(_ports)]
CacheSizes = Annotated[Strings, AfterValidator(_cache_sizes)]
Modules = Annotated[Strings, AfterValidator(_modules)]
Overrides = Annotated[Strings, AfterValidator(_overrides)]
