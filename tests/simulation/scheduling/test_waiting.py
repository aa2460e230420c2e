from aio_apiserver.simulation.scheduling.pod_views import PodView, view_of
from aio_apiserver.simulation.scheduling.waiting import WaitingPods
from tests.controllers.making import pod


def _pod(name: str, app: str = "web") -> PodView:
    return view_of(pod(name, labels={"app": app}))


def test_a_change_tries_one_pod_of_each_group() -> None:
    waiting = WaitingPods()
    for name, app in (("a", "web"), ("b", "web"), ("c", "db")):
        waiting.put(_pod(name, app), "full", is_current=True)

    assert waiting.last_answer(_pod("new")) == "full"
    assert waiting.firsts(of_all=True) == ["default/a", "default/c"]
    assert waiting.last_answer(_pod("new")) == ""
    assert waiting.drop("default/a") == "default/b"
    assert len(waiting) == 2


def test_a_new_message_concerns_the_whole_group() -> None:
    waiting = WaitingPods()
    for name in ("a", "b"):
        waiting.put(_pod(name), "full", is_current=True)

    assert waiting.put(_pod("a"), "tainted", is_current=True) == ["default/b"]
    assert waiting.firsts(of_all=False) == []
