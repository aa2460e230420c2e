"""What kube-apiserver answered, read and printed again; what it refused, refused in the same words."""

import re
from typing import Any

import orjson
import pytest
import yaml

from aio_apiserver.registry.machinery.schema import DecodeError, ObjectType, yaml_keys
from aio_apiserver.registry.machinery.schema.ordering import as_printed
from tests.registry.machinery.schema import recordings
from tests.registry.machinery.schema.recordings import Step

_REFUSED = re.compile(r'\w+ in version "\w+" cannot be handled as a \w+: (.*)', re.DOTALL)
_ANOTHER_KIND = re.compile(r"unknown conversion$|^no kind ")
_STRICT = "strict decoding error: "
_TIME = re.compile(r"2006-01-02T15:04:05(\.000000)?Z07:00|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def objects() -> list[tuple[Step, ObjectType, Any]]:
    """The recorded objects of built-in kinds."""
    found = ((step, recordings.type_of(value), value) for step in recordings.steps() for value in step.objects())
    return [(step, kind, recordings.filled(kind.node, value)) for step, kind, value in found if kind is not None]


def writes() -> list[tuple[Step, ObjectType, bytes, str]]:
    """The recorded bodies of built-in kinds as JSON, with what a strict reader of YAML says of them."""
    found = []
    for step in recordings.steps():
        if step.request.get("method") in {"POST", "PUT"} and step.request.get("body") is not None:
            text, complaint = _as_json(step)
            kind = recordings.type_of(_parsed(text))
            if kind is not None and b'"${ca}"' not in text:
                found.append((step, kind, text, complaint))
    return found


def _as_json(step: Step) -> tuple[bytes, str]:
    text = recordings.text_of(step.request)
    if step.request.get("headers", {}).get("Content-Type") != "application/yaml":
        return text, ""
    try:
        value = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return b"", ""
    return orjson.dumps(as_printed(value)), yaml_keys.duplicates(yaml.compose(text, Loader=yaml.CSafeLoader))


def _parsed(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def test_every_recorded_object_prints_as_it_was_recorded() -> None:
    recorded = objects()

    assert len(recorded) > 4000
    for step, kind, value in recorded:
        expected = orjson.dumps(value)
        decoded = kind.decode(value, text=expected)
        printed = recordings.without(kind.canonical(decoded.obj), step.request.get("ignore", []))
        assert orjson.dumps(printed) == expected, step.name
        assert decoded.strict_errors == (), step.name


def test_every_recorded_body_is_refused_or_taken_as_it_was_recorded() -> None:
    recorded = writes()

    assert len(recorded) > 4000
    for step, kind, text, complaint in recorded:
        message, strict_errors = _outcome(kind, text)
        if complaint:
            strict_errors = [complaint, *strict_errors]
        refused = _REFUSED.fullmatch(step.message)
        expected = refused[1] if refused and not _ANOTHER_KIND.search(refused[1]) else ""
        if message or expected:
            got = message or _STRICT + ", ".join(strict_errors)
            assert _without_times(got) == _without_times(expected), step.name
        elif step.answer["status"] in {200, 201} and "fieldValidation=Ignore" not in step.request["path"]:
            assert _warnings(strict_errors) == _field_warnings(step), step.name


def _outcome(kind: ObjectType, text: bytes) -> tuple[str, list[str]]:
    """The error of decoding (if any), and what is found in strict decoding."""
    try:
        return "", [*kind.decode(orjson.loads(text), text=text).strict_errors]
    except DecodeError as exc:
        return exc.message, []


def _without_times(message: str) -> str:
    return _TIME.sub("<time>", message.replace("<time>07:00", "<time>"))


def _warnings(strict_errors: list[str]) -> list[str]:
    return [warning for error in strict_errors for warning in yaml_keys.warnings(error)]


def _field_warnings(step: Step) -> list[str]:
    texts = (text.encode("latin-1", errors="ignore").decode(errors="ignore") for text in step.warnings)
    return [text for text in texts if text.startswith(("unknown field", "duplicate field", "line "))]


@pytest.mark.parametrize(
    ("api_version", "kind", "patched", "message"),
    [
        ("apps/v1", "Deployment", {"spec": {"replicas": "three"}}, "unrecognized type: int32"),
        ("apps/v1", "Deployment", {"metadata": {"labels": {"a": 5}}}, "cannot convert int64 to string"),
        ("v1", "ConfigMap", {"data": {"a": 5}}, "cannot convert int64 to string"),
        ("v1", "ConfigMap", {"data": {"a": True}, "immutable": "no"}, "unrecognized type: bool"),
    ],
)
def test_strategic_patches_end_in_the_recorded_words(
    api_version: str, kind: str, patched: dict[str, Any], message: str
) -> None:
    kind_of_object = recordings.type_of({"apiVersion": api_version, "kind": kind})
    assert kind_of_object is not None

    with pytest.raises(DecodeError) as refusal:
        kind_of_object.convert(patched)

    assert refusal.value.message == message
