"""Field selectors."""

import pytest

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.fields import text as text_at
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.machinery.selectors import fields
from aio_apiserver.storage.selection import Operator, Requirement

PODS = Kind(group="", plural="pods", kind="Pod", fields={"spec.nodeName": text_at("spec.nodeName")})
MAPS = Kind(group="", plural="configmaps", kind="ConfigMap")


@pytest.mark.parametrize(
    ("text", "name", "operator", "value"),
    [
        ("spec.nodeName=a", "spec.nodeName", Operator.IN, "a"),
        ("spec.nodeName==a", "spec.nodeName", Operator.IN, "a"),
        ("spec.nodeName!=a", "spec.nodeName", Operator.NOT_IN, "a"),
        ("spec.nodeName=", "spec.nodeName", Operator.IN, ""),
        (r"metadata.name=a\,b", "metadata.name", Operator.IN, "a,b"),
        (r"metadata.name=a\=b\\", "metadata.name", Operator.IN, "a=b\\"),
        (",metadata.name=a,", "metadata.name", Operator.IN, "a"),
        ("=,metadata.name=a,!=", "metadata.name", Operator.IN, "a"),
    ],
)
def test_a_selector_is_read(text: str, name: str, operator: Operator, value: str) -> None:
    assert fields.parse(text, PODS) == (Requirement(name, operator, frozenset({value})),)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("a", PODS, "invalid selector: 'a'; can't understand 'a'"),
        (r"metadata.name=\x", PODS, r"invalid field selector: invalid escape sequence: \x"),
        ("metadata.name=a=b", PODS, "invalid field selector: unescaped character in value: 61"),
        ("spec.x=1", PODS, "field label not supported: spec.x"),
        ("spec.z=1,spec.y=2", PODS, "field label not supported: spec.y"),
        ("x=1", MAPS, '"x" is not a known field selector: only "metadata.name", "metadata.namespace"'),
    ],
)
def test_what_cannot_be_selected_is_refused(text: str, kind: Kind, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        fields.parse(text, kind)

    assert caught.value.message == message
