"""Partial metadata: the parts of the metadata that it shows."""

from typing import Any

from aio_apiserver.registry.groups.apps.daemonsets import DAEMONSETS
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.machinery.printing import tables

VERSION = "meta.k8s.io/v1"
COUNT = {"deprecated.daemonset.template.generation": "1"}


def shown(kind: Any, annotations: dict[str, str]) -> Any:
    obj = {"metadata": {"name": "a", "annotations": annotations}, "spec": {}}
    return tables.partial_list(VERSION, {}, [obj], hidden=kind.inner_annotations)["items"][0]["metadata"]


def test_annotations_that_stand_for_inner_fields_are_left_out() -> None:
    assert shown(DAEMONSETS, {**COUNT, "b": "c"}) == {"name": "a", "annotations": {"b": "c"}}
    assert shown(DAEMONSETS, COUNT) == {"name": "a"}
    assert shown(DAEMONSETS, {"b": "c"}) == {"name": "a", "annotations": {"b": "c"}}


def test_other_kinds_show_all_of_them() -> None:
    assert shown(CONFIGMAPS, COUNT) == {"name": "a", "annotations": COUNT}
