"""Courses: how long the program of a container runs, and how it ends, by its command, its arguments and its image.

Pure. A script is run without its pauses. Must hold: a program, a file or a syntax without a simulation makes the course
unknown, so that the pod decides by its restart policy.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.simulation.containers import files
from aio_apiserver.simulation.containers.commands import COMMANDS
from aio_apiserver.simulation.containers.files import Files, FileTree, SharedPath, shared_trees
from aio_apiserver.simulation.containers.shell import SHELLS, Shell, World
from aio_apiserver.simulation.containers.steps import FOREVER, Input, Pause, Steps, Written

_MOST_COURSES = 2048
_MOST_STEPS = 5000
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
    """A command line with the values of its references, such as $(NAME)."""
    return tuple(_REFERENCE.sub(lambda found: env.get(found[1], found[0]), one) for one in words)


def env_of(container: Mapping[str, Any]) -> dict[str, str]:
    """The environment of a container, as far as the container itself has the values."""
    return {one["name"]: str(one.get("value") or "") for one in container.get("env") or () if "valueFrom" not in one}


FoundFiles = Mapping[str, Mapping[str, bytes]]
"""The files in volumes, by where the files of a volume are kept, and by path."""
_NONE_FOUND: FoundFiles = {}
_Files = tuple[tuple[str, bytes], ...]


class _Program(NamedTuple):
    """A command line, the variables that it names, and its volumes."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    shared: tuple[SharedPath, ...]


def course_of(
    container: Mapping[str, Any],
    shared: Sequence[SharedPath] = (),
    before: Sequence[tuple[Mapping[str, Any], Sequence[SharedPath]]] = (),
    found: FoundFiles = _NONE_FOUND,
) -> Course | None:
    """The course of a container with these volumes; None when it is unknown.

    A container with `stdin` runs until `kubectl attach` brings its input, unless its program needs none. before: the
    containers that have ended before it, and have written into these volumes, with their volumes. found: the files of
    volumes before all of them.
    """
    env, has_input = env_of(container), bool(container.get("stdin"))
    argv = argv_of(container, env)
    if argv[1:] == () and _is_shell(argv):
        return ENDLESS if has_input else Course(0.0, 0)
    numbers: dict[str, str] = {}
    earlier = [_program(argv_of(one, env_of(one)), env_of(one), paths, numbers) for one, paths in before]
    program = _program(argv, env, shared, numbers)
    present = tuple((numbers[name], tuple(sorted(found[name].items()))) for name in numbers if name in found)
    ended = tuple(one for one in earlier if one.argv)
    known = _judged(program, has_input, ended, present) if argv else _of_image(container)
    return known or (ENDLESS if has_input or _is_probed(container) else None)


def _program(
    argv: tuple[str, ...], env: Mapping[str, str], shared: Iterable[SharedPath], numbers: dict[str, str]
) -> _Program:
    """A program with numbers for the names of volumes, which differ from pod to pod."""
    named = tuple((name, value) for name, value in env.items() if any(name in one for one in argv))
    paths = (one._replace(volume=numbers.setdefault(one.volume, str(len(numbers)))) for one in shared)
    return _Program(argv, named, tuple(paths))


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


@lru_cache(_MOST_COURSES)
def _judged(
    program: _Program, has_input: bool, earlier: Sequence[_Program], present: Sequence[tuple[str, _Files]]
) -> Course | None:
    """Run a program without its pauses. has_input: whether it waits for input, or finds its end at once.

    earlier: the programs that have written into its volumes. It is run again while it finds other files in them.
    present: the files of volumes before all of that.
    """
    trees = {volume: files.tree_of(dict(found)) for volume, found in present}
    found: list[Course] = []
    for one in earlier:
        _judged_run(one, trees, has_input=False)
    for _ in range(_MOST_RUNS if program.shared else 1):
        before = {name: dict(tree.files) for name, tree in trees.items()}
        course = _judged_run(program, trees, has_input=has_input)
        if course is None:
            break
        found.append(course)
        if all(tree.files == before.get(name, {}) for name, tree in trees.items()):
            break
    return _chained(found)


def _chained(found: Sequence[Course]) -> Course | None:
    """The course of the first run, with those of later runs that differ."""
    chain: Course | None = None
    for course in reversed(found):
        chain = course if chain in (None, course) else replace(course, then=chain)
    return chain


def _judged_run(program: _Program, trees: dict[str, FileTree], *, has_input: bool) -> Course | None:
    own = _OwnFiles(None, shared_trees(program.shared, lambda name: trees.setdefault(name, FileTree())))
    world = World(own, COMMANDS, _missing, lambda: 0.0, "")
    try:
        return _ended(Shell(world, dict(program.env)).execute(program.argv), has_input=has_input)
    except (_Unknown, RecursionError):
        return None


def _ended(steps: Steps, *, has_input: bool) -> Course | None:
    seconds = 0.0
    has_failed_to_read = False
    try:
        for _ in range(_MOST_STEPS):
            step = steps.send(None)
            if isinstance(step, Pause):
                seconds += step.seconds
            has_failed_to_read = isinstance(step, Written) and step.data.startswith(b"sh: ")
            if seconds == FOREVER or (has_input and isinstance(step, Input)):
                break
    except StopIteration as end:
        is_unknown = has_failed_to_read and end.value == _SYNTAX_ERROR
        return None if is_unknown else Course(seconds, int(end.value))
    steps.close()
    return ENDLESS


def _missing(name: str, _arguments: Sequence[str]) -> Steps:
    if name.rpartition("/")[2] in _SERVERS:
        yield Pause(FOREVER)
        return 0
    _give_up()


def _give_up() -> NoReturn:
    raise _Unknown
