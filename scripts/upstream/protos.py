"""Protos: reads generated.proto files: the messages of a package, and the numbers, types and labels of their fields.

Pure. Must hold: fields keep their order, which is that of the Go structs.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from scripts.upstream.problems import NotUnderstood

_PACKAGE = re.compile(r"package ([\w.]+);")
_MESSAGE = re.compile(r"message (\w+) \{")
_FIELD = re.compile(r"(?:(optional|repeated) )?(map<\w+, ?[\w.]+>|[\w.]+) (\w+) = (\d+);")
_IGNORED = re.compile(r'syntax = "proto2";|import "[^"]+";|option \w+ = "[^"]*";|//.*|/\*.*|\*/|')


class ProtoField(NamedTuple):
    """A field of a message. label: optional, repeated or map."""

    name: str
    number: int
    type: str
    label: str


class ProtoPackage(NamedTuple):
    """The messages of one file, each with its fields in their order."""

    name: str
    messages: Mapping[str, tuple[ProtoField, ...]]


def parsed(path: str, source: str) -> ProtoPackage:
    """The package of a file. Raises NotUnderstood."""
    package, message = "", ""
    messages: dict[str, tuple[ProtoField, ...]] = {}
    for number, line in _lines(source):
        if match := _PACKAGE.fullmatch(line):
            package = match[1]
        elif match := _MESSAGE.fullmatch(line):
            message = match[1]
            messages[message] = ()
        elif match := _FIELD.fullmatch(line):
            if not message:
                raise NotUnderstood(path, number, f"a field outside of a message: {line!r}")
            field = ProtoField(match[3], int(match[4]), match[2].replace(", ", ","), match[1] or "map")
            messages[message] += (field,)
        elif line == "}":
            message = ""
        elif not _IGNORED.fullmatch(line):
            raise NotUnderstood(path, number, f"no line of a generated .proto file: {line!r}")
    if not package:
        raise NotUnderstood(path, 1, "the file names no package")
    return ProtoPackage(package, messages)


def _lines(source: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, without comments over several lines."""
    is_comment = False
    for number, line in enumerate(source.splitlines(), 1):
        text = line.strip()
        is_comment = is_comment or text.startswith("/*")
        if not is_comment:
            yield number, text
        is_comment = is_comment and "*/" not in text
