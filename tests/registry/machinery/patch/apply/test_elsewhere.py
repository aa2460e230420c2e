"""Field managers of objects whose versions somebody else converts."""

from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.machinery.patch.apply import elsewhere
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.machinery.patch.apply.shapes import ShapeError
from tests.registry.machinery.patch.apply.things import Now, copied, form_of, thing

V1, V2, V3 = "example.com/v1", "example.com/v2", "example.com/v3"
FIELDS = {V1: "host", V2: "hostName", V3: "name"}
"""The one field of a spec, by version."""


class Converter:
    """Renames the field, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self.failure: ShapeError | None = None

    async def __call__(self, value: Any, api_version: str) -> Any:
        text = (value.get("spec") or {}).get(FIELDS[value["apiVersion"]], "")
        self.asked.append((value["apiVersion"], api_version, text))
        if self.failure is not None:
            raise self.failure
        return {**value, "apiVersion": api_version, "spec": {FIELDS[api_version]: text} if text else {}}


def managers(converter: Converter) -> dict[str, FieldManager]:
    forms = {
        version: form_of(
            {"type": "object", "properties": {FIELDS[version]: {"type": "string"}}}, version.rpartition("/")[2]
        )
        for version in FIELDS
    }
    return {version: FieldManager(form, forms, Now(), ask=converter) for version, form in forms.items()}


async def updated(manager: FieldManager, live: Any, by: str, spec: Any) -> Any:
    new = {**copied(live), "spec": spec}
    await elsewhere.track(manager, live, new, by)
    return new


async def created(manager: FieldManager, by: str, spec: Any) -> Any:
    new: Any = {"metadata": {"name": "a", "uid": "u"}, "spec": spec}
    await elsewhere.track(manager, None, new, by)
    return new


def owned(obj: Any) -> dict[str, Any]:
    return {one["manager"]: one["fieldsV1"].get("f:spec") for one in obj["metadata"]["managedFields"]}


async def test_nothing_is_asked_for_a_new_object() -> None:
    converter = Converter()

    await created(managers(converter)[V1], "maker", {"host": "a"})

    assert not converter.asked


async def test_an_update_in_another_version_asks_for_the_old_object_twice_and_for_the_new_one() -> None:
    converter = Converter()
    by_version = managers(converter)
    live = {**await created(by_version[V1], "maker", {"host": "a"}), "spec": {"hostName": "a"}}

    new = await updated(by_version[V2], live, "other", {"hostName": "b"})

    assert converter.asked == [(V2, V1, "a"), (V2, V1, "a"), (V2, V1, "b")]
    assert owned(new) == {"maker": {}, "other": {"f:hostName": {}}}


async def test_an_update_that_changes_nothing_asks_all_the_same() -> None:
    converter = Converter()
    by_version = managers(converter)
    live = {**await created(by_version[V1], "maker", {"host": "a"}), "spec": {"hostName": "a"}}

    new = await updated(by_version[V2], live, "other", {"hostName": "a"})

    assert len(converter.asked) == 3
    assert owned(new)["maker"] == {".": {}, "f:host": {}}


async def test_a_conversion_between_two_other_versions_leads_through_that_of_the_request() -> None:
    converter = Converter()
    by_version = managers(converter)
    live = await elsewhere.apply(by_version[V1], None, thing(host="a"), "one", force=False)
    live = {**live, "spec": {"name": "a"}}
    config = {**thing(name="b"), "apiVersion": V3}
    live = await elsewhere.apply(by_version[V3], live, config, "two", force=True)
    live = {**live, "spec": {"hostName": "b"}}
    converter.asked.clear()

    done = await elsewhere.apply(by_version[V2], live, {**thing(), "apiVersion": V2}, "two", force=False)

    assert [(source, wanted) for source, wanted, _ in converter.asked].count((V3, V2)) == 3
    assert (V1, V3) not in {(source, wanted) for source, wanted, _ in converter.asked}
    assert not done.get("spec")


async def test_a_failure_is_told_to_who_applies_and_makes_an_update_forget_owners() -> None:
    converter = Converter()
    by_version = managers(converter)
    live = {**await created(by_version[V1], "maker", {"host": "a"}), "spec": {"hostName": "a"}}
    converter.failure = ShapeError("conversion webhook for a failed: no")

    with pytest.raises(StatusError, match="conversion webhook for a failed: no"):
        await elsewhere.apply(by_version[V2], live, {**thing(), "apiVersion": V2}, "me", force=False)

    assert "managedFields" not in (await updated(by_version[V2], live, "me", {"hostName": "b"}))["metadata"]


async def test_a_version_that_is_gone_is_not_asked_for() -> None:
    converter = Converter()
    by_version = managers(converter)
    live = {**await created(by_version[V1], "maker", {"host": "a"}), "spec": {"hostName": "a"}}
    two = by_version[V2]
    alone = replace(two, forms={V2: two.form})

    with pytest.raises(StatusError, match=r"invalid group/version: example\.com/v1$"):
        await elsewhere.apply(alone, live, {**thing(), "apiVersion": V2}, "me", force=False)

    assert not converter.asked
