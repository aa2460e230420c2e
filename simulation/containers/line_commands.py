"""Line commands: sort, uniq and cut, for the pipes of simulated containers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from aio_apiserver.simulation.containers.file_commands import contents_of
from aio_apiserver.simulation.containers.shell import Program, Shell
from aio_apiserver.simulation.containers.steps import Steps, Written

_NUMBER = re.compile(rb"\s*(-?\d{1,18})")
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
    lines = (yield from contents_of(shell, names)).splitlines()
    ordered = sorted(lines, key=_with_number) if "n" in options else sorted(lines)
    if "r" in options:
        ordered.reverse()
    yield Written(_joined(line for line, _ in groupby(ordered)) if "u" in options else _joined(ordered))
    return 0


def _with_number(line: bytes) -> tuple[int, bytes]:
    """A line with the number at its beginning, 0 without one."""
    found = _NUMBER.match(line)
    return int(found[1]) if found else 0, line


def _uniq(shell: Shell, arguments: Sequence[str]) -> Steps:
    options, names, unknown = _split(arguments, "c")
    if unknown:
        return (yield from shell.fail("uniq", f"unrecognized option: {unknown}", _USAGE))
    data = yield from contents_of(shell, names)
    groups = [(line, len(list(same))) for line, same in groupby(data.splitlines())]
    yield Written(_joined(b"%7d %s" % (number, line) if "c" in options else line for line, number in groups))
    return 0


def _cut(shell: Shell, arguments: Sequence[str]) -> Steps:
    """The fields of each line, as in `cut -d : -f 1,3`."""
    given, names, rest = {"-d": "\t", "-f": ""}, [], list(arguments)
    while rest:
        one = rest.pop(0)
        if one[:2] in given:
            given[one[:2]] = one[2:] or (rest.pop(0) if rest else "")
        else:
            names.append(one)
    wanted = [int(one) for one in given["-f"].split(",") if one.isdigit()]
    if not wanted or not given["-d"]:
        return (yield from shell.fail("cut", "give fields and a delimiter, as in -d : -f 1,3", _USAGE))
    data, mark = (yield from contents_of(shell, names)), given["-d"].encode()
    yield Written(_joined(_fields(line, mark, wanted) for line in data.splitlines()))
    return 0


def _fields(line: bytes, mark: bytes, wanted: Sequence[int]) -> bytes:
    """Some fields of a line, in their order. A line without the delimiter is shown as it is."""
    parts = line.split(mark)
    return mark.join(part for number, part in enumerate(parts, 1) if number in wanted) if len(parts) > 1 else line


def _joined(lines: Iterator[bytes] | Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


COMMANDS: Mapping[str, Program] = {"sort": _sort, "uniq": _uniq, "cut": _cut}
