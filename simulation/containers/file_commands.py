"""File commands: cat, ls and other programs of simulated containers that read and write files.

Must hold: the bytes of a file are paid before they are copied, and its lines before they are told apart.
"""

import posixpath
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import takewhile

from aio_apiserver.simulation.containers.files import FileError
from aio_apiserver.simulation.containers.patterns import FilePattern
from aio_apiserver.simulation.containers.shell import Program, Shell
from aio_apiserver.simulation.containers.steps import FOREVER, Pause, Step, Steps

_USUAL_LINES = 10
_OPERANDS = 2
"""A file and where it goes."""
_BYTES_A_STEP = 256
_BYTES_OF_A_LINE = 64
_STEPS_OF_AN_ENTRY = 4
_NUMBER = re.compile(r"[-+]?([0-9]{1,9})")
_WORDS = bytes(0x20 if chr(code) in " \t\n\r\x0b\x0c" else 0x78 for code in range(256))
"""Blanks become blanks, and all other bytes an x."""
_FIND_TESTS = frozenset(("-name", "-type"))


def _split(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The letters of the options, and the other arguments."""
    options = "".join(one[1:] for one in arguments if one.startswith("-") and one != "-")
    return options, [one for one in arguments if not one.startswith("-") or one == "-"]


def contents_of(shell: Shell, names: Sequence[str]) -> Generator[Step, bytes | None, bytes]:
    """The contents of files, or of standard input. Raises FileError."""
    pieces: list[bytes] = []
    for name in names or ("-",):
        try:
            piece = (yield from shell.input()) if name == "-" else shell.files.read(shell.path(name))
        except FileError as exc:
            raise FileError(f"can't open '{name}': {exc}") from None
        shell.budget.make(len(piece))
        pieces.append(piece)
    return b"".join(pieces)


def lines_of(shell: Shell, data: bytes) -> list[bytes]:
    """The lines of a text, without their line breaks."""
    count = data.count(b"\n") + 1
    shell.budget.spend(count // 8)
    shell.budget.make(count * _BYTES_OF_A_LINE + len(data))
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _cat(shell: Shell, arguments: Sequence[str]) -> Steps:
    _, names = _split(arguments)
    if (names and names != ["-"]) or shell.stdin is not None:
        yield from shell.write((yield from contents_of(shell, names)))
        return 0
    while data := (yield from shell.more_input()):
        yield from shell.write(data)
    return 0


def _ls(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names = _split(arguments)
    code = 0
    for name in names or (".",):
        path = shell.path(name)
        is_directory = shell.files.is_directory(path)
        try:
            if not is_directory:
                shell.files.read(path)
        except FileError as exc:
            code = yield from shell.fail("ls", f"{name}: {exc}")
            continue
        is_listed = is_directory and "d" not in options
        if is_listed and len(names) > 1:
            yield from shell.write_lines([_encoded(f"{name}:")])
        yield from shell.write_lines(_listed(shell, path, options) if is_listed else [_row(shell, path, name, options)])
    return code


def _encoded(name: str) -> bytes:
    return name.encode(errors="replace")


def _listed(shell: Shell, path: str, options: str) -> Iterator[bytes]:
    """The rows of a directory; of hidden files with `-a`."""
    for name in shell.all_files.names(path):
        if "a" in options or not name.startswith("."):
            yield _row(shell, posixpath.join(path, name), name, options)


def _row(shell: Shell, path: str, name: str, options: str) -> bytes:
    return _encoded(f"{_entry(shell, path) if 'l' in options else ''}{name}")


def _entry(shell: Shell, path: str) -> str:
    """The columns of `ls -l` before the name."""
    shell.budget.spend(_STEPS_OF_AN_ENTRY)
    files = shell.world.files
    is_directory = files.is_directory(path)
    size = 4096 if is_directory else len(files.read(path))
    return f"{'drwxr-xr-x' if is_directory else '-rw-r--r--'}    1 root     root     {size:9} Jan  1 00:00 "


def _find(shell: Shell, arguments: Sequence[str]) -> Steps:
    """All below some paths: `find /data -name '*.txt' -type f`."""
    names = list(takewhile(lambda one: not one.startswith("-"), arguments))
    tests = dict(zip(arguments[len(names) :: 2], arguments[len(names) + 1 :: 2], strict=False))
    if unknown := [*(tests.keys() - _FIND_TESTS), *arguments[len(names) + 2 * len(tests) :]]:
        return (yield from shell.fail("find", f"unrecognized: {unknown[0]}"))
    pattern, code = FilePattern(tests.get("-name", "*"), shell.budget), 0
    for name in names or (".",):
        path = shell.path(name)
        try:
            if not shell.files.is_directory(path):
                shell.files.read(path)
        except FileError as exc:
            code = yield from shell.fail("find", f"{name}: {exc}")
            continue
        yield from _show_below(shell, name, path, tests.get("-type", ""), pattern)
    return code


def _show_below(
    shell: Shell, name: str, path: str, kind: str, pattern: FilePattern
) -> Generator[Step, bytes | None, None]:
    """Write the names of a path, and of the files and directories below it, each before its own."""
    start, waiting = len(path.rstrip("/")), [path]
    while waiting:
        path = waiting.pop()
        shell.budget.spend(_STEPS_OF_AN_ENTRY)
        yield from shell.breathe()
        is_directory = shell.files.is_directory(path)
        if kind in ("", "d" if is_directory else "f") and pattern.matches(posixpath.basename(path)):
            yield from shell.write(_encoded(f"{name.rstrip('/')}{path[start:]}\n"))
        if is_directory:
            waiting += [posixpath.join(path, name) for name in reversed(shell.all_files.names(path))]


def _mkdir(shell: Shell, arguments: Sequence[str]) -> Steps:
    for name in _split(arguments)[1]:
        yield from shell.breathe()
        shell.files.make_directory(shell.path(name))
    return 0


def _touch(shell: Shell, arguments: Sequence[str]) -> Steps:
    for name in _split(arguments)[1]:
        yield from shell.breathe()
        if not shell.files.exists(shell.path(name)):
            shell.files.write(shell.path(name), b"")
    return 0


def _rm(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names = _split(arguments)
    for name in names:
        yield from shell.breathe()
        try:
            shell.all_files.remove(shell.path(name), is_recursive="r" in options or "R" in options)
        except FileError as exc:
            if "f" not in options:
                return (yield from shell.fail("rm", f"can't remove '{name}': {exc}"))
    return 0


def _cp(shell: Shell, arguments: Sequence[str]) -> Steps:
    _, names = _split(arguments)
    if len(names) < _OPERANDS:
        return (yield from shell.fail("cp", "missing file operand"))
    path = shell.path(names[-1])
    for name in names[:-1]:
        yield from shell.breathe()
        data = yield from contents_of(shell, [name])
        is_directory = shell.files.is_directory(path)
        shell.files.write(posixpath.join(path, posixpath.basename(name)) if is_directory else path, data)
        shell.budget.release(len(data))
    return 0


def _mv(shell: Shell, arguments: Sequence[str]) -> Steps:
    code = yield from _cp(shell, arguments)
    for name in _split(arguments)[1][:-1] if code == 0 else ():
        yield from shell.breathe()
        shell.all_files.remove(shell.path(name))
    return code


def _ln(shell: Shell, arguments: Sequence[str]) -> Steps:
    """A link is a copy, which later changes of the file do not reach."""
    names = _split(arguments)[1]
    if len(names) != _OPERANDS:
        return (yield from shell.fail("ln", "give a file and the link"))
    return (yield from _cp(shell, names))


def _tee(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names = _split(arguments)
    data = yield from shell.input()
    yield from shell.write(data)
    for name in names:
        yield from shell.breathe()
        if "a" in options:
            shell.append(shell.path(name), data)
        else:
            shell.files.write(shell.path(name), data)
    return 0


def _lines_of(arguments: Sequence[str]) -> tuple[int, list[str]]:
    """The number of lines for head and tail, and the files."""
    number, names, words = _USUAL_LINES, [], iter(arguments)
    for word in words:
        if word == "-n":
            number = _number(next(words, ""))
        elif match := re.fullmatch(r"-n?([0-9]{1,9})", word):
            number = int(match[1])
        elif not word.startswith("-"):
            names.append(word)
    return number, names


def _number(text: str) -> int:
    match = _NUMBER.fullmatch(text)
    return int(match[1]) if match else _USUAL_LINES


def _head(shell: Shell, arguments: Sequence[str]) -> Steps:
    number, names = _lines_of(arguments)
    data, end = (yield from contents_of(shell, names)), 0
    shell.budget.spend(min(number, data.count(b"\n")) // 8)
    for _ in range(number):
        end = data.find(b"\n", end) + 1
        if not end:
            break
    yield from shell.write(data[:end] if end or not number else data)
    return 0


def _tail(shell: Shell, arguments: Sequence[str]) -> Steps:
    number, names = _lines_of(arguments)
    data = yield from contents_of(shell, names)
    shell.budget.spend(min(number, data.count(b"\n")) // 8)
    start = len(data)
    for _ in range(number):
        if not start:
            break
        start = data.rfind(b"\n", 0, start - 1) + 1
    yield from shell.write(data[start:])
    if {"f", "F"} & set(_split(arguments)[0]):
        yield Pause(FOREVER)
    return 0


def _wc(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names = _split(arguments)
    data = yield from contents_of(shell, names)
    shell.budget.make(len(data))
    words = data.translate(_WORDS)
    counts = {"l": data.count(b"\n"), "w": words.count(b" x") + words.startswith(b"x"), "c": len(data)}
    shown = [str(counts[one]) for one in options[: len("lwc")] or "lwc" if one in counts]
    return (yield from shell.say(" ".join(shown) + "\n"))


def _grep(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, words = _split(arguments)
    if not words:
        return (yield from shell.fail("grep", "no pattern", 2))
    data = yield from contents_of(shell, words[1:])
    # The text is searched as it is: a pattern of a client could keep the server busy.
    ignores_case, matching = "i" in options, []
    text = words[0].lower().encode(errors="replace") if ignores_case else words[0].encode(errors="replace")
    for line in lines_of(shell, data):
        shell.budget.spend(1 + len(line) // _BYTES_A_STEP)
        yield from shell.breathe()
        if (text in (line.lower() if ignores_case else line)) != ("v" in options):
            matching.append(line)
    if "q" not in options:
        yield from shell.write_lines([str(len(matching)).encode()] if "c" in options else matching)
    return int(not matching)


def _part_of(part: Callable[[str], str]) -> Program:
    def show(shell: Shell, arguments: Sequence[str]) -> Steps:
        return shell.say("".join(f"{part(one)}\n" for one in arguments[:1]))

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
