"""Configuration files: read strictly, and never quoted."""

import pytest

from aio_apiserver.storage.encryption import strict_yaml


@pytest.mark.parametrize("text", [b"kind: A\nitems:\n- name: x\n", b'{"kind": "A", "items": [{"name": "x"}]}'])
def test_yaml_and_json_are_read(text: bytes) -> None:
    assert strict_yaml.load(text) == {"kind": "A", "items": [{"name": "x"}]}


def test_merged_keys_are_read() -> None:
    loaded = strict_yaml.load(b"base: &base {a: 1, b: 2}\nmore: {<<: *base, b: 3}\n")

    assert loaded["more"] == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"kind: A\nkind: B\n", r"line 2, column 1: key 'kind' already set"),
        (b"items:\n- {name: a, name: b}\n", r"line 2, column 13: key 'name' already set"),
        (b"secret: [hunter2\n", r"line 2, column 1: expected ',' or '\]', but got"),
        (b"a: 1\n---\nb: 2\n", r"line 2, column 1: but found another document"),
        (b"a: !!python/object:os.system hunter2\n", r"could not determine a constructor for the tag"),
        (b"secret: \x00hunter2\n", r"not a YAML file: ReaderError"),
        (b"secret: \xffhunter2\n", r"not a YAML file: ReaderError"),
        (b"? [a]\n: 1\n", r"line 1, column 3: found unhashable key"),
        (b"[" * 5_000, r"not a YAML file"),
        (b"when: 2026-99-99\n", r"not a YAML file: ValueError"),
    ],
)
def test_what_is_wrong_is_said_without_quoting_the_file(text: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        strict_yaml.load(text)

    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__
