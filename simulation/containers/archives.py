"""Archives: `tar` in simulated containers, which `kubectl cp` calls at its other end.

Must hold: a malformed archive ends the program with a message. An entry is paid before it is packed or unpacked.
"""

import io
import posixpath
import tarfile
from collections.abc import Generator, Sequence

from aio_apiserver.simulation.containers import tar_format
from aio_apiserver.simulation.containers.shell import Shell
from aio_apiserver.simulation.containers.steps import Step, Steps
from aio_apiserver.simulation.containers.tar_format import MalformedArchive

_CHUNK = 32 * 1024
_STEPS_OF_AN_ENTRY, _BYTES_OF_AN_ENTRY = 80, 1024
_LAST_SECOND = 2**33 - 1
"""The last time that an entry can have."""


def tar(shell: Shell, arguments: Sequence[str]) -> Steps:
    """Pack files into standard output or a file, or unpack them."""
    options, names, file, directory = _read_arguments(shell, arguments)
    if "c" in options:
        data = yield from _packed(shell, names, directory)
        if file != "-":
            shell.files.write(shell.path(file), data)
            return 0
        for start in range(0, len(data), _CHUNK):
            yield from shell.write(data[start : start + _CHUNK])
        return 0
    data = (yield from shell.input()) if file == "-" else shell.files.read(shell.path(file))
    try:
        listed = yield from _unpacked(shell, data, directory, only_lists="t" in options)
    except MalformedArchive as exc:
        return (yield from shell.fail("tar", str(exc)))
    if "v" in options or "t" in options:
        yield from shell.write_lines(listed)
    return 0


def _read_arguments(shell: Shell, arguments: Sequence[str]) -> tuple[str, list[str], str, str]:
    """The letters of the options, the names, the archive and the directory."""
    options, names, file, directory = "", [], "-", shell.directory
    first = [f"-{one}" if not one.startswith("-") else one for one in arguments[:1]]
    words = iter((*first, *arguments[1:]))
    for word in words:
        if word == "-C":
            directory = shell.path(next(words, "."))
        elif word.startswith("--") or not word.startswith("-"):
            names += [] if word.startswith("--") else [word]
        else:
            options += word[1:]
            file = next(words, file) if word.endswith("f") else file
    return options, names, file, directory


def _packed(shell: Shell, names: Sequence[str], directory: str) -> Generator[Step, bytes | None, bytes]:
    """An archive of files and directories. Raises FileError."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name in names:
            path = posixpath.normpath(posixpath.join(directory, name))
            below = list(shell.all_files.below(path)) or [(path, shell.files.read(path))]
            for one, data in below:
                _pay(shell, len(data))
                yield from shell.breathe()
                inside = posixpath.normpath(posixpath.join(name, posixpath.relpath(one, path)))
                entry = tarfile.TarInfo(inside.lstrip("/"))
                entry.size, entry.mtime, entry.mode = len(data), int(min(shell.world.now(), _LAST_SECOND)), 0o644
                archive.addfile(entry, io.BytesIO(data))
    shell.budget.make(target.tell())
    return target.getvalue()


def _pay(shell: Shell, size: int) -> None:
    """Pay for an entry with so many bytes."""
    shell.budget.spend(_STEPS_OF_AN_ENTRY)
    shell.budget.make(_BYTES_OF_AN_ENTRY + size)


def _unpacked(
    shell: Shell, data: bytes, directory: str, *, only_lists: bool
) -> Generator[Step, bytes | None, list[bytes]]:
    """The names in an archive, whose files are written. Raises FileError, MalformedArchive."""
    listed: list[bytes] = []
    for entry in tar_format.entries(data):
        _pay(shell, len(entry.name))
        yield from shell.breathe()
        listed.append(entry.name.encode(errors="replace"))
        path = posixpath.normpath(posixpath.join(directory, entry.name))
        if entry.is_directory and not only_lists:
            shell.files.make_directory(path)
        elif entry.is_file and not only_lists:
            shell.files.write(path, data[entry.start : entry.end])
    return listed
