"""The patch types of a kind."""

import pytest

from aio_apiserver.apiserver.handlers.patch import patch_type
from aio_apiserver.apiserver.wire import route_errors
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.bodies import patch_types
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
POD = Kind(group="", plural="pods", kind="Pod")
WIDGET = Kind(
    group="example.com", plural="widgets", kind="Widget", custom_type=CustomType(lambda: None, schema.builtin())
)


def test_every_kind_takes_merge_patches_with_parameters() -> None:
    assert patch_type(f"{MERGE}; charset=utf-8", POD) is patch_types.apply_merge_patch
    assert patch_type(f"{MERGE};charset=utf-8", WIDGET) is patch_types.apply_merge_patch


def test_only_kinds_with_go_types_take_strategic_merges() -> None:
    assert patch_type(STRATEGIC, POD) is patch_types.apply_strategic_merge_patch
    with pytest.raises(
        errors.UnsupportedMediaType, match=r"types include: application/json-patch\+json, [a-z/+-]*, [a-z/+-]*$"
    ):
        patch_type(STRATEGIC, WIDGET)


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/apply-patch+json", "application/Merge-patch+json"]
)
def test_kinds_with_go_types_do_not_list_what_they_take(content_type: str) -> None:
    with pytest.raises(route_errors.RouteUnsupportedMediaType):
        patch_type(content_type, POD)
    with pytest.raises(errors.UnsupportedMediaType):
        patch_type(content_type, WIDGET)
