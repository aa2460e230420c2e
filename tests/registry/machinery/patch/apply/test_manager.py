"""Manager: FieldManager after updates and applies: who owns which fields."""

from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.errors import ApplyConflict, BadRequest, StatusError
from aio_apiserver.registry.generic.field_managers import field_managers
from aio_apiserver.registry.groups.apps.daemonsets import DAEMONSETS
from aio_apiserver.registry.groups.autoscaling.horizontalpodautoscalers import HORIZONTALPODAUTOSCALERS
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.patch.apply.last_applied import ANNOTATION
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.machinery.patch.apply.resets import resets
from tests.registry.machinery.patch.apply.things import (
    API_VERSION,
    NOW,
    Now,
    builtin_manager,
    copied,
    form_of,
    manager_of,
    owners,
    thing,
)

PORT = {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}}
TEXT = {"type": "string"}
SPEC = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": "string"},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": PORT,
        },
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    },
}


def made(manager: FieldManager, by: str = "maker", **spec: Any) -> Any:
    """A custom object after a create."""
    new = hub(**spec)
    manager.track(None, new, by)
    return new


def hub(**spec: Any) -> Any:
    return {"metadata": {"name": "a", "uid": "u"}, "spec": spec}


def changed(manager: FieldManager, live: Any, by: str, **spec: Any) -> Any:
    """A custom object after an update of its spec."""
    new = {**copied(live), "spec": spec}
    manager.track(copied(live), new, by)
    return new


def test_who_creates_owns_everything_but_what_identifies_it() -> None:
    obj: Any = {"metadata": {"name": "a", "namespace": "n", "labels": {"l": "1"}}, "spec": {"a": "1"}}

    manager_of(SPEC).track(None, obj, "maker")

    assert obj["metadata"]["managedFields"] == [
        {
            "manager": "maker",
            "operation": "Update",
            "apiVersion": API_VERSION,
            "time": NOW,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:l": {}}}, "f:spec": {".": {}, "f:a": {}}},
        }
    ]


def test_who_changes_a_field_takes_it() -> None:
    manager = manager_of(SPEC)

    obj = changed(manager, made(manager, a="1", b="1"), "other", a="2", b="1")

    assert owners(obj) == {"maker": {".": {}, "f:b": {}}, "other": {"f:a": {}}}


def test_a_removed_field_is_nobodys() -> None:
    manager = manager_of(SPEC)

    assert owners(changed(manager, made(manager, a="1", b="1"), "other", b="1")) == {"maker": {".": {}, "f:b": {}}}


def test_an_update_that_changes_nothing_keeps_the_time() -> None:
    now = Now()
    manager = manager_of(SPEC, now=now)
    live = made(manager, a="1")
    now.text = "2027-01-01T00:00:00Z"

    assert changed(manager, live, "maker", a="1") == live
    assert changed(manager, live, "maker", a="2")["metadata"]["managedFields"][0]["time"] == now.text


@pytest.mark.parametrize("given", [[], [{}]])
def test_managed_fields_can_be_forgotten(given: Any) -> None:
    manager = manager_of(SPEC)
    live = made(manager, a="1")
    new = copied(live)
    new["metadata"]["managedFields"] = given

    manager.track(live, new, "me")

    assert "managedFields" not in new["metadata"]


def test_managed_fields_that_make_no_sense_are_as_if_they_had_not_been_sent() -> None:
    manager = manager_of(SPEC)
    live = made(manager, a="1")
    new = copied(live)
    new["metadata"]["managedFields"] = [{"manager": "odd"}]

    manager.track(live, new, "me")

    assert new == live


def test_managed_fields_can_be_written_by_hand_but_not_on_a_subresource() -> None:
    given = [{"manager": "x", "operation": "Apply", "apiVersion": API_VERSION, "fieldsType": "FieldsV1",
              "fieldsV1": {"f:spec": {"f:a": {}}}}]  # fmt: skip
    found = []
    for subresource in ("", "status"):
        manager = manager_of(SPEC, subresource=subresource)
        live = made(manager, a="1")
        new = copied(live)
        new["metadata"]["managedFields"] = copied(given)
        manager.track(live, new, "me")
        found.append(set(owners(new)))

    assert found == [{"x"}, {"maker"}]


