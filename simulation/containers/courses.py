"""Courses: how long the program of a container runs, and how it ends, by its command, its arguments and its image.

Pure. A script is run without its pauses. Must hold: a program, a file or a syntax without a simulation makes the course
unknown, so that the pod decides by its restart policy. A course that was judged before is paid again, so that a pod
has the same courses whatever the server remembers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.budget import Budget
from aio_apiserver.base.kept_results import KeptResults
from aio_apiserver.simulation.containers import files
from aio_apiserver.simulation.containers.commands import COMMANDS
from aio_apiserver.simulation.containers.files import FileError, Files, FileTree, SharedPath, shared_trees
from aio_apiserver.simulation.containers.memory import Memory
from aio_apiserver.simulation.containers.process import SimulatedProcess
from aio_apiserver.simulation.containers.process_budget import JUDGED, OUT_OF_STEPS, ProcessBudget
from aio_apiserver.simulation.containers.shell import SHELLS, Shell, World
from aio_apiserver.simulation.containers.steps import FOREVER, Pause, Steps

_BYTES_OF_A_RESULT = 1024
_BYTES_A_STEP = 1024
_LONGEST_COMMAND_LINE = 1024 * 1024
_MOST_RUNS = 4
"""The runs whose courses may differ. Later ones are as the last of them."""
_SYNTAX_ERROR = 2
_SERVERS = frozenset(
    "nginx httpd apache2 redis redis-server postgres mysqld mongod memcached pause haproxy traefik etcd caddy "
    "rabbitmq-server registry agnhost apiserver kube-apiserver".split()
)
"""Programs, and images by their last name, that serve until they are stopped."""
_SERVER_IMAGES = _SERVERS | frozenset(
    ("mysql", "mariadb", "mongo", "rabbitmq", "kafka", "nats", "echoserver", "whoami")
)
_SHELL_IMAGES = frozenset("busybox alpine ubuntu debian centos fedora bash python perl ruby golang".split())
"""Images that begin a shell or an interpreter, which ends without input. Their arguments are a command."""
_ONE_SHOT_IMAGES = frozenset(("hello-world",))
_AGNHOST_TOOLS = frozenset(("mounttest", "inclusterclient", "entrypoint-tester", "dns-suffix", "dns-server-list"))
_REFERENCE = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")


class Course(Struct, frozen=True):
    """The seconds that a program runs (FOREVER for a server), and its exit code."""

    seconds: float
    code: int
    then: "Course | None" = None
    """The course of the next run, when files in a volume change it."""
    reason: str = ""
    """Why the program was killed, as the status of its container shows it."""

    def at(self, number: int) -> "Course":
        """The course of the run with so many runs before it."""
        return self if number <= 0 or self.then is None else self.then.at(number - 1)


ENDLESS = Course(FOREVER, 0)


class _Unknown(Exception):
    """The course depends on things that are not simulated."""


class _OwnFiles(Files):
    """Files that the script has written. All others may be there or not."""

    def read(self, path: str) -> bytes:
        if path != "/dev/null" and self.written(path) is None:
            raise _Unknown
        return super().read(path)

    def require_directory(self, path: str) -> None:
        raise _Unknown


def argv_of(container: Mapping[str, Any], env: Mapping[str, str]) -> tuple[str, ...]:
    """The command line of a container; empty when its image decides."""
    command, arguments = container.get("command") or (), container.get("args") or ()
    if not command and _image(container) not in _SHELL_IMAGES:
        return ()
    return expanded((*command, *arguments), env)


def expanded(words: Iterable[str], env: Mapping[str, str]) -> tuple[str, ...]:
    """A command line with the values of its references, such as $(NAME).

    References stay as they are that would make it longer than a command line can be.
    """
    size = 0

    def value(reference: re.Match[str]) -> str:
        nonlocal size
        text = env.get(reference[1], reference[0])
        size += len(text)
        return text if size <= _LONGEST_COMMAND_LINE else reference[0]

    return tuple(_REFERENCE.sub(value, one) for one in words)


def env_of(container: Mapping[str, Any]) -> dict[str, str]:
    """The environment of a container, as far as the container itself has the values."""
    return {one["name"]: str(one.get("value") or "") for one in container.get("env") or () if "valueFrom" not in one}


PresentFiles = Mapping[str, Mapping[str, bytes]]
"""The files in volumes, by where the files of a volume are kept, and by path."""
NO_FILES: PresentFiles = {}
_Files = tuple[tuple[str, bytes], ...]


class _Program(NamedTuple):
    """A command line, the variables that it names, and its volumes."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    shared: tuple[SharedPath, ...]

    @property
    def size(self) -> int:
        """Its characters."""
        volumes = sum(len(path) + len(volume) + len(inside) for path, volume, inside in self.shared)
        return sum(map(len, self.argv)) + sum(len(name) + len(value) for name, value in self.env) + volumes


