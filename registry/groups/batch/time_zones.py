"""Time zones: whether the machine or the tzdata package knows a time zone."""

import zoneinfo
from pathlib import Path

from aio_apiserver.registry.base.text_caches import remember_short

_LONGEST = 255
"""The limit of file names in bytes. The zoneinfo module fails on longer names in other ways than on unknown ones."""


@remember_short(1024)
def error_of(name: str) -> str:
    """The message for an unknown time zone; empty for a known one. An empty name means UTC."""
    if name in {"", "UTC", "Local"}:
        return ""
    if ".." in name or name.startswith(("/", "\\")):
        return "time: invalid location name"
    if len(name.encode("utf-8", "replace")) > _LONGEST:
        return f"unknown time zone {name}"
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return "is a directory" if _is_directory(name) else f"unknown time zone {name}"
    return ""


def _is_directory(name: str) -> bool:
    """Whether the name is a directory of time zones."""
    return "\0" not in name and any(Path(root, name).is_dir() for root in zoneinfo.TZPATH)