def test_the_fields_of_an_object_that_nobody_tracked_stay_nobodys() -> None:
    manager = manager_of(SPEC)

    assert "managedFields" not in changed(manager, hub(a="1"), "me", a="2")["metadata"]


def test_an_entry_of_a_version_that_is_not_served_is_dropped() -> None:
    manager = builtin_manager("", "v1", "ConfigMap")
    live: Any = {"metadata": {"name": "a", "uid": "u"}, "data": {"a": "1"}}
    manager.track(None, live, "maker")
    live["metadata"]["managedFields"].append({**live["metadata"]["managedFields"][0], "apiVersion": "v0"})
    new = copied(live)

    manager.track(live, new, "maker")

    assert [one["apiVersion"] for one in new["metadata"]["managedFields"]] == ["v1"]


def test_an_apply_creates_and_takes_back_what_it_no_longer_says() -> None:
    manager = manager_of(SPEC)

    first = manager.apply(None, thing(a="1", b="1"), "me", force=False)
    second = manager.apply(first, thing(b="1"), "me", force=False)

    assert first["spec"] == {"a": "1", "b": "1"}
    assert owners(first) == {"me": {"f:a": {}, "f:b": {}}}
    assert second["spec"] == {"b": "1"}
    assert owners(second) == {"me": {"f:b": {}}}


def test_an_apply_keeps_what_others_own_and_share() -> None:
    manager = manager_of(SPEC)
    live = manager.apply(None, thing(a="1", b="1"), "one", force=False)
    live = manager.apply(live, thing(a="1"), "two", force=False)

    left = manager.apply(live, thing(), "one", force=False)

    assert left["spec"] == {"a": "1"}
    assert owners(left) == {"one": {}, "two": {"f:a": {}}}


def test_an_apply_takes_nothing_without_force() -> None:
    manager = manager_of(SPEC)
    live = manager.apply(None, thing(a="1", b="1"), "one", force=False)
    live = changed(manager, live, "updater", a="1", b="2")

    with pytest.raises(ApplyConflict) as refused:
        manager.apply(live, thing(a="2", b="3"), "two", force=False)
    forced = manager.apply(live, thing(a="2", b="3"), "two", force=True)

    assert refused.value.message == (
        'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.a\n'
        'conflicts with "updater" using example.com/v1:\n- .spec.b'
    )
    assert refused.value.details is not None
    assert [(cause.reason, cause.field) for cause in refused.value.details.causes] == [
        ("FieldManagerConflict", ".spec.a"),
        ("FieldManagerConflict", ".spec.b"),
    ]
    assert owners(forced) == {"two": {"f:a": {}, "f:b": {}}}


def test_lists_are_merged_by_their_keys_in_the_order_of_who_applies() -> None:
    manager = manager_of(SPEC)
    live = made(manager, ports=[{"name": "a", "port": 1}, {"name": "x", "port": 2}], tags=["p", "q"])

    config = thing(ports=[{"name": "x"}, {"name": "n", "port": 3}, {"name": "a"}], tags=["r", "p"])
    obj = manager.apply(live, config, "me", force=False)

    assert obj["spec"]["ports"] == [{"name": "x", "port": 2}, {"name": "n", "port": 3}, {"name": "a", "port": 1}]
    assert obj["spec"]["tags"] == ["r", "p", "q"]


def test_only_the_elements_that_were_applied_are_taken_back() -> None:
    manager = manager_of(SPEC)
    live = made(manager, ports=[{"name": "a", "port": 1}], tags=["p"])
    live = manager.apply(live, thing(ports=[{"name": "b", "port": 2}], tags=["q"]), "me", force=False)

    assert manager.apply(live, thing(), "me", force=False)["spec"] == {
        "ports": [{"name": "a", "port": 1}],
        "tags": ["p"],
    }