class _Question(NamedTuple):
    """What decides on a course. has_input: whether the program waits for input, or finds its end at once.

    earlier: the programs that have written into its volumes. present: the files of volumes before all of that.
    """

    program: _Program
    has_input: bool
    earlier: Sequence[_Program]
    present: Sequence[tuple[str, _Files]]

    @property
    def size(self) -> int:
        """Its characters and bytes."""
        files = sum(len(path) + len(data) for _, contents in self.present for path, data in contents)
        return files + sum(one.size for one in (self.program, *self.earlier))


class _Judgement(Struct, frozen=True):
    """A course, and the steps that it has taken to judge it."""

    course: Course | None
    steps: int


_KEPT: KeptResults[_Question, _Judgement] = KeptResults(8 * 1024 * 1024)


def course_of(
    container: Mapping[str, Any],
    budget: Budget,
    shared: Sequence[SharedPath] = (),
    before: Sequence[tuple[Mapping[str, Any], Sequence[SharedPath]]] = (),
    present_files: PresentFiles = NO_FILES,
) -> Course | None:
    """The course of a container with these volumes; None when it is unknown. Raises BudgetExceeded.

    A container with `stdin` runs until `kubectl attach` brings its input, unless its program needs none. before: the
    containers that have ended before it, and have written into these volumes, with their volumes. present_files: the
    files of volumes before all of them.
    """
    env, has_input = env_of(container), bool(container.get("stdin"))
    argv = argv_of(container, env)
    if argv[1:] == () and _is_shell(argv):
        return ENDLESS if has_input else Course(0.0, 0)
    if not argv:
        course = _of_image(container)
    else:
        numbers: dict[str, str] = {}
        earlier = [_program(argv_of(one, env_of(one)), env_of(one), paths, numbers, budget) for one, paths in before]
        program = _program(argv, env, shared, numbers, budget)
        present = [
            (numbers[name], tuple(sorted(present_files[name].items()))) for name in numbers.keys() & present_files
        ]
        question = _Question(program, has_input, tuple(one for one in earlier if one.argv), tuple(sorted(present)))
        course = _answer(question, budget)
    return course or (ENDLESS if has_input or _is_probed(container) else None)


