"""The names that definitions are given."""

from typing import Any

from aio_apiserver.registry.groups.apiextensions import naming
from aio_apiserver.registry.groups.apiextensions.naming import TakenNames
from tests.registry.groups.apiextensions.definitions import definition

NOTHING = TakenNames(frozenset(), frozenset())


def with_status(crd: dict[str, Any], **accepted: Any) -> dict[str, Any]:
    return {**crd, "status": {"acceptedNames": accepted}}


def test_a_definition_gets_what_it_asks_for() -> None:
    found = naming.decide(with_status(definition()), NOTHING)

    assert found.accepted == {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    assert (found.names_accepted["status"], found.established["reason"]) == ("True", "Installing")


def test_a_definition_without_one_name_keeps_the_others() -> None:
    taken = TakenNames.by([{"plural": "gadgets", "kind": "Widget", "listKind": "GadgetList"}])

    found = naming.decide(with_status(definition()), taken)

    assert "kind" not in found.accepted
    assert found.accepted["plural"] == "widgets"
    assert found.names_accepted["reason"] == "KindConflict"
    assert found.names_accepted["message"] == '"Widget" is already in use'
    assert found.established["reason"] == "NotAccepted"


def test_names_that_a_definition_has_stay_its_own() -> None:
    own = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}

    found = naming.decide(with_status(definition(), **own), TakenNames.by([own]))

    assert found.names_accepted["status"] == "True"


def test_all_short_names_in_conflict_are_told() -> None:
    crd = with_status(definition())
    crd["spec"]["names"]["shortNames"] = ["w", "x"]

    found = naming.decide(crd, TakenNames(frozenset({"w", "x"}), frozenset()))

    assert found.names_accepted["message"] == '["w" is already in use, "x" is already in use]'
