"""Path elements: their one form, their order, their look in messages."""

import pytest

from aio_apiserver.registry.machinery.patch.apply import elements


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("f:name", "f:name"),
        ('k:{ "port": 80.0, "name": "a" }', 'k:{"name":"a","port":80}'),
        ('v: "<x>"', 'v:"\\u003cx\\u003e"'),
        ("v:1.50", "v:1.5"),
        ("i:07", "i:7"),
        ("x:later", None),
    ],
)
def test_an_element_has_one_form(written: str, form: str | None) -> None:
    assert elements.normalized(written) == form


@pytest.mark.parametrize("written", ["", "f", "name", "k:[]", "k:{", "v:{", "i:x"])
def test_what_is_no_element_is_an_error(written: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        elements.normalized(written)


def test_elements_are_ordered_by_kind_and_numbers_by_value() -> None:
    ordered = [
        ".",
        "f:a",
        "f:b",
        'k:{"port":80}',
        'k:{"port":443}',
        'k:{"port":"80"}',
        "v:2",
        "v:10",
        'v:"a"',
        "v:true",
        "i:2",
        "i:10",
    ]

    assert sorted(ordered, key=elements.order) == ordered


def test_a_path_shows_keys_values_and_places() -> None:
    path = ("f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:names", 'v:"a\\"b"', "i:3")

    assert elements.path_text(path) == '.spec.ports[port=80,protocol="TCP"].names[="a\\"b"][3]'
    assert (
        elements.path_text(['k:{"name":{},"port":{"a":[1,null]},"size":1e30}']) == "[name=,port=a=[1,null],size=1e+30]"
    )


def test_keys_are_the_same_element_however_they_are_told() -> None:
    names, values = ("containerPort", "protocol"), (80, "TCP")

    assert elements.of_key_values(names, values) == elements.of_keys({"protocol": "TCP", "containerPort": 80.0})
    assert elements.of_key_values(("on",), (True,)) == 'k:{"on":true}'
    assert elements.of_key_values(("on",), (1,)) == 'k:{"on":1}'
    assert elements.of_text_key("name", "a") == elements.of_keys({"name": "a"})
