"""Line commands: sort, uniq and cut, for the pipes of simulated containers."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from aio_apiserver.simulation.containers.file_commands import contents_of, lines_of
from aio_apiserver.simulation.containers.shell import Program, Shell
from aio_apiserver.simulation.containers.steps import Steps

_NUMBER = re.compile(rb"[ \t]{0,64}(-?[0-9]{1,18})")
_FIELD = re.compile(r"[0-9]{1,9}")
_USAGE = 2


def _split(arguments: Sequence[str], known: str) -> tuple[str, list[str], str]:
    """The letters of the options, the files, and an unknown letter."""
    options = "".join(one[1:] for one in arguments if one.startswith("-"))
    unknown = options.strip(known)[:1]
    return options, [one for one in arguments if not one.startswith("-")], unknown


def _sort(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names, unknown = _split(arguments, "nru")
    if unknown:
        return (yield from shell.fail("sort", f"unrecognized option: {unknown}", _USAGE))
    lines = lines_of(shell, (yield from contents_of(shell, names)))
    shell.budget.spend(len(lines) if "n" in options else len(lines) // 2)
    lines.sort(key=_with_number if "n" in options else None, reverse="r" in options)
    yield from shell.breathe()
    yield from shell.write_lines((line for line, _ in groupby(lines)) if "u" in options else lines)
    return 0


def _with_number(line: bytes) -> tuple[int, bytes]:
    """A line with the number at its beginning, 0 without one."""
    number = _NUMBER.match(line)
    return int(number[1]) if number else 0, line


def _uniq(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names, unknown = _split(arguments, "c")
    if unknown:
        return (yield from shell.fail("uniq", f"unrecognized option: {unknown}", _USAGE))
    lines = lines_of(shell, (yield from contents_of(shell, names)))
    groups = ((line, _count(shell, same)) for line, same in groupby(lines))
    yield from shell.write_lines(b"%7d %s" % (number, line) if "c" in options else line for line, number in groups)
    return 0


def _count(shell: Shell, lines: Iterable[bytes]) -> int:
    number = sum(1 for _ in lines)
    shell.budget.spend(number // 4)
    return number


def _cut(shell: Shell, arguments: Sequence[str]) -> Steps:
    """The fields of each line, as in `cut -d : -f 1,3`."""
    given, names = {"-d": "\t", "-f": ""}, []
    words = iter(arguments)
    for word in words:
        if word[:2] in given:
            given[word[:2]] = word[2:] or next(words, "")
        else:
            names.append(word)
    wanted = frozenset(int(one) for one in given["-f"].split(",") if _FIELD.fullmatch(one))
    if not wanted or not given["-d"]:
        return (yield from shell.fail("cut", "give fields and a delimiter, as in -d : -f 1,3", _USAGE))
    data, mark = (yield from contents_of(shell, names)), given["-d"].encode(errors="replace")
    yield from shell.write_lines(_fields(shell, line, mark, wanted) for line in lines_of(shell, data))
    return 0


def _fields(shell: Shell, line: bytes, mark: bytes, wanted: Collection[int]) -> bytes:
    """Some fields of a line, in their order. A line without the delimiter is shown as it is."""
    shell.budget.spend(line.count(mark) // 2)
    parts = line.split(mark)
    return mark.join(part for number, part in enumerate(parts, 1) if number in wanted) if len(parts) > 1 else line


COMMANDS: Mapping[str, Program] = {"sort": _sort, "uniq": _uniq, "cut": _cut}
