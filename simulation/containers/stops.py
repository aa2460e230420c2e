"""Stops: how the program of a container ends that gets SIGTERM, by the trap that its script has set.

Pure. The script is run without its pauses. It is told when it first waits, and its present command ends at once.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from aio_apiserver.simulation.containers import courses
from aio_apiserver.simulation.containers.commands import COMMANDS
from aio_apiserver.simulation.containers.courses import ENDLESS, Course
from aio_apiserver.simulation.containers.files import Files
from aio_apiserver.simulation.containers.lexer import ScriptError
from aio_apiserver.simulation.containers.playback import runs_on
from aio_apiserver.simulation.containers.shell import Exit, FunctionReturn, Shell, World
from aio_apiserver.simulation.containers.steps import Pause, Steps

_MOST_STOPS = 512
_MOST_STEPS = 2000
_TERM = "TERM"


def stop_of(container: Mapping[str, Any]) -> Course | None:
    """The seconds that a program takes to stop, and its exit code; None for a script without a trap."""
    env = courses.env_of(container)
    argv = courses.argv_of(container, env)
    return _judged(argv, tuple(env.items())) if any("trap" in one for one in argv) else None


@lru_cache(_MOST_STOPS)
def _judged(argv: Sequence[str], env: Sequence[tuple[str, str]]) -> Course | None:
    world = World(Files(), COMMANDS, runs_on, lambda: 0.0, "", {})
    steps = Shell(world, dict(env)).execute(argv)
    try:
        return _stopped(world, steps) if _is_trapped(world, steps) else None
    except (ScriptError, RecursionError):
        return None


def _is_trapped(world: World, steps: Steps) -> bool:
    """Run a program until it waits with a trap. Returns whether it does so."""
    try:
        for _ in range(_MOST_STEPS):
            step = steps.send(None)
            if _TERM in world.traps and isinstance(step, Pause) and step.seconds:
                return True
    except (StopIteration, Exit, FunctionReturn):
        pass
    return False


def _stopped(world: World, steps: Steps) -> Course:
    """The course of the trap, and then of the rest of the program unless the trap ends it."""
    shell, command = world.traps[_TERM]
    seconds = 0.0
    for part in (shell.handle(command), steps):
        course, has_ended = _run(part)
        seconds += course.seconds
        if has_ended:
            return Course(seconds, course.code)
    return Course(seconds, course.code)


def _run(steps: Steps) -> tuple[Course, bool]:
    """The course of steps, and whether they have ended their program."""
    seconds = 0.0
    try:
        for _ in range(_MOST_STEPS):
            step = steps.send(None)
            seconds += step.seconds if isinstance(step, Pause) else 0.0
    except StopIteration as end:
        return Course(seconds, int(end.value)), False
    except (Exit, FunctionReturn) as exc:
        return Course(seconds, exc.code), True
    return ENDLESS, True
