"""Commands: the programs that simulated containers have: those that print, wait, test, and change the shell."""

import gzip
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from aio_apiserver.simulation.containers import archives, arithmetic, block_copy, file_commands, line_commands
from aio_apiserver.simulation.containers.shell import SHELLS, Exit, FunctionReturn, Program, Shell
from aio_apiserver.simulation.containers.steps import FOREVER, Pause, Steps, Written

_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\", "\\a": "\a", "\\0": "\0", "\\e": "\x1b"}
_ESCAPE = re.compile(r"\\[ntra0e\\]")
_DIRECTIVE = re.compile(r"%([-0]?\d*)(?:\.\d+)?([sdq%])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SLEEPS = re.compile(r"(\d*\.?\d+)([smhd]?)")
_DATE = "%a %b %e %H:%M:%S UTC %Y"
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_OPERATION = 3
_MOST_NUMBERS = 1_000_000
_SIGNALS = {"1": "HUP", "2": "INT", "3": "QUIT", "15": "TERM"}


def _write(text: str) -> Steps:
    yield Written(text.encode(errors="replace"))
    return 0


def _echo(_shell: Shell, arguments: Sequence[str]) -> Steps:
    words, ends_line, reads_escapes = list(arguments), True, False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        option = words.pop(0)
        ends_line, reads_escapes = ends_line and "n" not in option, reads_escapes or "e" in option
    text = " ".join(words)
    return (yield from _write((_unescaped(text) if reads_escapes else text) + ("\n" if ends_line else "")))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES[found.group()], text)


def _printf(_shell: Shell, arguments: Sequence[str]) -> Steps:
    pattern, values = _unescaped(arguments[0]) if arguments else "", list(arguments[1:])
    text = ""
    while True:
        has_used = len(values)
        text += _DIRECTIVE.sub(lambda found: _formatted(found, values), pattern)
        if not values or has_used == len(values):
            return (yield from _write(text))


def _formatted(found: re.Match[str], values: list[str]) -> str:
    if found[2] == "%":
        return "%"
    value = values.pop(0) if values else ""
    flags = found[1]
    width = int(flags.lstrip("-0") or 0)
    if flags.startswith("-"):
        return value.ljust(width)
    return value.rjust(width, "0" if flags.startswith("0") else " ")


def _sleep(shell: Shell, arguments: Sequence[str]) -> Steps:
    seconds = 0.0
    for one in arguments:
        found = _SLEEPS.fullmatch(one)
        if found is None and one not in ("inf", "infinity"):
            return (yield from shell.fail("sleep", f"invalid time interval '{one}'"))
        seconds += float(found[1]) * _UNITS[found[2] or "s"] if found else FOREVER
    yield Pause(seconds)
    return 0


def _env(shell: Shell, arguments: Sequence[str]) -> Steps:
    child, rest = shell.child(), list(arguments)
    while rest and "=" in rest[0]:
        name, _, value = rest.pop(0).partition("=")
        child.env[name] = value
    if rest:
        return (yield from child.execute(rest))
    return (yield from _write("".join(f"{name}={value}\n" for name, value in child.env.items())))


def _printenv(shell: Shell, arguments: Sequence[str]) -> Steps:
    if not arguments:
        return (yield from _env(shell, ()))
    values = [shell.env[name] for name in arguments if name in shell.env]
    yield from _write("".join(f"{value}\n" for value in values))
    return int(len(values) < len(arguments))


def _date(shell: Shell, arguments: Sequence[str]) -> Steps:
    pattern = next((one[1:] for one in arguments if one.startswith("+")), _DATE)
    now = datetime.fromtimestamp(shell.world.now(), UTC)
    return (yield from _write(now.strftime(pattern.replace("%s", str(math.floor(now.timestamp())))) + "\n"))


