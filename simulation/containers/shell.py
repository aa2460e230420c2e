"""Shell: runs scripts and programs as one simulated process.

It knows no clock and no event loop: it yields steps. Must hold: each command is paid before it runs, and begins with a
pause when the turn of the process is over. What a command has made is released when it ends, but for variables.
"""

import posixpath
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from io import BytesIO
from typing import TypeAlias

from msgspec import Struct

from aio_apiserver.simulation.containers import expansion, parser
from aio_apiserver.simulation.containers.files import FileError, Files
from aio_apiserver.simulation.containers.lexer import ScriptError
from aio_apiserver.simulation.containers.patterns import FilePattern
from aio_apiserver.simulation.containers.process_budget import ProcessBudget
from aio_apiserver.simulation.containers.steps import ERROR, OUT, Input, Pause, Step, Steps, Written
from aio_apiserver.simulation.containers.syntax import (
    AndOrList,
    Choice,
    Command,
    CommandGroup,
    For,
    If,
    Loop,
    Pipeline,
    Redirection,
    Script,
    ShellFunction,
    Simple,
)

_MOST_CAPTURED = 4 * 1024 * 1024
_STEPS_OF_A_COMMAND = 15
_STEPS_OF_A_PROCESS = 5
_STEPS_OF_A_FILE = 4
_FILES_A_STEP = 2
_BYTES_A_STEP = 4096
"""Bytes that are written in a step."""
_PIECE = 32 * 1024
_BYTES_OF_A_VARIABLE = 150
_BYTES_OF_A_COMMAND = 400
SHELLS = ("sh", "bash", "ash", "dash")
Target: TypeAlias = str | int
"""The path of a file, or a descriptor."""


class Exit(Exception):
    """A script called `exit`."""

    def __init__(self, code: int) -> None:
        self.code = code


class FunctionReturn(Exception):
    """A function called `return`."""

    def __init__(self, code: int) -> None:
        self.code = code


class World(Struct, frozen=True):
    """What a process shares with its children. `missing` runs programs without a simulation; `now` is in seconds.

    traps: the commands for signals, such as TERM, and the processes that have set them.
    """

    files: Files
    budget: ProcessBudget
    programs: Mapping[str, "Program"]
    missing: Callable[[str, Sequence[str]], Steps]
    now: Callable[[], float]
    hostname: str
    traps: dict[str, tuple["Shell", str]] = {}


