"""How the programs of containers end that get SIGTERM."""

import pytest

from aio_apiserver.base.budget import Budget
from aio_apiserver.simulation.containers.courses import ENDLESS, Course
from aio_apiserver.simulation.containers.stops import stop_of
from aio_apiserver.simulation.kubelet import pod_courses


@pytest.mark.parametrize(
    ("script", "course"),
    [
        ("sleep 1h", None),
        ("trap 'echo bye; exit 3' TERM; sleep 1h", Course(0.0, 3)),
        ("trap 'sleep 5' 15; sleep 1h; exit 4", Course(5.0, 4)),
        ("stop() { kept=no; }; kept=yes; trap stop SIGTERM; while [ $kept = yes ]; do sleep 1; done", Course(0.0, 0)),
        ("trap '' TERM; while true; do sleep 1; done", ENDLESS),
        ("trap 'exit 0' TERM; nginx & wait", Course(0.0, 0)),
        ("trap 'exit 1' TERM; trap - TERM; sleep 1h", None),
        ("trap 'exit 1' INT; sleep 1h", None),
        ("trap 'if' TERM; sleep 1h", None),
    ],
)
def test_a_trap_decides(script: str, course: Course | None) -> None:
    container = {"name": "a", "command": ["sh", "-c", script]}

    assert stop_of(container, Budget(pod_courses.JUDGED)) == course