def _seq(shell: Shell, arguments: Sequence[str]) -> Steps:
    numbers = [int(one) for one in arguments if one.lstrip("-").isdigit()]
    if not numbers or len(numbers) != len(arguments) or len(numbers) > len("abc"):
        return (yield from shell.fail("seq", "invalid argument"))
    first, step = (numbers[0] if len(numbers) > 1 else 1), (numbers[1] if len(numbers) == len("abc") else 1)
    every = range(first, numbers[-1] + (1 if step > 0 else -1), step or 1)[:_MOST_NUMBERS]
    return (yield from _write("".join(f"{one}\n" for one in every)))


def _exit(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    code = arguments[0] if arguments else str(shell.code)
    raise Exit(int(code) % 256 if code.isdigit() else 2)


def _return(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    code = arguments[0] if arguments else str(shell.code)
    raise FunctionReturn(int(code) % 256 if code.isdigit() else 2)


def _shift(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    count = int(arguments[0]) if arguments and arguments[0].isdigit() else 1
    if count >= max(len(shell.arguments), 1):
        return 1
    shell.arguments = (*shell.arguments[:1], *shell.arguments[1 + count :])
    return 0


def _expr(shell: Shell, arguments: Sequence[str]) -> Steps:
    """`expr`: an operation on two numbers, with the code 1 for the result 0."""
    first, operator, second = arguments if len(arguments) == _OPERATION else ("", "", "")
    if operator not in tuple("+-*/%") or not all(_INTEGER.fullmatch(one) for one in (first, second)):
        return (yield from shell.fail("expr", "syntax error", 2))
    result = arithmetic.value(f"({first}) {operator} ({second})", {})
    yield from _write(f"{result}\n")
    return 0 if result else 1


def _set(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    for one in arguments:
        if one.startswith(("-", "+")) and "e" in one.lstrip("-+"):
            shell.is_strict = one.startswith("-")
    return 0


def _trap(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    command, *signals = [one for one in arguments if one != "--"] or [""]
    for signal in signals:
        name = _SIGNALS.get(signal, signal.removeprefix("SIG"))
        shell.world.traps.pop(name, None)
        if command != "-":
            shell.world.traps[name] = shell, command
    return 0


def _export(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    for one in arguments:
        name, found, value = one.partition("=")
        if found:
            shell.env[name] = value
    return 0


def _unset(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    for one in arguments:
        shell.env.pop(one, None)
    return 0


def _cd(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    path = shell.path(arguments[0] if arguments else shell.env.get("HOME", "/root"))
    shell.world.files.require_directory(path)
    shell.directory = path
    return 0


def _exec(shell: Shell, arguments: Sequence[str]) -> Steps:
    raise Exit((yield from shell.execute(arguments)) if arguments else 0)


def _read(shell: Shell, arguments: Sequence[str]) -> Steps:
    """One line; the shell keeps the rest of its input."""
    data = yield from shell.input()
    line, found, shell.stdin = data.partition(b"\n")
    names = [one for one in arguments if not one.startswith("-")] or ["REPLY"]
    values = line.decode(errors="replace").split(None, len(names) - 1) if line else []
    shell.env.update(dict(zip(names, [*values, *("" for _ in names)], strict=False)))
    return 0 if found or line else 1


def _which(shell: Shell, arguments: Sequence[str]) -> Steps:
    wanted = [one for one in arguments if not one.startswith("-")]
    known = [one for one in wanted if one in COMMANDS or one in SHELLS]
    yield from _write("".join(f"/bin/{one}\n" for one in known))
    return int(len(known) < len(wanted))


_Compare = Callable[[str, str], bool]


def _numbers(compare: Callable[[int, int], bool]) -> _Compare:
    def test(one: str, other: str) -> bool:
        return compare(int(one), int(other))

    return test


_BINARY: Mapping[str, _Compare] = {
    "=": lambda one, other: one == other,
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "-eq": _numbers(lambda one, other: one == other),
    "-ne": _numbers(lambda one, other: one != other),
    "-lt": _numbers(lambda one, other: one < other),
    "-le": _numbers(lambda one, other: one <= other),
    "-gt": _numbers(lambda one, other: one > other),
    "-ge": _numbers(lambda one, other: one >= other),
}
_UNARY: Mapping[str, Callable[[Shell, str], bool]] = {
    "-z": lambda _shell, text: not text,
    "-n": lambda _shell, text: bool(text),
    "-d": lambda shell, name: shell.world.files.is_directory(shell.path(name)),
    "-e": lambda shell, name: shell.world.files.exists(shell.path(name)),
    "-f": lambda shell, name: _is_file(shell, name),
    "-r": lambda shell, name: shell.world.files.exists(shell.path(name)),
    "-s": lambda shell, name: _is_file(shell, name) and bool(shell.world.files.read(shell.path(name))),
}


def _is_file(shell: Shell, name: str) -> bool:
    files, path = shell.world.files, shell.path(name)
    return files.exists(path) and not files.is_directory(path)


def _test(shell: Shell, arguments: Sequence[str]) -> Steps:
    words = [one for one in arguments if one not in ("]", "]]")]
    is_negated = words[:1] == ["!"]
    words = words[1:] if is_negated else words
    try:
        result = _tested(shell, words)
    except (KeyError, ValueError):
        return (yield from shell.fail("sh", f"{' '.join(words)}: bad test", 2))
    return int(result == is_negated)


def _tested(shell: Shell, words: Sequence[str]) -> bool:
    match words:
        case []:
            return False
        case [text]:
            return bool(text)
        case [operator, text]:
            return _UNARY[operator](shell, text)
        case [one, operator, other]:
            return _BINARY[operator](one, other)
        case _:
            raise ValueError(words)


def _uptime(shell: Shell, _arguments: Sequence[str]) -> Steps:
    now = datetime.fromtimestamp(shell.world.now(), UTC)
    return (yield from _write(f" {now:%H:%M:%S} up 1 min,  0 users,  load average: 0.00, 0.00, 0.00\n"))


def _gzip(shell: Shell, arguments: Sequence[str]) -> Steps:
    if any(not one.startswith("-c") for one in arguments):
        return (yield from shell.fail("gzip", "packs standard input alone"))
    yield Written(gzip.compress((yield from shell.input())))
    return 0


def _says(text: Callable[[Shell], str]) -> Program:
    return lambda shell, _arguments: _write(text(shell) + "\n")


def _ends(code: int) -> Program:
    def end(_shell: Shell, _arguments: Sequence[str]) -> Steps:
        yield from ()
        return code

    return end


COMMANDS: Mapping[str, Program] = {
    **file_commands.COMMANDS,
    **line_commands.COMMANDS,
    "tar": archives.tar,
    "dd": block_copy.dd,
    "echo": _echo,
    "printf": _printf,
    "sleep": _sleep,
    "env": _env,
    "printenv": _printenv,
    "date": _date,
    "gzip": _gzip,
    "uptime": _uptime,
    "seq": _seq,
    "exit": _exit,
    "set": _set,
    "export": _export,
    "local": _export,
    "return": _return,
    "shift": _shift,
    "expr": _expr,
    "unset": _unset,
    "cd": _cd,
    "exec": _exec,
    "read": _read,
    "which": _which,
    "test": _test,
    "[": _test,
    "[[": _test,
    "wait": lambda shell, _arguments: shell.wait(),
    "true": _ends(0),
    ":": _ends(0),
    "trap": _trap,
    "sync": _ends(0),
    "stty": _ends(0),
    "chmod": _ends(0),
    "false": _ends(1),
    "hostname": _says(lambda shell: shell.world.hostname),
    "pwd": _says(lambda shell: shell.directory),
    "whoami": _says(lambda _shell: "root"),
    "id": _says(lambda _shell: "uid=0(root) gid=0(root) groups=0(root)"),
    "uname": _says(lambda _shell: "Linux"),
}
