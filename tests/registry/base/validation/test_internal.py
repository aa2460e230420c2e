"""Internal: internal types in errors."""

from aio_apiserver.registry.base import group_files
from aio_apiserver.registry.base.validation import internal
from aio_apiserver.registry.base.validation.field import show


def test_a_struct_shows_every_field_in_the_order_of_go() -> None:
    toleration = {"operator": "Exists", "key": "a"}

    shown = show(internal.form("core.Toleration", toleration))

    assert shown == '{"Key":"a","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}'


def test_fields_of_embedded_structs_stand_among_the_others() -> None:
    shown = internal.form("core.Volume", {"name": "v", "emptyDir": {}})

    assert list(shown)[:4] == ["Name", "HostPath", "EmptyDir", "GCEPersistentDisk"]
    assert shown["EmptyDir"] == {"Medium": "", "SizeLimit": None}


def test_what_a_pod_shares_with_its_host_is_in_the_security_context() -> None:
    shown = internal.form("core.PodSpec", {"hostNetwork": True, "securityContext": {"runAsUser": 1}})

    assert shown["SecurityContext"]["HostNetwork"] is True
    assert shown["SecurityContext"]["RunAsUser"] == 1


def test_a_template_shows_its_metadata_as_clients_know_it() -> None:
    template = {"metadata": {"annotations": {"n": "1"}, "labels": {"z": "1", "a": "2"}}, "spec": {}}

    shown = internal.form("core.PodTemplateSpec", template)

    assert list(shown) == ["labels", "annotations", "Spec"]
    assert list(shown["labels"]) == ["a", "z"]


def test_owners_and_managers_in_metadata_have_the_order_of_their_structs() -> None:
    owner = {"blockOwnerDeletion": True, "uid": "u", "name": "n"}
    manager = {"operation": "Update", "manager": "m", "fieldsType": ""}
    template = {"metadata": {"ownerReferences": [owner], "managedFields": [manager]}, "spec": {}}

    shown = internal.form("core.PodTemplateSpec", template)

    assert list(shown["ownerReferences"][0].items())[:2] == [("apiVersion", ""), ("kind", "")]
    assert list(shown["ownerReferences"][0])[2:] == ["name", "uid", "blockOwnerDeletion"]
    assert list(shown["managedFields"][0]) == ["manager", "operation"]


def test_every_struct_of_the_table_can_be_shown() -> None:
    names = [name for group in group_files.folders() for name in internal.structs(group)]

    assert len(names) > 500
    assert all(internal.form(name, {}) is not None for name in names)


def test_json_is_escaped_as_go_escapes_it() -> None:
    assert show({"a": "<&>"}) == '{"a":"\\u003c\\u0026\\u003e"}'