def test_the_first_apply_finds_an_owner_of_what_was_there() -> None:
    manager = manager_of(SPEC)

    obj = manager.apply(hub(a="1", b="1"), thing(a="1"), "me", force=False)

    assert owners(obj) == {"before-first-apply": {".": {}, "f:a": {}, "f:b": {}}, "me": {"f:a": {}}}


def test_who_applies_what_is_there_already_has_no_time() -> None:
    manager = manager_of(SPEC)

    obj = manager.apply(made(manager, a="1"), thing(a="1"), "me", force=False)

    assert [one.get("time") for one in obj["metadata"]["managedFields"]] == [None, NOW]


def test_kubectl_may_take_what_it_applied_from_the_client() -> None:
    manager = manager_of(SPEC)
    live = made(manager, by="kubectl-client-side-apply", a="1", b="1")
    live["metadata"]["annotations"] = {ANNOTATION: '{"apiVersion":"example.com/v1","kind":"Thing","spec":{"a":"1"}}'}

    obj = manager.apply(live, thing(a="2"), "kubectl", force=False)
    with pytest.raises(ApplyConflict, match=r"1 conflict: .*: \.spec\.b$"):
        manager.apply(live, thing(a="2", b="2"), "kubectl", force=False)
    with pytest.raises(ApplyConflict, match=r"\.spec\.a$"):
        manager.apply(live, thing(a="2"), "other", force=False)

    applied = '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"a":"2"}}\n'
    assert obj["metadata"]["annotations"] == {ANNOTATION: applied}


def test_the_status_is_nobodys_on_the_main_resource() -> None:
    main = manager_of(SPEC, resets=resets("", has_status=True, is_custom=True))
    status = manager_of(SPEC, subresource="status", resets=resets("status", has_status=True, is_custom=True))

    obj = main.apply(None, {**thing(a="1"), "status": {"s": 1}}, "me", force=False)
    obj = status.apply(obj, {**thing(a="2"), "status": {"s": 2}}, "me", force=False)

    assert [(one.get("subresource"), list(one["fieldsV1"])) for one in obj["metadata"]["managedFields"]] == [
        (None, ["f:spec"]),
        ("status", ["f:status"]),
    ]


def test_what_cannot_be_set_of_a_custom_resource_counts_in_its_other_versions() -> None:
    forms = {form.api_version: form for form in (form_of(SPEC), form_of(SPEC, "v2"))}
    of_main, of_status = (resets(subresource, has_status=True, is_custom=True) for subresource in ("", "status"))
    one, two = (FieldManager(form, forms, Now(), resets=of_main) for form in forms.values())
    status = FieldManager(one.form, forms, Now(), "status", of_status)
    live = status.apply(None, {**thing(), "status": {"s": 1}}, "reporter", force=False)
    config = {**thing(a="1"), "status": {"s": 2}}

    one.apply(live, config, "me", force=False)
    with pytest.raises(ApplyConflict, match=r'conflict with "reporter" with subresource "status": \.status\.s$'):
        two.apply(live, {**config, "apiVersion": "example.com/v2"}, "me", force=False)


