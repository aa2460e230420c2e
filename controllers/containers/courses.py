"""Courses: how long the program of a container runs, and how it ends, by its command, its arguments and its image.

Pure. A script is run without its pauses. Must hold: a program, a file or a syntax without a simulation makes the course
unknown, so that the pod decides by its restart policy.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NoReturn

from msgspec import Struct

from aio_apiserver.controllers.containers.commands import COMMANDS
from aio_apiserver.controllers.containers.files import Files
from aio_apiserver.controllers.containers.shell import SHELLS, Shell, World
from aio_apiserver.controllers.containers.steps import FOREVER, Pause, Steps, Written

_MOST_COURSES = 2048
_MOST_STEPS = 5000
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


ENDLESS = Course(FOREVER, 0)


class _Unknown(Exception):
    """The course depends on things that are not simulated."""


class _OwnFiles(Files):
    """Files that the script has written. All others may be there or not."""

    def read(self, path: str) -> bytes:
        if path != "/dev/null" and path not in self._written:
            raise _Unknown
        return super().read(path)

    def require_directory(self, path: str) -> None:
        raise _Unknown


def argv_of(container: Mapping[str, Any], env: Mapping[str, str]) -> tuple[str, ...]:
    """The command line of a container; empty when its image decides."""
    command, arguments = container.get("command") or (), container.get("args") or ()
    if not command and _image(container) not in _SHELL_IMAGES:
        return ()
    return tuple(_REFERENCE.sub(lambda found: env.get(found[1], found[0]), one) for one in (*command, *arguments))


def env_of(container: Mapping[str, Any]) -> dict[str, str]:
    """The environment of a container, as far as the container itself has the values."""
    return {one["name"]: str(one.get("value") or "") for one in container.get("env") or () if "valueFrom" not in one}


def course_of(container: Mapping[str, Any]) -> Course | None:
    """The course of a container; None when it is unknown."""
    env = env_of(container)
    argv = argv_of(container, env)
    if argv[1:] == () and _is_shell(argv):
        return ENDLESS if container.get("stdin") else Course(0.0, 0)
    named = tuple((name, value) for name, value in env.items() if any(name in one for one in argv))
    known = _judged(argv, named) if argv else _of_image(container)
    return known or (ENDLESS if _is_probed(container) else None)


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
def _judged(argv: tuple[str, ...], env: tuple[tuple[str, str], ...]) -> Course | None:
    """Run a program without its pauses."""
    world = World(_OwnFiles(), COMMANDS, _missing, lambda: 0.0, "")
    try:
        return _ended(Shell(world, dict(env)).execute(argv))
    except (_Unknown, RecursionError):
        return None


def _ended(steps: Steps) -> Course | None:
    seconds = 0.0
    has_failed_to_read = False
    try:
        for _ in range(_MOST_STEPS):
            step = steps.send(None)
            if isinstance(step, Pause):
                seconds += step.seconds
            has_failed_to_read = isinstance(step, Written) and step.data.startswith(b"sh: ")
            if seconds == FOREVER:
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
