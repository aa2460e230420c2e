"""Command line: makes flags from the fields of Settings, and Settings from the values of a command line.

Pure. Must hold: an error names the flag and quotes its value, in the words of Go's flag package where it has some.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from aio_apiserver.apiserver.config.flag_grammar import Flag, Parsed, UsageError, Value, invalid
from aio_apiserver.apiserver.config.flags import flag_types
from aio_apiserver.apiserver.config.flags.flag_types import FlagType
from aio_apiserver.apiserver.config.flags.setting_types import RefusedSetting
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.registry.base.golang import durations


def settings_of(parsed: Parsed) -> Settings:
    """The settings of a command line. Raises UsageError."""
    kinds = {flag.name: flag.kind for flag in flags()}
    values = {name.replace("-", "_"): _typed(kinds[name], value) for name, value in parsed.values.items()}
    try:
        return Settings.model_validate(values)
    except ValidationError as exc:
        raise UsageError(_complaint(exc, parsed.values)) from exc
    except RuntimeError as exc:
        raise UsageError(f"{exc} Use --data-dir.") from exc


def flags() -> list[Flag]:
    """All flags that have an effect, in the order of the settings."""
    return [_flag_of(name, field) for name, field in Settings.model_fields.items()]


def _flag_of(name: str, field: FieldInfo) -> Flag:
    about: Any = field.json_schema_extra
    kind = _kind_of(field)
    default = about["shown"] or _default_text(field.default, kind)
    return Flag(name.replace("_", "-"), kind, about["group"], field.description or "", default, about["shorthand"])


def _kind_of(field: FieldInfo) -> FlagType:
    for extra in field.metadata:
        if isinstance(extra, FlagType):
            return extra
    if field.annotation is bool:
        return FlagType.BOOL
    if field.annotation is int:
        return FlagType.INT
    if field.annotation is float:
        return FlagType.FLOAT
    return FlagType.LIST if str(field.annotation).startswith("tuple") else FlagType.STRING


def _default_text(default: Any, kind: FlagType) -> str:
    """A default as --help shows it; empty for empty, zero and false values."""
    if default in (None, "", 0, False, (), {}):
        return ""
    if kind is FlagType.DURATION:
        return durations.show(default)
    if kind is FlagType.LIST:
        return f"[{','.join(map(str, default))}]"
    if kind is FlagType.BOOL:
        return "true"
    if kind is FlagType.FLOAT:
        return f"{default:g}"
    return f'"{default}"' if kind is FlagType.STRING else str(default)


def _typed(kind: FlagType, value: Value) -> Any:
    """The value of a flag. The grammar has found that the text is one."""
    return flag_types.parse(kind, value) if isinstance(value, str) else value


def _complaint(error: ValidationError, values: Mapping[str, Value]) -> str:
    """The message of the first error, in Go's words."""
    first = error.errors()[0]
    why = first["msg"].removeprefix("Value error, ")
    if not first["loc"] or isinstance(first.get("ctx", {}).get("error"), RefusedSetting):
        return why
    flag = next(flag for flag in flags() if flag.name == str(first["loc"][0]).replace("_", "-"))
    given = values[flag.name]
    return str(invalid(flag, given if isinstance(given, str) else ",".join(given), why))