def test_what_an_apply_leaves_of_a_map_of_a_custom_resource_is_null() -> None:
    manager = manager_of({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": TEXT}}})
    live = manager.apply(None, thing(m={"k": "v"}), "me", force=False)

    after = manager.apply(live, thing(m={}), "me", force=False)

    assert after["spec"] == {"m": None}


def test_owners_in_another_version_are_looked_at_in_its_words() -> None:
    forms = {form.api_version: form for form in (form_of(SPEC), form_of(SPEC, "v2"))}
    one, two = (FieldManager(form, forms, Now()) for form in forms.values())
    live = one.apply(None, thing(a="1", b="1"), "me", force=False)

    second = two.apply(live, {**thing(b="1"), "apiVersion": "example.com/v2"}, "me", force=False)
    with pytest.raises(ApplyConflict, match=r'conflict with "me": \.spec\.b$'):
        one.apply(second, thing(b="2"), "other", force=False)

    assert second["spec"] == {"b": "1"}
    assert [one["apiVersion"] for one in second["metadata"]["managedFields"]] == ["example.com/v2"]


TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
NARROW = {"type": "object", "properties": {"a": {"type": "string"}}}


def in_two_versions() -> tuple[FieldManager, FieldManager]:
    """A resource with a version v1 of many fields and a version v2 of few."""
    wide, narrow = form_of(TEXTS), form_of(NARROW, "v2")
    forms = {form.api_version: form for form in (wide, narrow)}
    return FieldManager(wide, forms, Now()), FieldManager(narrow, forms, Now())


def test_an_object_that_a_version_has_no_words_for_cannot_be_applied_to() -> None:
    wide, narrow = in_two_versions()
    live = narrow.apply(None, {**thing(a="1"), "apiVersion": "example.com/v2"}, "two", force=False)
    live["spec"]["b"] = "1"

    with pytest.raises(StatusError, match=r"^\.spec\.b: field not declared in schema$"):
        wide.apply(live, thing(a="1"), "one", force=False)

    assert "managedFields" not in changed(wide, live, "updater", a="2", b="1")["metadata"]


def test_owners_of_a_custom_resource_in_a_version_that_is_gone_stop_an_apply_and_are_forgotten_by_an_update() -> None:
    wide, narrow = in_two_versions()
    live = narrow.apply(None, {**thing(a="1"), "apiVersion": "example.com/v2"}, "two", force=False)
    alone = replace(wide, forms={API_VERSION: wide.form})

    with pytest.raises(StatusError, match=r"invalid group/version: example\.com/v2$"):
        alone.apply(live, thing(a="1"), "one", force=False)

    assert "managedFields" not in changed(alone, live, "updater", a="2")["metadata"]


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({}, "invalid object type: /, Kind="),
        ({"kind": "Thing"}, "invalid object type: /, Kind=Thing"),
        ({"apiVersion": "a/b/c", "kind": "Thing"}, "invalid object type: /, Kind="),
        ({**thing(), "kind": "Other"}, "invalid object type: example.com/v1, Kind=Other"),
        ({**thing(), "metadata": {"managedFields": []}}, "metadata.managedFields must be nil"),
    ],
)
def test_what_is_no_configuration_is_refused(config: Any, told: str) -> None:
    with pytest.raises(BadRequest) as refused:
        manager_of(SPEC).apply(None, config, "me", force=False)

    assert refused.value.message == told


def test_a_configuration_that_does_not_fit_is_an_error_of_the_server() -> None:
    with pytest.raises(StatusError) as refused:
        manager_of(SPEC).apply(None, thing(a=1), "me", force=False)

    assert refused.value.code == 500
    assert refused.value.message == (
        "failed to create typed patch object (/a; example.com/v1, Kind=Thing): "
        ".spec.a: expected string, got &value.valueUnstructured{Value:1}"
    )


def test_what_fits_but_cannot_be_read_is_an_error_of_the_server() -> None:
    container = {"name": "c", "resources": {"limits": {"cpu": "odd"}}}
    config = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container]}}

    with pytest.raises(StatusError, match=r"^failed to convert new object \(/a; /v1, Kind=Pod\) to proper version: "):
        builtin_manager("", "v1", "Pod").apply(None, config, "me", force=False)


def test_what_can_be_read_and_has_no_inner_form_is_an_error_of_the_server() -> None:
    annotations = {"deprecated.daemonset.template.generation": "odd"}
    config = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a", "annotations": annotations}}
    manager = field_managers(DAEMONSETS, schema.builtin(), ManualClock()).of("v1")

    with pytest.raises(StatusError) as refused:
        manager.apply(None, config, "me", force=False)

    why = 'strconv.ParseInt: parsing "odd": invalid syntax'
    assert refused.value.message == f"failed to convert to unversioned (/a; apps/v1, Kind=DaemonSet): {why}"


