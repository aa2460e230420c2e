"""Templates of Stages."""

from typing import Any

import pytest

from aio_apiserver.simulation.stages import templates
from aio_apiserver.simulation.stages.template_values import TemplateFailure
from aio_apiserver.simulation.stages.unsupported import Unsupported

OBJ: dict[str, Any] = {
    "metadata": {"name": "a", "annotations": {"x/y": "z"}},
    "spec": {"replicas": 3, "items": [{"n": "one"}, {"n": "two"}], "map": {"b": 2, "a": 1}},
}


def _rendered(source: str) -> str:
    given = {"Now": lambda: "2026-01-01T00:00:00Z", "PodIPWith": lambda *about: "|".join(map(str, about))}
    return templates.parse(source)(OBJ, given)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("x {{ .metadata.name }} y", "x a y"),
        ("{{ .missing.deeper }}", "<no value>"),
        ("x  {{- .metadata.name -}}  y", "xay"),
        ("a{{/* not shown }} */}}b", "ab"),
        ('{{ "}}" }}', "}}"),
        ("{{ $x := .metadata }}{{ $x.name }}{{ $.metadata.name }}", "aa"),
        ("{{ with .metadata }}{{ .name }}{{ end }}", "a"),
        ("{{ with .missing }}{{ . }}{{ else }}none{{ end }}", "none"),
        ("{{ if .missing }}1{{ else if eq .metadata.name `a` }}2{{ else }}3{{ end }}", "2"),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ end }}{{ $x }}", "2"),
        ("{{ range .spec.items }}{{ .n }},{{ end }}", "one,two,"),
        ("{{ range $i, $one := .spec.items }}{{ $i }}{{ $one.n }}{{ end }}", "0one1two"),
        ("{{ range $one := .spec.items }}{{ $one.n }}{{ end }}", "onetwo"),
        ("{{ range $k, $v := .spec.map }}{{ $k }}{{ $v }}{{ end }}", "a1b2"),
        ("{{ range .missing }}x{{ else }}none{{ end }}", "none"),
        ("{{ (index .spec.items 1).n }}", "two"),
        ('{{ index .metadata.annotations "x/y" | Quote }}', '"z"'),
        ('{{ or ( index .missing "x" ) "b" }}', "b"),
        ("{{ and .metadata.name .missing }}", "<no value>"),
        ("{{ if or (not .missing) (not .metadata) }}yes{{ end }}", "yes"),
        ("{{ len .spec.items }}", "2"),
        ("{{ len (dict `a` 1) }}", "1"),
        ("{{ .spec.replicas | Quote }}", '"3"'),
        ('{{ printf "kwok-%s" .metadata.name }}', "kwok-a"),
        ("{{ default 5 .missing }}", "5"),
        ("{{ Now | Quote }}", '"2026-01-01T00:00:00Z"'),
        ('{{ PodIPWith "n" ( or .spec.hostNetwork false ) "u" }}', "n|False|u"),
        ("{{ YAML .spec.map 1 }}", "\n  a: 1\n  b: 2\n  "),
    ],
)
def test_a_template_renders_as_in_go(source: str, text: str) -> None:
    assert _rendered(source) == text


@pytest.mark.parametrize(
    "source",
    [
        "{{ unknown .a }}",
        "{{ define `x` }}{{ end }}",
        "{{ template `x` }}",
        "{{ if .a }}",
        "{{ end }}",
        "{{ .a | .b }}",
        "{{ .a .b }}",
        "{{ (.a }}",
        "{{ .a",
        "{{ break }}",
        "{{ 1 + 2 }}",
        r'{{ "\x41" }}',
        pytest.param("{{ " + '"a"' * 100, id="many texts in an action without an end"),
        pytest.param("{{ " + "/**/" * 100, id="many comments in an action without an end"),
        pytest.param("{{" * 10_000, id="many actions without an end"),
        pytest.param("{{ " + "(" * 10_000 + "1" + ")" * 10_000 + " }}", id="many brackets in each other"),
        pytest.param("{{ if 1 }}" * 10_000 + "{{ end }}" * 10_000, id="many blocks in each other"),
    ],
)
def test_other_parts_of_go_templates_are_named_as_unsupported(source: str) -> None:
    with pytest.raises(Unsupported):
        templates.parse(source)


@pytest.mark.parametrize(
    "source",
    [
        '{{ printf "%d" | index "a" }}',
        "{{ index .spec.items 5 }}",
        "{{ .metadata.name.deeper }}",
        "{{ range 5 }}{{ end }}",
        "{{ $x }}",
    ],
)
def test_a_template_that_does_not_fit_an_object_fails(source: str) -> None:
    with pytest.raises(TemplateFailure):
        _rendered(source)
