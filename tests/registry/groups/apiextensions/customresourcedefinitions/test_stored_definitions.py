"""Definitions as kube-apiserver v1.36.4 wrote them to etcd: in v1beta1, with what all versions share moved up."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.customresourcedefinitions import DEFINITIONS
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.stored_definitions import from_v1beta1

SCHEMA = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}
STORED: dict[str, Any] = {
    "group": "stable.example.com",
    "version": "v1",
    "names": {"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "listKind": "CronTabList"},
    "scope": "Namespaced",
    "validation": SCHEMA,
    "versions": [{"name": "v1", "served": True, "storage": True}],
    "conversion": {"strategy": "None"},
    "preserveUnknownFields": False,
}


def converted(**spec: Any) -> Any:
    return from_v1beta1({"metadata": {"name": "crontabs.stable.example.com"}, "spec": {**STORED, **spec}})["spec"]


def test_the_shared_schema_goes_to_every_version() -> None:
    versions = [{"name": "v1", "served": True, "storage": True}, {"name": "v2", "served": True, "storage": False}]

    spec = converted(versions=versions)

    assert [one["schema"] for one in spec["versions"]] == [SCHEMA, SCHEMA]
    assert set(spec) == {"group", "names", "scope", "versions", "conversion"}
    assert spec["conversion"] == {"strategy": "None"}


@pytest.mark.parametrize("is_shared", [True, False])
def test_columns_have_their_path_under_the_name_of_v1(is_shared: bool) -> None:
    columns = [{"name": "Image", "type": "string", "JSONPath": ".spec.image"}]
    version = {**STORED["versions"][0], **({} if is_shared else {"additionalPrinterColumns": columns})}

    spec = converted(versions=[version], **({"additionalPrinterColumns": columns} if is_shared else {}))

    wanted = [{"name": "Image", "type": "string", "jsonPath": ".spec.image"}]
    assert spec["versions"][0]["additionalPrinterColumns"] == wanted


def test_the_webhook_and_unknown_fields_are_where_v1_has_them() -> None:
    client = {"service": {"namespace": "a", "name": "b"}}
    old = {"strategy": "Webhook", "webhookClientConfig": client, "conversionReviewVersions": ["v1"]}

    spec = converted(conversion=old, preserveUnknownFields=True)

    assert spec["conversion"] == {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
    }
    assert spec["preserveUnknownFields"] is True


def test_a_stored_value_is_converted_by_its_version() -> None:
    restore = resource_of(DEFINITIONS).restore
    assert restore is not None
    type_meta = {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1beta1"}

    old = restore({**type_meta, "metadata": {}, "spec": dict(STORED)})
    new = restore({**type_meta, "apiVersion": "apiextensions.k8s.io/v1", "metadata": {}, "spec": converted()})

    assert old == new