def test_a_live_object_that_no_longer_fits_its_type_cannot_be_applied_to() -> None:
    manager = manager_of(SPEC)
    live = manager.apply(None, thing(a="1"), "me", force=False)
    live["spec"]["ports"] = ["odd"]

    with pytest.raises(StatusError, match=r"^failed to create typed live object"):
        manager.apply(live, thing(a="2"), "me", force=False)


def test_who_owned_what_before_the_first_apply_cannot_be_told_of_what_does_not_fit_its_type() -> None:
    manager = builtin_manager("", "v1", "ServiceAccount")
    live = {"metadata": {"name": "a", "namespace": "n"}, "secrets": [{"uid": "u"}]}
    config = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}

    with pytest.raises(StatusError) as caught:
        manager.apply(live, config, "me", force=False)

    assert caught.value.message.startswith(
        "failed to create manager for existing fields: failed to convert new object (n/a; /v1, Kind=ServiceAccount) "
        "to smd typed: .secrets: element 0: "
    )


def test_what_is_sent_empty_is_owned_where_it_is_always_printed() -> None:
    manager = builtin_manager("rbac.authorization.k8s.io", "v1", "ClusterRole")
    empties = (Empty(("rules",), False), Empty(("metadata", "labels"), True))
    created: Any = {"metadata": {"name": "a"}}
    changed: Any = {"metadata": {"name": "a"}}

    manager.track(None, created, "maker", empties)
    manager.track({"metadata": {**created["metadata"]}, "rules": None}, changed, "other", empties)

    for obj, by in ((created, "maker"), (changed, "other")):
        (entry,) = obj["metadata"]["managedFields"]
        assert (entry["manager"], entry["fieldsV1"]) == (by, {"f:rules": {}})


def test_an_apply_notes_what_is_empty_in_its_result() -> None:
    manager = builtin_manager("rbac.authorization.k8s.io", "v1", "ClusterRole")
    config = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "a"},
        "rules": [],
    }
    empties: list[Empty] = []

    obj = manager.apply(None, config, "me", force=False, empties=empties)

    assert "rules" not in obj
    assert empties == [Empty(("rules",), False)]


def autoscalers() -> tuple[FieldManager, FieldManager]:
    """The field manager of autoscalers in v1 and v2."""
    groups = field_managers(HORIZONTALPODAUTOSCALERS, schema.builtin(), ManualClock())
    return groups.of("v1"), groups.of("v2")


def autoscaler(version: str, **spec: Any) -> dict[str, Any]:
    target = {"kind": "Deployment", "name": "d"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, **spec}
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
        "spec": spec,
    }


def test_what_only_becomes_another_version_gets_no_defaults() -> None:
    one, two = autoscalers()
    live = one.apply(None, autoscaler("v1"), "me", force=False)

    after = two.apply(live, autoscaler("v2", behavior={}), "me", force=False)

    assert "behavior" not in after["spec"]


def test_what_cannot_become_the_version_of_another_owner_is_told_with_what_was_tried() -> None:
    one, two = autoscalers()
    live = two.apply(None, autoscaler("v2"), "other", force=False)

    with pytest.raises(StatusError) as refused:
        one.apply(live, autoscaler("v1", maxReplicas=1.5), "me", force=True)

    assert refused.value.message == (
        "failed to convert new object: unable to convert unstructured object to "
        "autoscaling/v1, Kind=HorizontalPodAutoscaler: cannot convert float64 to int32"
    )


def test_who_applied_in_a_version_that_is_gone_keeps_his_time() -> None:
    manager = builtin_manager("", "v1", "ConfigMap")
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
    live = manager.apply(None, config, "me", force=False)
    live["metadata"]["managedFields"][0] |= {"apiVersion": "gone/v1", "time": "2020-01-01T00:00:00Z"}

    after = manager.apply(live, config, "me", force=False)

    (entry,) = after["metadata"]["managedFields"]
    assert (entry["apiVersion"], entry["time"]) == ("v1", "2020-01-01T00:00:00Z")