class Shell:
    """One process. `stdin` is None while steps read it. `arguments` begins with the name of the script."""

    def __init__(self, world: World, env: Mapping[str, str], directory: str = "/") -> None:
        self.world = world
        self.budget = world.budget
        self.env = dict(env)
        self.directory = directory
        self.stdin: BytesIO | None = None
        self.arguments: Sequence[str] = ()
        self.code = 0
        self.is_strict = False
        """Whether a failing command ends the script (`set -e`)."""
        self._later: list[AndOrList] = []
        self._functions: dict[str, Command] = {}
        self._sizes: dict[str, int] = {}
        """The bytes of the variables that this process has set."""
        self._kept = 0
        """The bytes that this process holds from one command to the next."""

    def child(self) -> "Shell":
        """A process with copies of the variables."""
        self.budget.spend(_STEPS_OF_A_PROCESS + len(self.env) // 4)
        made = Shell(self.world, self.env, self.directory)
        made.stdin, made.arguments, made.code, made.is_strict = self.stdin, self.arguments, self.code, self.is_strict
        made._functions.update(self._functions)
        return made

    def assign(self, name: str, value: str) -> None:
        """Give a variable a value."""
        size = _BYTES_OF_A_VARIABLE + len(name) + len(value)
        self._keep(size - self._sizes.get(name, 0))
        self._sizes[name], self.env[name] = size, value

    def unset(self, name: str) -> None:
        self.env.pop(name, None)
        self._keep(-self._sizes.pop(name, 0))

    def _keep(self, size: int) -> None:
        """Hold more bytes beyond the present command, or fewer."""
        self.budget.make(max(0, size))
        self._kept += size

    @property
    def files(self) -> Files:
        """The file system, for a look at one file."""
        self.budget.spend(_STEPS_OF_A_FILE + self.world.files.volumes)
        return self.world.files

    @property
    def all_files(self) -> Files:
        """The file system, for a look at all files."""
        self.budget.spend(_STEPS_OF_A_FILE + self.world.files.count // _FILES_A_STEP)
        return self.world.files

    def path(self, name: str) -> str:
        """The absolute path of a file."""
        return posixpath.normpath(posixpath.join(self.directory, name))

    def append(self, path: str, data: bytes) -> None:
        """Append to a file, whose contents are copied. Raises FileError."""
        self.budget.spend(len(self.files.written(path) or b"") // _BYTES_A_STEP)
        self.world.files.write(path, data, appends=True)

    def matching(self, pattern: str) -> list[str]:
        """The paths that match a pattern with `*` and `?` in its last part."""
        directory, last = posixpath.split(self.path(pattern))
        names, wanted = self.all_files.names(directory or "/"), FilePattern(last, self.budget)
        return [posixpath.join(directory, name) for name in names if wanted.matches(name)]

    def input(self) -> Generator[Step, bytes | None, bytes]:
        """The rest of standard input."""
        if self.stdin is not None:
            return self.stdin.read()
        data = bytearray()
        while piece := (yield from self.more_input()):
            self.budget.make(2 * len(piece))
            data += piece
        return bytes(data)

    def lines(self) -> Generator[Step, bytes | None, BytesIO]:
        """Standard input, to be read line by line. The process holds what a client has sent."""
        if self.stdin is None:
            data = yield from self.input()
            self._keep(len(data))
            self.stdin = BytesIO(data)
        return self.stdin

    def more_input(self) -> Generator[Step, bytes | None, bytes]:
        """The next bytes of standard input that steps read; empty at the end."""
        return (yield Input()) or b""

    def write(self, data: bytes, stream: int = OUT) -> Generator[Step, bytes | None, None]:
        """Write bytes, which the process does not hold."""
        self.budget.spend(1 + len(data) // _BYTES_A_STEP)
        yield Written(data, stream)
        yield from self.breathe()

    def write_lines(self, lines: Iterable[bytes]) -> Generator[Step, bytes | None, None]:
        """Write lines, each of which is a step, with their line breaks."""
        piece = bytearray()
        for line in lines:
            self.budget.spend()
            piece += line
            piece += b"\n"
            if len(piece) >= _PIECE or self.budget.is_turn_over:
                yield from self.write(bytes(piece))
                piece.clear()
        if piece:
            yield from self.write(bytes(piece))

    def say(self, text: str) -> Steps:
        """Write a text on standard output. Returns the code of success."""
        self.budget.make(len(text))
        yield from self.write(text.encode(errors="replace"))
        return 0

    def breathe(self) -> Generator[Step, bytes | None, None]:
        """Give the event loop back when the turn of the process is over."""
        if self.budget.is_turn_over:
            yield Pause(0.0)

    def execute(self, argv: Sequence[str]) -> Steps:
        """Run a program with its arguments."""
        if argv[0] in self._functions:
            return (yield from self._call(argv))
        name = posixpath.basename(argv[0])
        program = self.world.programs.get(name)
        try:
            if name in SHELLS:
                return (yield from self._shell(argv[1:]))
            if program is None:
                return (yield from self.world.missing(argv[0], argv[1:]))
            return (yield from program(self, argv[1:]))
        except FileError as exc:
            return (yield from self.fail(name, str(exc)))

    def _call(self, argv: Sequence[str]) -> Steps:
        """Run a function with arguments of its own."""
        before = self.arguments
        self.arguments = (*(before[:1] or ("sh",)), *argv[1:])
        try:
            return (yield from self._command(self._functions[argv[0]]))
        except FunctionReturn as exc:
            return exc.code
        finally:
            self.arguments = before

    def _shell(self, arguments: Sequence[str]) -> Steps:
        """`sh`: a script as an argument, in a file, or on standard input."""
        options = [one for one in arguments if one.startswith("-")]
        rest = [one for one in arguments if not one.startswith("-")]
        shell = self.child()
        shell.is_strict = any("e" in one for one in options if not one.startswith("--"))
        if any(one.endswith("c") for one in options):
            shell.arguments = rest[1:]
            script = rest[0] if rest else ""
        elif rest:
            shell.arguments = rest
            script = self._text(self.files.read(self.path(rest[0])))
        elif self.stdin is None:
            return (yield from shell.converse())
        else:
            script = self._text((yield from self.input()))
        return (yield from shell.run(script))

    def _text(self, data: bytes | bytearray) -> str:
        """The text of a script."""
        self.budget.make(len(data))
        return data.decode(errors="replace")

    def converse(self) -> Steps:
        """Run line after line of standard input. The variable PS1 is the prompt, if there is one."""
        rest, held = bytearray(), self.budget.bytes_held - self._kept
        while True:
            if prompt := self.env.get("PS1", ""):
                yield Written(prompt.encode())
            while b"\n" not in rest:
                data = yield from self.more_input()
                if not data:
                    return (yield from self.run(self._text(rest)))
                self.budget.make(len(data))
                rest += data
            line, _, rest = rest.partition(b"\n")
            try:
                yield from self._script(self._parsed(self._text(line)))
            except ScriptError as exc:
                yield from self.fail("sh", str(exc))
            except (Exit, FunctionReturn) as exc:
                return exc.code
            self.budget.release_to(held + self._kept + len(rest))

    def run(self, script: str) -> Steps:
        """Run a script to its end."""
        try:
            return (yield from self._script(self._parsed(script)))
        except (ScriptError, RecursionError) as exc:
            return (yield from self.fail("sh", str(exc), 2))
        except (Exit, FunctionReturn) as exc:
            return exc.code

    def _parsed(self, script: str) -> Script:
        """The tree of a script. Raises ScriptError."""
        parsed = parser.parse(script)
        self.budget.spend(parsed.steps)
        self.budget.make(parsed.size)
        return parsed.tree

    def handle(self, command: str) -> Steps:
        """Run the command of a trap. Raises Exit when it ends the script."""
        return (yield from self._script(self._parsed(command)))

    def fail(self, name: str, message: str, code: int = 1) -> Steps:
        """Write an error message."""
        self.budget.make(len(message))
        yield Written(f"{name}: {message}\n".encode(errors="replace"), ERROR)
        return code

    def wait(self) -> Steps:
        """Run the commands that were put in the background."""
        later, self._later = self._later, []
        for chain in later:
            yield from self._chain(chain)
        return 0

    def substitute(self, script: str) -> Generator[Step, bytes | None, str]:
        """The output of a script, without the last line break."""
        shell = self.child()
        data = yield from _captured(shell, shell.run(script))
        self.code = shell.code
        return self._text(data).rstrip("\n")

    def _script(self, script: Script) -> Steps:
        for chain in script:
            held = self.budget.bytes_held - self._kept
            if chain.is_background:
                self._keep(_BYTES_OF_A_COMMAND)
                self._later.append(chain)
                self.code = 0
            else:
                self.code = yield from self._chain(chain)
            self.budget.release_to(held + self._kept)
        return self.code

    def _chain(self, chain: AndOrList) -> Steps:
        code = yield from self._pipeline(chain.first, is_tested=bool(chain.rest))
        for index, (operator, pipeline) in enumerate(chain.rest):
            if (operator == "&&") == (code == 0):
                code = yield from self._pipeline(pipeline, is_tested=index + 1 < len(chain.rest))
        return code

    def _pipeline(self, pipeline: Pipeline, *, is_tested: bool) -> Steps:
        first, last = pipeline.commands[:-1], pipeline.commands[-1]
        shell = self.child() if first else self
        for command in first:
            shell.stdin = BytesIO((yield from _captured(shell, shell._command(command))))
        code = yield from shell._command(last)
        self.code = code = int(not code) if pipeline.is_negated else code
        if code and self.is_strict and isinstance(last, Simple) and not (is_tested or pipeline.is_negated):
            raise Exit(code)
        return code

    def _command(self, command: Command) -> Steps:
        self.budget.spend(_STEPS_OF_A_COMMAND)
        yield from self.breathe()
        match command:
            case Simple():
                return (yield from self._simple(command))
            case If():
                code = yield from self._tested(command.condition)
                return (yield from self._block(command.body if code == 0 else command.otherwise))
            case Loop():
                return (yield from self._loop(command))
            case For():
                return (yield from self._for(command))
            case CommandGroup():
                shell = self.child() if command.is_subshell else self
                return (yield from self._redirected(command.redirections, shell._group(command)))
            case Choice():
                return (yield from self._choice(command))
            case ShellFunction():
                self._keep(_BYTES_OF_A_COMMAND)
                self._functions[command.name] = command.body
                return 0

    def _block(self, script: Script) -> Steps:
        """The commands of a branch or a loop; 0 when there are none."""
        self.code = 0
        return (yield from self._script(script))

    def _group(self, group: CommandGroup) -> Steps:
        try:
            return (yield from self._script(group.body))
        except Exit as exc:
            if group.is_subshell:
                return exc.code
            raise

    def _tested(self, script: Script) -> Steps:
        """Run a condition, whose failure does not end a strict script."""
        was, self.is_strict = self.is_strict, False
        try:
            return (yield from self._script(script))
        finally:
            self.is_strict = was

    def _loop(self, loop: Loop) -> Steps:
        code = 0
        while ((yield from self._tested(loop.condition)) == 0) != loop.ends_on_success:
            code = yield from self._round(loop.body)
        return code

    def _for(self, loop: For) -> Steps:
        code = 0
        for value in (yield from expansion.fields(self, loop.words)):
            self.assign(loop.name, value)
            code = yield from self._round(loop.body)
        return code

    def _round(self, body: Script) -> Steps:
        """The commands of a loop, once."""
        self.budget.spend()
        yield from self.breathe()
        return (yield from self._block(body))

    def _choice(self, choice: Choice) -> Steps:
        word = yield from expansion.joined(self, choice.word)
        for patterns, body in choice.branches:
            for pattern in patterns:
                if FilePattern((yield from expansion.joined(self, pattern)), self.budget).matches(word):
                    return (yield from self._block(body))
        return 0

    def _simple(self, command: Simple) -> Steps:
        assigned = {}
        for name, word in command.assignments:
            assigned[name] = yield from expansion.joined(self, word)
        argv = yield from expansion.fields(self, command.words)
        shell = self.child() if assigned and argv else self
        for name, value in assigned.items():
            shell.assign(name, value)
        if not argv:
            return (yield from self._redirected(command.redirections, _nothing()))
        return (yield from shell._redirected(command.redirections, shell.execute(argv)))

    def _redirected(self, redirections: Sequence[Redirection], steps: Steps) -> Steps:
        """Run steps with other targets of their output, or another input."""
        targets: dict[int, Target] = {}
        before = self.stdin
        for one in redirections:
            target = yield from expansion.joined(self, one.target)
            try:
                self._open(one, target, targets)
            except FileError as exc:
                return (yield from self.fail("sh", f"can't open {target}: {exc}"))
        code = yield from self._sent(steps, targets)
        if redirections:
            self.stdin = before
        return code

    def _open(self, one: Redirection, target: str, targets: dict[int, Target]) -> None:
        path = self.path(target)
        if one.operator == "<":
            data = self.files.read(path)
            self.budget.make(len(data))
            self.stdin = BytesIO(data)
        elif one.operator == ">&":
            number = int(target) if target.isdigit() else OUT
            targets[one.descriptor] = targets.get(number, number)
        else:
            self.files.write(path, b"", appends=one.operator == ">>")
            targets.update(dict.fromkeys((OUT, ERROR) if one.operator == "&>" else (one.descriptor,), path))

    def _sent(self, steps: Steps, targets: Mapping[int, Target]) -> Steps:
        """Run steps, and send their output to its targets."""
        sent: bytes | None = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration as end:
                return int(end.value)
            sent = None
            target = targets.get(step.stream) if isinstance(step, Written) else None
            if not isinstance(step, Written) or target is None:
                sent = yield step
            elif isinstance(target, str):
                self.append(target, step.data)
            else:
                yield Written(step.data, target)


def _captured(shell: Shell, steps: Steps) -> Generator[Step, bytes | None, bytes]:
    """The standard output of the steps of a process, up to a limit."""
    data = bytearray()
    sent: bytes | None = None
    try:
        while len(data) < _MOST_CAPTURED:
            step = steps.send(sent)
            sent = None
            if isinstance(step, Written) and step.stream == OUT:
                shell.budget.make(2 * len(step.data))
                data += step.data
            else:
                sent = yield step
        steps.close()
    except StopIteration as end:
        shell.code = int(end.value)
    except Exit as exc:
        shell.code = exc.code
    return bytes(data)


def _nothing() -> Steps:
    yield from ()
    return 0


Program: TypeAlias = Callable[[Shell, Sequence[str]], Steps]
