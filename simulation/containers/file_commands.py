"""File commands: cat, ls and other programs of simulated containers that read and write files."""

import posixpath
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile

from aio_apiserver.simulation.containers.files import FileError, Files
from aio_apiserver.simulation.containers.shell import Program, Shell
from aio_apiserver.simulation.containers.steps import FOREVER, Pause, Step, Steps, Written

_USUAL_LINES = 10
_FIND_TESTS = frozenset(("-name", "-type"))


def _split(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The letters of the options, and the other arguments."""
    options = "".join(one[1:] for one in arguments if one.startswith("-") and one != "-")
    return options, [one for one in arguments if not one.startswith("-") or one == "-"]


def contents_of(shell: Shell, names: Sequence[str]) -> Generator[Step, bytes | None, bytes]:
    """The contents of files, or of standard input. Raises FileError."""
    data = b""
    for name in names or ("-",):
        if name == "-":
            data += yield from shell.input()
        else:
            try:
                data += shell.world.files.read(shell.path(name))
            except FileError as exc:
                raise FileError(f"can't open '{name}': {exc}") from None
    return data


def _cat(shell: Shell, arguments: Sequence[str]) -> Steps:
    _, names = _split(arguments)
    if names and names != ["-"]:
        yield Written((yield from contents_of(shell, names)))
        return 0
    if shell.stdin is not None:
        yield Written((yield from shell.input()))
        return 0
    while data := (yield from shell.more_input()):
        yield Written(data)
    return 0


def _ls(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names = _split(arguments)
    files, text, code = shell.world.files, "", 0
    for name in names or (".",):
        path = shell.path(name)
        is_directory = files.is_directory(path)
        try:
            if not is_directory:
                files.read(path)
        except FileError as exc:
            code = yield from shell.fail("ls", f"{name}: {exc}")
            continue
        is_listed = is_directory and "d" not in options
        text += f"{name}:\n" if len(names) > 1 and is_listed else ""
        text += _listed(shell, path, options) if is_listed else _row(shell, path, name, options)
    yield Written(text.encode())
    return code


def _listed(shell: Shell, path: str, options: str) -> str:
    """The rows of a directory; of hidden files with `-a`."""
    shown = [one for one in shell.world.files.names(path) if "a" in options or not one.startswith(".")]
    return "".join(_row(shell, posixpath.join(path, one), one, options) for one in shown)


def _row(shell: Shell, path: str, name: str, options: str) -> str:
    return f"{_entry(shell, path) if 'l' in options else ''}{name}\n"


def _entry(shell: Shell, path: str) -> str:
    """The columns of `ls -l` before the name."""
    is_directory = shell.world.files.is_directory(path)
    size = 4096 if is_directory else len(shell.world.files.read(path))
    return f"{'drwxr-xr-x' if is_directory else '-rw-r--r--'}    1 root     root     {size:9} Jan  1 00:00 "


def _find(shell: Shell, arguments: Sequence[str]) -> Steps:
    """All below some paths: `find /data -name '*.txt' -type f`."""
    names = list(takewhile(lambda one: not one.startswith("-"), arguments))
    tests = dict(zip(arguments[len(names) :: 2], arguments[len(names) + 1 :: 2], strict=False))
    if unknown := [*(tests.keys() - _FIND_TESTS), *arguments[len(names) + 2 * len(tests) :]]:
        return (yield from shell.fail("find", f"unrecognized: {unknown[0]}"))
    files, code = shell.world.files, 0
    for name in names or (".",):
        path = shell.path(name)
        try:
            if not files.is_directory(path):
                files.read(path)
        except FileError as exc:
            code = yield from shell.fail("find", f"{name}: {exc}")
            continue
        for one in (path, *_all_below(files, path)):
            kind = "d" if files.is_directory(one) else "f"
            if tests.get("-type", kind) == kind and fnmatchcase(posixpath.basename(one), tests.get("-name", "*")):
                yield Written(f"{name.rstrip('/')}{one[len(path.rstrip('/')) :]}\n".encode())
    return code


def _all_below(files: Files, path: str) -> Iterator[str]:
    """The files and directories below a directory, each before its own."""
    for name in files.names(path) if files.is_directory(path) else ():
        one = posixpath.join(path, name)
        yield one
        yield from _all_below(files, one)


def _mkdir(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    for name in _split(arguments)[1]:
        shell.world.files.make_directory(shell.path(name))
    return 0


def _touch(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    for name in _split(arguments)[1]:
        if not shell.world.files.exists(shell.path(name)):
            shell.world.files.write(shell.path(name), b"")
    return 0


def _rm(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names = _split(arguments)
    for name in names:
        try:
            shell.world.files.remove(shell.path(name), is_recursive="r" in options or "R" in options)
        except FileError as exc:
            if "f" not in options:
                return (yield from shell.fail("rm", f"can't remove '{name}': {exc}"))
    return 0


def _cp(shell: Shell, arguments: Sequence[str]) -> Steps:
    _, (*sources, target) = _split(arguments)
    for name in sources:
        data = yield from contents_of(shell, [name])
        path = shell.path(target)
        is_directory = shell.world.files.is_directory(path)
        shell.world.files.write(posixpath.join(path, posixpath.basename(name)) if is_directory else path, data)
    return 0


def _mv(shell: Shell, arguments: Sequence[str]) -> Steps:
    code = yield from _cp(shell, arguments)
    _, (*sources, _target) = _split(arguments)
    for name in sources:
        shell.world.files.remove(shell.path(name))
    return code


def _ln(shell: Shell, arguments: Sequence[str]) -> Steps:
    """A link is a copy, which later changes of the file do not reach."""
    names = _split(arguments)[1]
    if len(names) != len(("file", "link")):
        return (yield from shell.fail("ln", "give a file and the link"))
    return (yield from _cp(shell, names))


def _tee(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names = _split(arguments)
    data = yield from shell.input()
    yield Written(data)
    for name in names:
        shell.world.files.write(shell.path(name), data, appends="a" in options)
    return 0


def _lines_of(arguments: Sequence[str]) -> tuple[int, list[str]]:
    """The number of lines for head and tail, and the files."""
    number, names, rest = _USUAL_LINES, [], list(arguments)
    while rest:
        one = rest.pop(0)
        if one == "-n" and rest:
            number = _number(rest.pop(0))
        elif found := re.fullmatch(r"-n?(\d+)", one):
            number = int(found[1])
        elif not one.startswith("-"):
            names.append(one)
    return number, names


def _number(text: str) -> int:
    digits = text.lstrip("+-")
    return int(digits) if digits.isdigit() else _USUAL_LINES


def _head(shell: Shell, arguments: Sequence[str]) -> Steps:
    number, names = _lines_of(arguments)
    data = yield from contents_of(shell, names)
    yield Written(b"".join(data.splitlines(keepends=True)[:number]))
    return 0


def _tail(shell: Shell, arguments: Sequence[str]) -> Steps:
    number, names = _lines_of(arguments)
    data = yield from contents_of(shell, names)
    yield Written(b"".join(data.splitlines(keepends=True)[-number:] if number else ()))
    if {"f", "F"} & set(_split(arguments)[0]):
        yield Pause(FOREVER)
    return 0


def _wc(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names = _split(arguments)
    data = yield from contents_of(shell, names)
    counts = {"l": data.count(b"\n"), "w": len(data.split()), "c": len(data)}
    yield Written((" ".join(str(counts[one]) for one in options or "lwc" if one in counts) + "\n").encode())
    return 0


def _grep(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, rest = _split(arguments)
    if not rest:
        return (yield from shell.fail("grep", "no pattern", 2))
    data = yield from contents_of(shell, rest[1:])
    # The text is searched as it is: a pattern of a client could keep the server busy.
    wanted = rest[0].encode()
    wanted = wanted.lower() if "i" in options else wanted
    lines = data.splitlines(keepends=True)
    found = [line for line in lines if (wanted in (line.lower() if "i" in options else line)) != ("v" in options)]
    if "q" not in options:
        yield Written(f"{len(found)}\n".encode() if "c" in options else b"".join(found))
    return int(not found)


def _part_of(part: Callable[[str], str]) -> Program:
    def show(_shell: Shell, arguments: Sequence[str]) -> Steps:
        yield Written("".join(f"{part(one)}\n" for one in arguments[:1]).encode())
        return 0

    return show


COMMANDS: Mapping[str, Program] = {
    "cat": _cat,
    "find": _find,
    "ls": _ls,
    "mkdir": _mkdir,
    "touch": _touch,
    "rm": _rm,
    "cp": _cp,
    "ln": _ln,
    "mv": _mv,
    "tee": _tee,
    "head": _head,
    "tail": _tail,
    "wc": _wc,
    "grep": _grep,
    "basename": _part_of(posixpath.basename),
    "dirname": _part_of(posixpath.dirname),
}
