"""Tests the names that definitions get."""

from typing import Any

from aio_apiserver.registry.groups.apiextensions.definitions import naming
from aio_apiserver.registry.groups.apiextensions.definitions.naming import TakenNames
from tests.registry.groups.apiextensions.example_definitions import definition

NOTHING = TakenNames(frozenset(), frozenset())


def with_status(crd: dict[str, Any], **accepted: Any) -> dict[str, Any]:
    return {**crd, "status": {"acceptedNames": accepted}}


def test_a_definition_gets_the_requested_names() -> None:
    found = naming.decide(with_status(definition()), NOTHING)

    assert found.accepted == {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    assert (found.names_accepted["status"], found.established["reason"]) == ("True", "Installing")


def test_a_definition_with_one_name_conflict_gets_its_other_names() -> None:
    taken = TakenNames.by([{"plural": "gadgets", "kind": "Widget", "listKind": "GadgetList"}])

    found = naming.decide(with_status(definition()), taken)

    assert "kind" not in found.accepted
    assert found.accepted["plural"] == "widgets"
    assert found.names_accepted["reason"] == "KindConflict"
    assert found.names_accepted["message"] == '"Widget" is already in use'
    assert found.established["reason"] == "NotAccepted"


def test_a_definition_keeps_its_accepted_names() -> None:
    own = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}

    found = naming.decide(with_status(definition(), **own), TakenNames.by([own]))

    assert found.names_accepted["status"] == "True"


def test_all_short_names_in_conflict_are_reported() -> None:
    crd = with_status(definition())
    crd["spec"]["names"]["shortNames"] = ["w", "x"]

    found = naming.decide(crd, TakenNames(frozenset({"w", "x"}), frozenset()))

    assert found.names_accepted["message"] == '["w" is already in use, "x" is already in use]'


def test_a_definition_frees_the_names_that_it_gives_up() -> None:
    nothing, short = TakenNames.by([{}]), TakenNames.by([{"plural": "widgets", "shortNames": ["w"], "kind": "Widget"}])
    long = TakenNames.by([{"plural": "widgets", "shortNames": ["w", "wi"], "kind": "Widget"}])

    assert not nothing.has_more_than(short)
    assert not short.has_more_than(long)
    assert long.has_more_than(short)
