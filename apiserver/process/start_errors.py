"""start_errors: the message of a start that failed, with the flag and the remedy.

Pure. Must hold: the message names the flag whose file, folder or port is the cause, where there is one.
"""

import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from aio_apiserver.apiserver.config.settings import Settings

REMEDIES: Mapping[int, str] = {
    errno.EACCES: "this user may not use it; choose another one or change its permissions",
    errno.EPERM: "this user may not use it; choose another one or change its permissions",
    errno.ENOSPC: "the disk is full; free some space or choose another one",
    errno.EROFS: "the file system is read-only; choose another one",
}


def explain(failure: Exception, settings: Settings) -> str:
    """What failed, and what to do."""
    if not isinstance(failure, OSError) or failure.errno is None:
        return _with_flag(str(failure), settings)
    if failure.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL):
        return _of_address(failure, settings)
    flag = _flag_of(failure, settings)
    reason = os.strerror(failure.errno)
    if not flag:
        return str(failure)
    remedy = REMEDIES.get(failure.errno)
    return f"{flag}: {reason}: {failure.filename}" + (f" ({remedy})" if remedy else "")


def _with_flag(message: str, settings: Settings) -> str:
    """A message that names a file, with the flag that names this file."""
    flags = [f"--{name.replace('_', '-')}: " for name, path in _paths(settings) if str(path) in message]
    return f"{flags[-1] if flags else ''}{message}"


def _of_address(failure: OSError, settings: Settings) -> str:
    if failure.errno == errno.EADDRNOTAVAIL:
        return f"--bind-address={settings.bind_address}: this machine has no such address"
    ports = [("secure", settings.secure_port), ("insecure", settings.insecure_port)]
    taken = [f"--{name}-port={port}" for name, port in ports if port and str(port) in str(failure)]
    return (
        f"{' or '.join(taken) or '--secure-port'}: another process has the port; choose another one (0: any free port)"
    )


def _flag_of(failure: OSError, settings: Settings) -> str:
    """The flag that names the file of an error or a folder above it; else one whose folders could not be made."""
    if not isinstance(failure.filename, str):
        return ""
    path = Path(failure.filename)
    given = {value: f"--{name.replace('_', '-')}" for name, value in _paths(settings)}
    for place in (path, *path.parents):
        if place in given:
            return f"{given[place]}={place}"
    below = (f"{flag}={place}" for place, flag in given.items() if path in place.parents)
    return next(below, "")


def _paths(settings: Settings) -> Iterator[tuple[str, Path]]:
    """All files and folders of the settings. The flags that come later in the order win."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Path) or (isinstance(one, str) and one.startswith("/")):
                yield name, Path(one)
