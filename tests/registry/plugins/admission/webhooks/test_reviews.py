"""AdmissionReviews for webhooks."""

from msgspec.structs import replace

from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.plugins.admission.webhooks.validating import ValidatingAdmissionWebhook
from aio_apiserver.storage.interface import Preconditions
from tests.registry.plugins.admission.webhooks.calls import (
    CONFIGMAPS,
    Programs,
    a_config_map,
    configured,
    says,
    webhook,
)
from tests.registry.plugins.admission.writes import write

EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}


async def test_a_deletion_is_told_with_its_options_and_without_an_object() -> None:
    programs = Programs({"one": says()})
    options = DeleteOptions(grace_period_seconds=0, preconditions=Preconditions("u", None))
    deletion = a_config_map(operation=Operation.DELETE, obj=None, old=a_config_map().obj, options=options, name="")
    deletion = replace(deletion, user=UserInfo(name="u", groups=("g",), extra={"k": ["v"]}))

    async with configured(ValidatingAdmissionWebhook, programs, webhook("one", rules=[CONFIGMAPS])) as plugin:
        await plugin.validate(deletion)

    request = programs.asked[0][1]["request"]
    assert "name" not in request
    assert request["userInfo"] == {"username": "u", "groups": ["g"], "extra": {"k": ["v"]}}
    assert request["object"] is None
    assert request["oldObject"]["kind"] == "ConfigMap"
    assert request["options"] == {
        "kind": "DeleteOptions",
        "apiVersion": "meta.k8s.io/v1",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u"},
    }


async def test_a_connection_is_told_with_what_it_is_for() -> None:
    programs = Programs({"one": says()})
    connection = replace(
        write({"container": "c", "stdout": True, "tty": False}, resource=GroupResource("", "pods"), subresource="exec"),
        operation=Operation.CONNECT,
        kind=GroupVersionKind("", "v1", "PodExecOptions"),
        options=None,
    )

    async with configured(ValidatingAdmissionWebhook, programs, webhook("one", rules=[EVERYTHING])) as plugin:
        await plugin.validate(connection)

    request = programs.asked[0][1]["request"]
    assert (request["operation"], request["subResource"], request["options"]) == ("CONNECT", "exec", None)
    assert request["object"] == {
        "kind": "PodExecOptions",
        "apiVersion": "v1",
        "command": None,
        "container": "c",
        "stdout": True,
    }


async def test_a_new_namespace_is_within_itself_unless_its_name_is_made() -> None:
    programs = Programs({"one": says()})
    kind = GroupVersionKind("", "v1", "Namespace")
    named = write({"metadata": {"name": "n"}}, resource=GroupResource("", "namespaces"))
    made = write({"metadata": {"name": "n-x", "generateName": "n-"}}, resource=GroupResource("", "namespaces"))

    async with configured(ValidatingAdmissionWebhook, programs, webhook("one", rules=[EVERYTHING])) as plugin:
        for one in (named, made):
            await plugin.validate(replace(one, kind=kind, namespace=""))

    assert [review["request"].get("namespace") for _, review in programs.asked] == ["n", None]
