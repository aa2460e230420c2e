"""How the programs of containers end."""

from typing import Any

import pytest

from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.containers import courses
from aio_apiserver.simulation.containers.courses import ENDLESS, Course
from aio_apiserver.simulation.containers.files import SharedPath
from aio_apiserver.simulation.kubelet import pod_courses
from aio_apiserver.simulation.kubelet.container_runs import run_at, success_at


def course_of(container: Object, *volumes: Any) -> Course | None:
    return courses.course_of(container, Budget(pod_courses.JUDGED), *volumes)


def _course(*command: str, image: str = "example", args: tuple[str, ...] = (), **more: Any) -> Course | None:
    return course_of({"name": "a", "image": image, "command": list(command), "args": list(args), **more})


@pytest.mark.parametrize(
    ("command", "course"),
    [
        (("true",), Course(0.0, 0)),
        (("/bin/false",), Course(0.0, 1)),
        (("sleep", "5m"), Course(300.0, 0)),
        (("sleep", "infinity"), ENDLESS),
        (("sh", "-c", "echo a; sleep 3; exit 7"), Course(3.0, 7)),
        (("sh", "-c", "while true; do date; sleep 1; done"), ENDLESS),
        (("sh", "-c", "trap 'exit' TERM; tail -f /dev/null & wait"), ENDLESS),
        (("nginx", "-g", "daemon off;"), ENDLESS),
        (("/manager",), None),
        (("sh", "-c", "cat /mounted/file"), None),
        (("sh", "-c", "select x in a; do break; done"), None),
        (("sh", "-c", "_stop() {\n exit 143\n}\ntrap _stop TERM\nwhile true; do sleep 1; done"), ENDLESS),
    ],
)
def test_a_command_decides(command: tuple[str, ...], course: Course | None) -> None:
    assert _course(*command) == course


def test_an_image_decides_when_there_is_no_command() -> None:
    assert _course(image="nginx:1.27") == ENDLESS
    assert _course(image="registry.k8s.io/pause:3.10") == ENDLESS
    assert _course(image="hello-world") == Course(0.0, 0)
    assert _course(image="busybox") == Course(0.0, 0)
    assert _course(image="busybox", stdin=True) == ENDLESS
    assert _course(image="busybox", args=("sleep", "2")) == Course(2.0, 0)
    assert _course(image="registry.example/team/app@sha256:1") is None


def test_a_program_that_reads_input_waits_for_it() -> None:
    assert _course("cat") == Course(0.0, 0)
    assert _course("cat", stdin=True) == ENDLESS
    assert _course("sh", "-c", "read name; exit 3", stdin=True) == ENDLESS
    assert _course("/manager", stdin=True) == ENDLESS
    assert _course("sh", "-c", "sleep 1; exit 3", stdin=True) == Course(1.0, 3)


def test_arguments_may_name_variables() -> None:
    assert _course("sleep", args=("$(TIME)",), env=[{"name": "TIME", "value": "4"}]) == Course(4.0, 0)


def test_a_container_restarts_at_once_and_then_ever_later() -> None:
    states = [run_at(Course(1.0, 1), "Always", age)[:2] for age in (0.5, 1.5, 2.5, 12.5, 13.5, 33.5)]

    assert states == [("running", 0), ("running", 1), ("waiting", 1), ("running", 2), ("waiting", 2), ("running", 3)]


def test_a_run_finds_the_files_that_an_earlier_one_has_left_in_a_volume() -> None:
    script = ("sh", "-c", "if [[ -r /data/foo ]]\nthen\n exit 0\nelse\n touch /data/foo\n exit 1\nfi")
    data = [SharedPath("/data", "data")]

    once = course_of({"name": "a", "command": script}, data)

    assert once == Course(0.0, 1, Course(0.0, 0))
    assert [run_at(once, "OnFailure", age)[:2] for age in (0.0, 60.0)] == [("terminated", 1)] * 2
    assert (success_at(once, "OnFailure"), success_at(once, "Never")) == (0.0, float("inf"))
    assert course_of({"name": "a", "command": script}) == Course(0.0, 1)


def test_a_script_finds_the_files_of_containers_that_have_ended_before_it() -> None:
    script = ["sh", "-c", "exit $(cat /data/code)"]
    writer: Object = {"name": "first", "image": "busybox", "command": ["sh", "-c", "echo 3 > /out/code"]}
    image: Object = {"name": "image", "image": "nginx"}
    volume = [SharedPath("/data", "w")]

    written = [(writer, [SharedPath("/out", "w")]), (image, [SharedPath("/out", "w")])]
    assert course_of({"name": "a", "command": script}, volume, written) == Course(0.0, 3)
    assert course_of({"name": "a", "command": script}, volume, [(writer, [SharedPath("/out", "another")])]) is None


def test_runs_whose_volume_does_not_change_any_more_are_alike() -> None:
    script = ("sh", "-c", "echo x >> /data/f; sleep 5; [ $(wc -l /data/f) -gt 2 ]")

    course = course_of({"name": "a", "command": script}, [SharedPath("/data", "data")])

    assert course is not None
    assert [course.at(number).code for number in range(5)] == [1, 1, 0, 0, 0]


def test_a_container_that_runs_long_restarts_without_a_pause() -> None:
    assert run_at(Course(700.0, 0), "Always", 7_000_000.0)[:2] == ("running", 10_000)


def test_the_state_after_months_is_found_at_once() -> None:
    assert run_at(Course(0.0, 1), "Always", 1e7).restarts > 30_000


def test_a_program_that_takes_too_much_memory_is_killed() -> None:
    script = "sleep 2; a=x; while true; do a=$a$a; done"

    assert _course("sh", "-c", script) == Course(2.0, 137, reason="OOMKilled")


def test_a_program_that_takes_too_many_steps_runs_on() -> None:
    assert _course("sh", "-c", "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; exit 3") == ENDLESS


def test_a_course_costs_the_same_when_it_was_judged_before() -> None:
    container = {"name": "a", "command": ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo $i; done; : costs"]}
    budgets = [Budget(pod_courses.JUDGED) for _ in range(2)]

    judged = [courses.course_of(container, budget) for budget in budgets]

    assert judged == [Course(0.0, 0)] * 2
    assert budgets[0].steps_spent == budgets[1].steps_spent > 100


def test_a_pod_of_many_long_programs_is_too_much() -> None:
    containers = [
        {"name": str(number), "command": ["sh", "-c", f"while :; do : {number}; done"]} for number in range(3)
    ]
    pod = {"metadata": {"name": "p"}, "spec": {"containers": containers}}

    with pytest.raises(BudgetExceeded):
        pod_courses.of_pod(pod, Budget(BudgetLimits(steps=250_000, bytes_made=1024 * 1024)))


def test_references_do_not_make_a_command_line_longer_than_it_can_be() -> None:
    argv = courses.expanded(["$(A)" * 20, "$(A)"], {"A": "x" * 100_000})

    assert argv == ("x" * 1_000_000 + "$(A)" * 10, "$(A)")
