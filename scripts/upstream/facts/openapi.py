"""openapi: the defaults and enums that kube-openapi's generator has written beside the properties of the types.

They stand in pkg/generated/openapi/zz_generated.openapi.go, a function for each type, formatted by gofmt. It is read
by lines, since Go's own syntax of its four megabytes says no more. Must hold: each definition with properties has a
function.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scripts.upstream.facts import values
from scripts.upstream.facts.release import Release
from scripts.upstream.golang import parser
from scripts.upstream.golang.packages import Package
from scripts.upstream.golang.syntax import File
from scripts.upstream.problems import NotUnderstood, Unusable

PATH = "pkg/generated/openapi/zz_generated.openapi.go"
_FUNCTIONS = "\nfunc GetOpenAPIDefinitions("
_BY_TEXT = re.compile(r'\t\t"([\w./-]+)\.(\w+)": +(schema_\w+)\(ref\),')
_BY_TYPE = re.compile(r"\t\t(\w+)\.(\w+)\{\}\.OpenAPIModelName\(\): +(schema_\w+)\(ref\),")
_FUNCTION = re.compile(r"func (schema_\w+)\(")
_PROPERTY = re.compile(r'\t{5}"([^"]+)": \{')
_DEFAULT = re.compile(r"\t{7}Default: +(.+),")
_ENUM = re.compile(r"\t{7,}Enum: +(\[\]interface\{\}\{.*\}),")


@dataclass(slots=True)
class Property:
    """A property. default: its only element, if there is one. enum: that of the values, or of the elements."""

    default: list[Any] = field(default_factory=list)
    enum: list[str] | None = None


Properties = Mapping[str, Property]


def properties(release: Release) -> Mapping[str, Properties]:
    """The properties of each definition. Raises NotUnderstood and Unusable."""
    source = release.tree.read(PATH)
    head, found, rest = source.partition(_FUNCTIONS)
    if not found:
        raise NotUnderstood(PATH, 1, "there is no function GetOpenAPIDefinitions")
    reader = _Reader(release, parser.parsed(PATH, head))
    for number, line in enumerate(rest.splitlines(), head.count("\n") + 2):
        reader.read(number, line)
    missing = {name for names in release.definition_names.values() for name in names} - reader.types.keys()
    if missing:
        raise Unusable(f"{PATH} of {release.tree.release} has no function for {min(missing)}")
    return reader.types


class _Reader:
    """The state between two lines: the type and the property to which they belong."""

    def __init__(self, release: Release, head: File) -> None:
        self.types: dict[str, dict[str, Property]] = {}
        self._head = head
        self._names: dict[str, str] = {}
        self._constants = Package("", [head], release.packages)
        self._type: dict[str, Property] = {}
        self._property = Property()

    def read(self, number: int, line: str) -> None:
        if match := _BY_TEXT.fullmatch(line):
            self._names[match[3]] = _definition(match[1], match[2])
        elif match := _BY_TYPE.fullmatch(line):
            self._names[match[3]] = _definition(self._head.imports[match[1]], match[2])
        elif line.endswith("(ref),"):
            raise NotUnderstood(PATH, number, f"no name of a definition: {line.strip()!r}")
        elif match := _FUNCTION.match(line):
            self._begin(number, match[1])
        elif match := _PROPERTY.fullmatch(line):
            self._property = self._type[match[1]] = Property()
        elif match := _DEFAULT.fullmatch(line):
            self._property.default = [self._value(match[1])]
        elif match := _ENUM.fullmatch(line):
            self._property.enum = self._value(match[1])

    def _begin(self, number: int, function: str) -> None:
        is_exported = function.rpartition("_")[2][:1].isupper()
        if is_exported and function not in self._names:
            raise NotUnderstood(PATH, number, f"the function {function} has no definition")
        self._type = self.types.setdefault(self._names.get(function, ""), {})
        self._property = Property()

    def _value(self, text: str) -> Any:
        return values.json_of(self._constants, self._head, parser.expression(PATH, text))


def _definition(import_path: str, name: str) -> str:
    """The definition of a Go type; release.import_path_of is the way back."""
    definition = f"io.{import_path.replace('/', '.')}.{name}"
    return definition.replace("io.k8s.io.", "io.k8s.", 1)
