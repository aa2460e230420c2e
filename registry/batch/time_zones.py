"""Time zones: whether the machine, or the tzdata package, knows one."""

import zoneinfo
from functools import lru_cache


@lru_cache(maxsize=1024)
def error_of(name: str) -> str:
    """What is wrong with the name of a time zone; empty when nothing is. No name at all means UTC."""
    if name in {"", "UTC", "Local"}:
        return ""
    if ".." in name or name.startswith(("/", "\\")):
        return "time: invalid location name"
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return f"unknown time zone {name}"
    return ""