def _program(
    argv: tuple[str, ...],
    env: Mapping[str, str],
    shared: Iterable[SharedPath],
    numbers: dict[str, str],
    budget: Budget,
) -> _Program:
    """A program with numbers for the names of volumes, which differ from pod to pod."""
    budget.spend(len(env) * (1 + sum(map(len, argv)) // _BYTES_A_STEP))
    named = tuple((name, value) for name, value in env.items() if any(name in one for one in argv))
    paths = (one._replace(volume=numbers.setdefault(one.volume, str(len(numbers)))) for one in shared)
    return _Program(argv, named, tuple(paths))


def _answer(question: _Question, budget: Budget) -> Course | None:
    """The course for a question, which may have come before."""
    size = question.size
    budget.spend(1 + size // _BYTES_A_STEP)
    judgement = _KEPT.get(question)
    if judgement is not None:
        budget.spend(judgement.steps)
        return judgement.course
    before = budget.steps_spent
    course = _judged(question, budget)
    _KEPT.put(question, _Judgement(course, budget.steps_spent - before), _BYTES_OF_A_RESULT + size)
    return course


def _of_image(container: Mapping[str, Any]) -> Course | None:
    """The course of a container without a command."""
    image = _image(container)
    if image in _SHELL_IMAGES:
        return ENDLESS if container.get("stdin") else Course(0.0, 0)
    if image in _ONE_SHOT_IMAGES or _is_tool(image, container.get("args") or ()):
        return Course(0.0, 0)
    return ENDLESS if image in _SERVER_IMAGES else None


def _is_probed(container: Mapping[str, Any]) -> bool:
    """Whether a container has a probe, as servers have."""
    return any(container.get(f"{kind}Probe") for kind in ("startup", "readiness", "liveness"))


def _is_shell(argv: Sequence[str]) -> bool:
    return bool(argv) and argv[0].rpartition("/")[2] in SHELLS


def _image(container: Mapping[str, Any]) -> str:
    """The last part of the name of an image, without tag and digest."""
    name = str(container.get("image") or "").partition("@")[0].rpartition("/")[2]
    return name.partition(":")[0]


def _is_tool(image: str, arguments: Sequence[str]) -> bool:
    return image == "agnhost" and bool(_AGNHOST_TOOLS & set(arguments[:1]))


def _judged(question: _Question, budget: Budget) -> Course | None:
    """Run a program without its pauses. It is run again while it finds other files in its volumes."""
    memory, program, courses = Memory(), question.program, list[Course]()
    try:
        trees = {volume: files.tree_of(dict(contents), memory) for volume, contents in question.present}
    except FileError:
        return None
    for one in question.earlier:
        _judged_run(one, trees, memory, budget, has_input=False)
    for _ in range(_MOST_RUNS if program.shared else 1):
        before = {name: dict(tree.files) for name, tree in trees.items()}
        course = _judged_run(program, trees, memory, budget, has_input=question.has_input)
        if course is None:
            break
        courses.append(course)
        if all(tree.files == before.get(name, {}) for name, tree in trees.items()):
            break
    return _chained(courses)


def _chained(courses: Sequence[Course]) -> Course | None:
    """The course of the first run, with those of later runs that differ."""
    chain: Course | None = None
    for course in reversed(courses):
        chain = course if chain in (None, course) else replace(course, then=chain)
    return chain


def _judged_run(
    program: _Program, trees: dict[str, FileTree], memory: Memory, budget: Budget, *, has_input: bool
) -> Course | None:
    """The course of one run, which leaves its files in the trees."""
    account = ProcessBudget(JUDGED, memory, budget)
    try:
        shared = shared_trees(program.shared, lambda name: trees.setdefault(name, FileTree(memory)))
        world = World(_OwnFiles(memory, None, shared), account, COMMANDS, _missing, lambda: 0.0, "")
        with closing(SimulatedProcess(Shell(world, dict(program.env)).execute(program.argv), account)) as process:
            return _ended(process, has_input=has_input)
    except (_Unknown, FileError):
        return None


def _ended(process: SimulatedProcess, *, has_input: bool) -> Course | None:
    seconds = 0.0
    while True:
        turn = process.run_turn()
        seconds += turn.seconds
        if turn.end is not None:
            has_failed_to_read = any(one.data.startswith(b"sh: ") for one in turn.written[-1:])
            if turn.end.code == _SYNTAX_ERROR and has_failed_to_read:
                return None
            is_endless = turn.end.reason == OUT_OF_STEPS
            return ENDLESS if is_endless else Course(seconds, turn.end.code, reason=turn.end.reason)
        if seconds == FOREVER or (has_input and turn.needs_input):
            return ENDLESS


def _missing(name: str, _arguments: Sequence[str]) -> Steps:
    if name.rpartition("/")[2] in _SERVERS:
        yield Pause(FOREVER)
        return 0
    _give_up()


def _give_up() -> NoReturn:
    raise _Unknown
