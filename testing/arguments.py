"""Arguments: the flags of a test's server, by their names in Python.

Pure. Must hold: a flag that takes several values also takes a single one. The error for an unknown flag names similar
flags.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.config.suggestions import did_you_mean
from aio_apiserver.apiserver.config.validation_errors import describe

_DEFAULTS: Mapping[str, Any] = {
    "storage_backend": "memory",
    "bind_address": "127.0.0.1",
    "secure_port": 0,
    "testing": True,
    "kube_api_qps": -1.0,
}
_WITHOUT_CONTROLLERS = ("ServiceAccount",)
"""Admission plugins that need a controller. Without controllers they would refuse every pod."""


IGNORED: Mapping[str, str] = {
    "ready_file": "start() returns when the server is ready",
    "logging_format": "the server writes to the loggers of the test",
}
"""Flags of the program that have no effect on a server in a test, and the reasons."""


def check(given: Mapping[str, Any]) -> None:
    """Raise TypeError for a name that is no flag, and for a flag without effect in a test."""
    for name in given:
        if name in IGNORED:
            raise TypeError(f"{name} has no effect on a Server in a test: {IGNORED[name]}")
        if name not in Settings.model_fields:
            raise TypeError(f"the server has no flag {name}{did_you_mean(name, Settings.model_fields)}")


def settings_of(given: Mapping[str, Any], directory: Path) -> Settings:
    """The settings of a server whose files are in a directory. Raises ValueError."""
    values = {"data_dir": directory, **_DEFAULTS, **{name: _several(name, value) for name, value in given.items()}}
    if not values.get("controllers"):
        values.setdefault("disable_admission_plugins", _WITHOUT_CONTROLLERS)
    try:
        return Settings(**values)
    except ValidationError as exc:
        raise ValueError(describe(exc)) from None


def _several(name: str, value: Any) -> Any:
    """Wrap a single text for a flag that takes several values."""
    takes_several = isinstance(Settings.model_fields[name].get_default(call_default_factory=True), tuple)
    return (value,) if takes_several and isinstance(value, str) else value
