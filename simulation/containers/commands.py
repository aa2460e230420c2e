"""Commands: the programs that simulated containers have: those that print, wait, test, and change the shell.

Must hold: a number in an argument has a limit, and a text is paid before it is made.
"""

import math
import re
import zlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from aio_apiserver.simulation.containers import archives, arithmetic, block_copy, file_commands, line_commands
from aio_apiserver.simulation.containers.shell import SHELLS, Exit, FunctionReturn, Program, Shell
from aio_apiserver.simulation.containers.steps import FOREVER, Pause, Steps

_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\", "\\a": "\a", "\\0": "\0", "\\e": "\x1b"}
_ESCAPE = re.compile(r"\\[ntra0e\\]")
_DIRECTIVE = re.compile(r"%(-?)(0?)([0-9]{0,18})(?:\.[0-9]{0,9})?([sdq%])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SLEEPS = re.compile(r"([0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})([smhd]?)")
_DATE = "%a %b %e %H:%M:%S UTC %Y"
_DATE_GROWTH = 256
"""How many times as long as its pattern a date may be."""
_LAST_SECOND = 253_402_300_799.0
"""The end of the year 9999."""
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_CODE = re.compile(r"[0-9]{1,9}")
_OPERATION = 3
_NUMBERS_A_PIECE = 500
_SIGNALS = {"1": "HUP", "2": "INT", "3": "QUIT", "15": "TERM"}
_TRAPPED = frozenset(("TERM",))
"""The signals that a simulated process can get."""
_PIECE = 64 * 1024
_STEPS_OF_A_PIECE = 2_000
"""What packing a piece takes."""
_GZIP = 16 + zlib.MAX_WBITS


def _echo(shell: Shell, arguments: Sequence[str]) -> Steps:
    number, ends_line, reads_escapes = 0, True, False
    while number < len(arguments) and re.fullmatch(r"-[neE]+", arguments[number]):
        option, number = arguments[number], number + 1
        ends_line, reads_escapes = ends_line and "n" not in option, reads_escapes or "e" in option
    shell.budget.make(sum(map(len, arguments)) + len(arguments))
    text = " ".join(arguments[number:])
    return (yield from shell.say((_unescaped(shell, text) if reads_escapes else text) + ("\n" if ends_line else "")))


def _unescaped(shell: Shell, text: str) -> str:
    shell.budget.spend(text.count("\\"))
    shell.budget.make(len(text))
    return _ESCAPE.sub(lambda match: _ESCAPES[match.group()], text)


def _printf(shell: Shell, arguments: Sequence[str]) -> Steps:
    pattern, values = _unescaped(shell, arguments[0]) if arguments else "", deque(arguments[1:])
    while True:
        count = len(values)
        shell.budget.spend(1 + 2 * pattern.count("%") + len(pattern) // 8)
        shell.budget.make(len(pattern))
        yield from shell.say(_DIRECTIVE.sub(lambda match: _formatted(shell, match, values), pattern))
        if not values or count == len(values):
            return 0


def _formatted(shell: Shell, match: re.Match[str], values: deque[str]) -> str:
    if match[4] == "%":
        return "%"
    value, width = values.popleft() if values else "", int(match[3] or 0)
    shell.budget.make(width + len(value))
    return value.ljust(width) if match[1] else value.rjust(width, match[2] or " ")


def _sleep(shell: Shell, arguments: Sequence[str]) -> Steps:
    seconds = 0.0
    for one in arguments:
        interval = _SLEEPS.fullmatch(one)
        if interval is None and one not in ("inf", "infinity"):
            return (yield from shell.fail("sleep", f"invalid time interval '{one}'"))
        seconds += float(interval[1]) * _UNITS[interval[2] or "s"] if interval else FOREVER
    yield Pause(seconds)
    return 0


def _env(shell: Shell, arguments: Sequence[str]) -> Steps:
    child, number = shell.child(), 0
    while number < len(arguments) and "=" in arguments[number]:
        name, _, value = arguments[number].partition("=")
        child.assign(name, value)
        number += 1
    if number < len(arguments):
        return (yield from child.execute(arguments[number:]))
    return (yield from _print_variables(child))


def _print_variables(shell: Shell) -> Steps:
    shell.budget.spend(len(shell.env))
    shell.budget.make(sum(len(name) + len(value) for name, value in shell.env.items()))
    return (yield from shell.say("".join(f"{name}={value}\n" for name, value in shell.env.items())))


def _printenv(shell: Shell, arguments: Sequence[str]) -> Steps:
    if not arguments:
        return (yield from _print_variables(shell))
    values = [shell.env[name] for name in arguments if name in shell.env]
    shell.budget.make(sum(map(len, values)))
    yield from shell.say("".join(f"{value}\n" for value in values))
    return int(len(values) < len(arguments))


def _now(shell: Shell) -> datetime:
    """The time of the process, which a script can put off by sleeping."""
    return datetime.fromtimestamp(min(shell.world.now(), _LAST_SECOND), UTC)


def _date(shell: Shell, arguments: Sequence[str]) -> Steps:
    pattern = next((one[1:] for one in arguments if one.startswith("+")), _DATE)
    shell.budget.make(_DATE_GROWTH * len(pattern))
    now = _now(shell)
    try:
        text = now.strftime(pattern.replace("%s", str(math.floor(now.timestamp()))))
    except ValueError as exc:
        return (yield from shell.fail("date", f"invalid format: {exc}"))
    return (yield from shell.say(f"{text}\n"))


def _seq(shell: Shell, arguments: Sequence[str]) -> Steps:
    numbers = [int(one) for one in arguments if _INTEGER.fullmatch(one)]
    if not numbers or len(numbers) != len(arguments) or len(numbers) > len("abc"):
        return (yield from shell.fail("seq", "invalid argument"))
    first, step = (numbers[0] if len(numbers) > 1 else 1), (numbers[1] if len(numbers) == len("abc") else 1)
    every = range(first, numbers[-1] + (1 if step > 0 else -1), step or 1)
    start = 0
    while some := every[start : start + _NUMBERS_A_PIECE]:
        shell.budget.spend(len(some) // 4)
        yield from shell.write("".join(f"{one}\n" for one in some).encode())
        start += len(some)
    return 0


def _exit(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    raise Exit(_code(shell, arguments))


def _return(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    raise FunctionReturn(_code(shell, arguments))


def _code(shell: Shell, arguments: Sequence[str]) -> int:
    """The code in an argument, or that of the last command."""
    code = arguments[0] if arguments else str(shell.code)
    return int(code) % 256 if _CODE.fullmatch(code) else 2


def _shift(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    count = int(arguments[0]) if arguments and _CODE.fullmatch(arguments[0]) else 1
    shell.budget.spend(len(shell.arguments) // 8)
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
    yield from shell.say(f"{result}\n")
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
        if command == "-":
            shell.world.traps.pop(name, None)
        elif name in _TRAPPED:
            shell.world.traps[name] = shell, command
    return 0


def _export(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    for one in arguments:
        name, mark, value = one.partition("=")
        if mark:
            shell.assign(name, value)
    return 0


def _unset(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    for one in arguments:
        shell.unset(one)
    return 0


def _cd(shell: Shell, arguments: Sequence[str]) -> Steps:
    yield from ()
    path = shell.path(arguments[0] if arguments else shell.env.get("HOME", "/root"))
    shell.files.require_directory(path)
    shell.directory = path
    return 0


def _exec(shell: Shell, arguments: Sequence[str]) -> Steps:
    raise Exit((yield from shell.execute(arguments)) if arguments else 0)


def _read(shell: Shell, arguments: Sequence[str]) -> Steps:
    """One line; the shell keeps the rest of its input."""
    line = (yield from shell.lines()).readline()
    names = [one for one in arguments if not one.startswith("-")] or ["REPLY"]
    shell.budget.make(2 * len(line))
    shell.budget.spend(len(names))
    values = line.decode(errors="replace").removesuffix("\n").split(None, len(names) - 1)
    for name, value in zip(names, [*values, *("" for _ in names)], strict=False):
        shell.assign(name, value)
    return 0 if line else 1


def _which(shell: Shell, arguments: Sequence[str]) -> Steps:
    wanted = [one for one in arguments if not one.startswith("-")]
    present = [one for one in wanted if one in COMMANDS or one in SHELLS]
    yield from shell.say("".join(f"/bin/{one}\n" for one in present))
    return int(len(present) < len(wanted))


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
    "-d": lambda shell, name: shell.files.is_directory(shell.path(name)),
    "-e": lambda shell, name: shell.files.exists(shell.path(name)),
    "-f": lambda shell, name: _is_file(shell, name),
    "-r": lambda shell, name: shell.files.exists(shell.path(name)),
    "-s": lambda shell, name: _is_file(shell, name) and bool(shell.files.read(shell.path(name))),
}


def _is_file(shell: Shell, name: str) -> bool:
    files, path = shell.files, shell.path(name)
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
    now = _now(shell)
    return (yield from shell.say(f" {now:%H:%M:%S} up 1 min,  0 users,  load average: 0.00, 0.00, 0.00\n"))


def _gzip(shell: Shell, arguments: Sequence[str]) -> Steps:
    if any(not one.startswith("-c") for one in arguments):
        return (yield from shell.fail("gzip", "packs standard input alone"))
    data, packer = (yield from shell.input()), zlib.compressobj(wbits=_GZIP)
    for start in range(0, len(data), _PIECE):
        shell.budget.spend(_STEPS_OF_A_PIECE)
        yield from shell.write(packer.compress(data[start : start + _PIECE]))
    yield from shell.write(packer.flush())
    return 0


def _says(text: Callable[[Shell], str]) -> Program:
    return lambda shell, _arguments: shell.say(text(shell) + "\n")


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
