from aio_apiserver.apiserver.wire.shutdown_signal import Draining


def test_subscribers_are_called_once() -> None:
    draining, calls = Draining(), list[str]()
    draining.subscribe(lambda: calls.append("a"))
    draining.subscribe(lambda: calls.append("b"))

    draining.begin()
    draining.begin()

    assert calls == ["a", "b"]


def test_who_has_left_is_not_called() -> None:
    draining, calls = Draining(), list[str]()
    leave = draining.subscribe(lambda: calls.append("a"))

    leave()
    leave()
    draining.begin()

    assert calls == []


def test_who_comes_late_is_called_at_once() -> None:
    draining, calls = Draining(), list[str]()
    draining.begin()

    leave = draining.subscribe(lambda: calls.append("a"))
    leave()

    assert calls == ["a"]


def test_the_announcement_comes_first() -> None:
    draining, calls = Draining(), list[str]()
    draining.subscribe(lambda: calls.append("a"))

    draining.announce()

    assert (draining.is_announced, draining.has_begun, calls) == (True, False, [])
