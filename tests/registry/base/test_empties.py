"""Empties: empty lists and maps of a client show in errors, and are not stored."""

from typing import Any

import pytest

from aio_apiserver.registry.base.empties import Empty, put_back, show
from aio_apiserver.registry.base.errors import Invalid
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.access.users import ANONYMOUS
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.groups.apps.replicasets import REPLICASETS
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.networking.networkpolicies import NETWORKPOLICIES
from tests.registry.defaulted import CONTEXT, created, defaulted

CONFIG = Config()
INGRESS, ANNOTATIONS = Empty(("spec", "ingress"), False), Empty(("metadata", "annotations"), True)
LABELS = Empty(("spec", "template", "metadata", "labels"), True)


def request(*empties: Empty) -> Request:
    return Request(user=ANONYMOUS, version="v1", warn=lambda _text: None, namespace="n", empties=list(empties))


def refusal(obj: dict[str, Any], *empties: Empty) -> str:
    strategy, asked = REPLICASETS.strategy, request(*empties)
    with pytest.raises(Invalid) as refused:
        preparation.before_create(REPLICASETS, strategy, request=asked, obj=obj, context=CONTEXT)
    return refused.value.message


def replica_set() -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": {}}, "spec": spec}
    return defaulted(REPLICASETS, {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}})


def test_errors_show_what_was_sent_empty() -> None:
    assert "spec.template.metadata.labels: Invalid value: null:" in refusal(replica_set())
    assert "spec.template.metadata.labels: Invalid value: {}:" in refusal(replica_set(), LABELS)


def test_errors_do_not_change_by_what_was_sent_empty() -> None:
    containers = Empty(("spec", "template", "spec", "initContainers"), False)

    message = refusal(replica_set(), containers)

    assert message == refusal(replica_set())


def test_what_was_sent_empty_stays_away_where_the_object_has_become_another() -> None:
    obj: dict[str, Any] = {"spec": {"items": [{"a": 1, "c": None}], "text": "x", "kept": [1]}}

    put_back(obj, [Empty(("spec", "items", 1, "b"), False), Empty(("spec", "text", "b"), True)])
    put_back(obj, [Empty(("none", "b"), True), Empty(("spec", "kept"), False), Empty(("spec", "items", 0, "b"), False)])
    put_back(obj, [Empty(("spec", "items", 0, "c"), True)])

    assert obj == {"spec": {"items": [{"a": 1, "b": [], "c": {}}], "text": "x", "kept": [1]}}


def test_only_what_is_printed_as_null_shows_as_empty() -> None:
    printed: dict[str, Any] = {"rules": None, "metadata": {}, "full": [1]}

    show(printed, [Empty(("rules",), False), Empty(("metadata", "labels"), True), Empty(("full",), False)])

    assert printed == {"rules": [], "metadata": {}, "full": [1]}


def test_a_network_policy_with_rules_sent_empty_is_a_new_generation() -> None:
    old = created(NETWORKPOLICIES, {"spec": {"podSelector": {}}})
    contexts = [request(*empties).strategy_context(0, CONFIG) for empties in ((), (INGRESS,), (ANNOTATIONS,))]

    generations = []
    for context in contexts:
        new = {**old, "metadata": {**old["metadata"]}}
        NETWORKPOLICIES.strategy.prepare_for_update(context, new, old)
        generations.append(new["metadata"]["generation"])

    assert generations == [1, 2, 1]


@pytest.mark.parametrize(("kind", "name"), [(CONFIGMAPS, "binaryData"), (SECRETS, "data")])
def test_frozen_data_cannot_become_empty_from_nothing(kind: Kind, name: str) -> None:
    old = created(kind, {"immutable": True})
    new = defaulted(kind, {"immutable": True, name: {}})
    old["metadata"]["namespace"] = "n"
    new["metadata"] = dict(old["metadata"])

    found = kind.strategy.validate_update(CONTEXT, new, old)

    assert [str(one) for one in found] == [f"{name}: Forbidden: field is immutable when `immutable` is set"]
