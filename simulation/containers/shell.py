"""Shell: runs scripts and programs as one simulated process.

It knows no clock and no event loop: it yields steps. Must hold: a loop yields a step in each round, so that a script
cannot keep the server busy.
"""

import posixpath
from collections.abc import Callable, Generator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec import Struct

from aio_apiserver.simulation.containers import expansion, parser
from aio_apiserver.simulation.containers.files import MOST_BYTES, FileError, Files
from aio_apiserver.simulation.containers.lexer import ScriptError
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
    """What all processes of a container share. `missing` runs programs without a simulation; `now` is in seconds.

    traps: the commands for signals, such as TERM, and the processes that have set them.
    """

    files: Files
    programs: Mapping[str, "Program"]
    missing: Callable[[str, Sequence[str]], Steps]
    now: Callable[[], float]
    hostname: str
    traps: dict[str, tuple["Shell", str]] = {}


class Shell:
    """One process. `stdin` is None while steps read it. `arguments` begins with the name of the script."""

    def __init__(self, world: World, env: Mapping[str, str], directory: str = "/") -> None:
        self.world = world
        self.env = dict(env)
        self.directory = directory
        self.stdin: bytes | None = None
        self.arguments: Sequence[str] = ()
        self.code = 0
        self.is_strict = False
        """Whether a failing command ends the script (`set -e`)."""
        self._later: list[AndOrList] = []
        self._functions: dict[str, Command] = {}

    def child(self) -> "Shell":
        """A process with copies of the variables."""
        made = Shell(self.world, self.env, self.directory)
        made.stdin, made.arguments, made.code, made.is_strict = self.stdin, self.arguments, self.code, self.is_strict
        made._functions.update(self._functions)
        return made

    def path(self, name: str) -> str:
        """The absolute path of a file."""
        return posixpath.normpath(posixpath.join(self.directory, name))

    def matching(self, pattern: str) -> list[str]:
        return self.world.files.matching(self.path(pattern))

    def input(self) -> Generator[Step, bytes | None, bytes]:
        """The rest of standard input."""
        if self.stdin is not None:
            data, self.stdin = self.stdin, b""
            return data
        data = b""
        while more := (yield from self.more_input()):
            data += more
            if len(data) > MOST_BYTES:
                raise FileError("too much input for a simulated container")
        return data

    def more_input(self) -> Generator[Step, bytes | None, bytes]:
        """The next bytes of standard input that steps read; empty at the end."""
        return (yield Input()) or b""

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
            script = self.world.files.read(self.path(rest[0])).decode(errors="replace")
        elif self.stdin is None:
            return (yield from shell.converse())
        else:
            script = (yield from self.input()).decode(errors="replace")
        return (yield from shell.run(script))

    def converse(self) -> Steps:
        """Run line after line of standard input. The variable PS1 is the prompt, if there is one."""
        line, rest = b"", b""
        while True:
            if prompt := self.env.get("PS1", ""):
                yield Written(prompt.encode())
            while b"\n" not in rest:
                data = yield from self.more_input()
                if not data:
                    return (yield from self.run(rest.decode(errors="replace")))
                rest += data
            line, _, rest = rest.partition(b"\n")
            try:
                yield from self._script(parser.parse(line.decode(errors="replace")))
            except ScriptError as exc:
                yield from self.fail("sh", str(exc))
            except (Exit, FunctionReturn) as exc:
                return exc.code

    def run(self, script: str) -> Steps:
        """Run a script to its end."""
        try:
            return (yield from self._script(parser.parse(script)))
        except (ScriptError, RecursionError) as exc:
            return (yield from self.fail("sh", str(exc), 2))
        except (Exit, FunctionReturn) as exc:
            return exc.code

    def handle(self, command: str) -> Steps:
        """Run the command of a trap. Raises Exit when it ends the script."""
        return (yield from self._script(parser.parse(command)))

    def fail(self, name: str, message: str, code: int = 1) -> Steps:
        """Write an error message."""
        yield Written(f"{name}: {message}\n".encode(), ERROR)
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
        return data.decode(errors="replace").rstrip("\n")

    def _script(self, script: Script) -> Steps:
        for chain in script:
            if chain.is_background:
                self._later.append(chain)
                self.code = 0
            else:
                self.code = yield from self._chain(chain)
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
            shell.stdin = yield from _captured(shell, shell._command(command))
        code = yield from shell._command(last)
        self.code = code = int(not code) if pipeline.is_negated else code
        if code and self.is_strict and isinstance(last, Simple) and not (is_tested or pipeline.is_negated):
            raise Exit(code)
        return code

    def _command(self, command: Command) -> Steps:
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
            code = yield from self._block(loop.body)
            yield Pause(0.0)
        return code

    def _for(self, loop: For) -> Steps:
        code = 0
        for value in (yield from expansion.fields(self, loop.words)):
            self.env[loop.name] = value
            code = yield from self._block(loop.body)
            yield Pause(0.0)
        return code

    def _choice(self, choice: Choice) -> Steps:
        word = yield from expansion.joined(self, choice.word)
        for patterns, body in choice.branches:
            for pattern in patterns:
                if fnmatchcase(word, (yield from expansion.joined(self, pattern))):
                    return (yield from self._block(body))
        return 0

    def _simple(self, command: Simple) -> Steps:
        assigned = {}
        for name, word in command.assignments:
            assigned[name] = yield from expansion.joined(self, word)
        argv = yield from expansion.fields(self, command.words)
        if not argv:
            self.env.update(assigned)
            return (yield from self._redirected(command.redirections, _nothing()))
        shell = self.child() if assigned else self
        shell.env.update(assigned)
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
            self.stdin = self.world.files.read(path)
        elif one.operator == ">&":
            number = int(target) if target.isdigit() else OUT
            targets[one.descriptor] = targets.get(number, number)
        else:
            self.world.files.write(path, b"", appends=one.operator == ">>")
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
                self.world.files.write(target, step.data, appends=True)
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
