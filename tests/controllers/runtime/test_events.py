from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.events import Correlator, EventReport

POD = {"metadata": {"name": "web", "namespace": "default", "uid": "1", "resourceVersion": "5"}}


def said(message: str = "Created pod: a", *, uid: str = "1", action: str = "", version: str = "5") -> EventReport:
    about = events.reference(POD, "v1", "Pod") | {"uid": uid, "resourceVersion": version}
    return EventReport(
        about=about, type=events.NORMAL, reason="SuccessfulCreate", message=message, component="test", action=action
    )


def hear(correlator: Correlator, one: EventReport, *, now: float = 0.0) -> tuple[str, str] | None:
    """The message to write, and the name of the earlier event."""
    heard = correlator.hear(one, now=now)
    if heard is None:
        return None
    wanted, name = heard
    if not name:
        correlator.wrote(wanted, f"event of {wanted.message}")
    return wanted.message, name


def test_an_event_has_its_reporter_its_object_and_its_time() -> None:
    event = events.make(said(), now=1.0)

    assert event["involvedObject"]["name"] == "web"
    assert (event["count"], event["firstTimestamp"], event["source"]) == (
        1,
        "1970-01-01T00:00:01Z",
        {"component": "test"},
    )


def test_names_differ_while_the_clock_stands_still() -> None:
    names = {events.make(said(), now=1.0)["metadata"]["name"] for _ in range(3)}

    assert len(names) == 3


def test_what_is_said_again_counts_up_whatever_the_version_of_the_object() -> None:
    correlator = Correlator()
    first = hear(correlator, said())
    again = hear(correlator, said(version="6"))
    other = hear(correlator, said(uid="2"))
    event = events.make(said(), now=1.0)
    events.repeat(event, said(), now=61.0)

    assert (first, again, other) == (
        ("Created pod: a", ""),
        ("Created pod: a", "event of Created pod: a"),
        ("Created pod: a", ""),
    )
    assert (event["count"], event["lastTimestamp"]) == (2, "1970-01-01T00:01:01Z")


def test_the_newer_form_counts_in_a_series() -> None:
    event = events.make(said(action="Binding"), now=1.0)
    events.repeat(event, said(action="Binding"), now=2.0)

    assert (event["eventTime"], event["series"]["count"]) == ("1970-01-01T00:00:01.000000Z", 2)
    assert "count" not in event


def test_many_that_differ_in_their_text_alone_become_one() -> None:
    correlator = Correlator()

    heard = [hear(correlator, said(f"Created pod: {number}")) for number in range(12)]

    assert heard[9] == ("Created pod: 9", "")
    assert heard[10] == ("(combined from similar events): Created pod: 10", "")
    assert heard[11] == (
        "(combined from similar events): Created pod: 11",
        "event of (combined from similar events): Created pod: 10",
    )


def test_who_says_too_much_is_not_heard_for_a_while() -> None:
    correlator = Correlator()
    for _ in range(25):
        hear(correlator, said())

    too_much, later = hear(correlator, said()), hear(correlator, said(), now=300.0)

    assert too_much is None
    assert later is not None
