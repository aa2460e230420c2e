"""Schema types: what the types of a schema are called, and which fields expressions may select."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.expressions.libraries import BASE
from aio_apiserver.registry.machinery.cel import conversion, schema_types
from aio_apiserver.registry.machinery.cel.environment import CelEnvironment

STRING = {"type": "string"}
WORDS = {"type": "object", "properties": {"if": STRING, "namespace": STRING}}
META = {"type": "object", "properties": {"name": STRING, "generateName": STRING, "namespace": STRING}}
WHOLE = {"type": "object", "properties": {"apiVersion": STRING, "kind": STRING, "metadata": META}}


def declared(schema: dict[str, Any], *, is_resource: bool = False) -> schema_types.Declared:
    found = schema_types.declared(schema, is_resource=is_resource)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("self.if", "x"),
        ("self.__if__", "x"),
        ("has(self.if) && !has(self.namespace)", True),
        ("self.?if.hasValue()", True),
    ],
)
def test_a_field_that_is_a_reserved_word_may_be_selected_as_it_is(text: str, value: Any) -> None:
    of_self, convert = declared(WORDS), conversion.converter(WORDS)
    assert convert is not None

    program = CelEnvironment({"self": of_self.type}, of_self.objects(), BASE).compile(text)

    assert program.evaluate({"self": convert({"if": "x"})})[0] == value


@pytest.mark.parametrize(
    ("schema", "fields"),
    [(WHOLE, {"name", "generateName", "__namespace__"}), ({"type": "object"}, {"name", "generateName"})],
)
def test_a_resource_keeps_the_metadata_that_its_schema_describes(schema: dict[str, Any], fields: set[str]) -> None:
    assert set(declared(schema, is_resource=True).fields["metadata"].fields) == fields


def test_all_objects_inside_of_a_type_get_its_name() -> None:
    lists = {"type": "array", "items": WORDS}
    maps = {"type": "object", "additionalProperties": lists}

    named = declared({"type": "object", "properties": {"a": maps, "b": STRING}}).named("self7")

    assert set(named.objects()) == {"self7", "self7.a.@elem.@idx"}
    assert str(named.fields["a"].type) == "map(string, list(self7.a.@elem.@idx))"
