"""Archives: `tar` in simulated containers, which `kubectl cp` calls at its other end."""

import io
import posixpath
import tarfile
from collections.abc import Sequence

from aio_apiserver.simulation.containers.shell import Shell
from aio_apiserver.simulation.containers.steps import Steps, Written

_CHUNK = 32 * 1024


def tar(shell: Shell, arguments: Sequence[str]) -> Steps:
    """Pack files into standard output or a file, or unpack them."""
    options, names, file, directory = _read_arguments(shell, arguments)
    if "c" in options:
        data = _packed(shell, names, directory)
        if file != "-":
            shell.world.files.write(shell.path(file), data)
            return 0
        for start in range(0, len(data), _CHUNK):
            yield Written(data[start : start + _CHUNK])
        return 0
    data = (yield from shell.input()) if file == "-" else shell.world.files.read(shell.path(file))
    try:
        listed = _unpacked(shell, data, directory, only_lists="t" in options)
    except tarfile.TarError as exc:
        return (yield from shell.fail("tar", str(exc)))
    if "v" in options or "t" in options:
        yield Written(listed.encode())
    return 0


def _read_arguments(shell: Shell, arguments: Sequence[str]) -> tuple[str, list[str], str, str]:
    """The letters of the options, the names, the archive and the directory."""
    options, names, file, directory = "", [], "-", shell.directory
    rest = list(arguments)
    if rest and not rest[0].startswith("-"):
        rest[0] = f"-{rest[0]}"
    while rest:
        one = rest.pop(0)
        if one == "-C" and rest:
            directory = shell.path(rest.pop(0))
        elif one.startswith("--") or not one.startswith("-"):
            names += [] if one.startswith("--") else [one]
        else:
            options += one[1:]
            if one.endswith("f") and rest:
                file = rest.pop(0)
    return options, names, file, directory


def _packed(shell: Shell, names: Sequence[str], directory: str) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name in names:
            path = posixpath.normpath(posixpath.join(directory, name))
            found = list(shell.world.files.below(path)) or [(path, shell.world.files.read(path))]
            for one, data in found:
                inside = posixpath.normpath(posixpath.join(name, posixpath.relpath(one, path)))
                entry = tarfile.TarInfo(inside.lstrip("/"))
                entry.size, entry.mtime, entry.mode = len(data), int(shell.world.now()), 0o644
                archive.addfile(entry, io.BytesIO(data))
    return target.getvalue()


def _unpacked(shell: Shell, data: bytes, directory: str, *, only_lists: bool) -> str:
    listed = ""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for entry in archive:
            listed += f"{entry.name}\n"
            path = posixpath.normpath(posixpath.join(directory, entry.name))
            contents = archive.extractfile(entry) if entry.isfile() and not only_lists else None
            if contents is not None:
                shell.world.files.write(path, contents.read())
            elif entry.isdir() and not only_lists:
                shell.world.files.make_directory(path)
    return listed
