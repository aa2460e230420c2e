"""Names: the formats of object names, labels and keys, with kube-apiserver's messages.

Pure. Each check returns a list of mistakes; an empty list means valid. Messages contain the patterns, so these stand
here as Kubernetes writes them.
"""

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct
from msgspec.structs import replace

NameCheck = Callable[[str, bool], list[str]]
"""Checks the name of an object. The second argument is true for generateName, to which a suffix will be appended."""


def regex_error(message: str, pattern: str, *examples: str) -> str:
    """A message with the pattern and examples of valid values."""
    if not examples:
        return f"{message} (regex used for validation is '{pattern}')"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{message} (e.g. {shown}regex used for validation is '{pattern}')"


class TextFormat(Struct, frozen=True, dict=True):
    """One text format: its pattern, its maximal length in bytes (some messages say characters) and its message."""

    pattern: str
    message: str
    examples: Sequence[str]
    limit: int = 0
    unit: str = "characters"
    has_no_dots: bool = False
    """Whether a value that is valid except for its dots gets a message about the dots."""

    def check(self, value: str) -> list[str]:
        """The mistakes of a value. A text that fits its pattern is ASCII, so that its length is its bytes."""
        if self._fits(value) and not (self.limit and len(value) > self.limit):
            return []
        errors = []
        if self.limit and len(value.encode(errors="surrogateescape")) > self.limit:
            errors.append(f"must be no more than {self.limit} {self.unit}")
        if self.has_no_dots and "." in value and all(re.fullmatch(self.pattern, part) for part in value.split(".")):
            errors.append("must not contain dots")
        elif not self._fits(value):
            errors.append(regex_error(self.message, self.pattern, *self.examples))
        return errors

    @cached_property
    def _fits(self) -> Callable[[str], object]:
        return re.compile(self.pattern).fullmatch


_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

DNS1123_LABEL = TextFormat(
    _LABEL,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    ("my-name", "123-abc"),
    63,
    has_no_dots=True,
)
DNS1123_SUBDOMAIN = TextFormat(
    _SUBDOMAIN,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    ("example.com",),
    253,
)
_LABEL_WITH_UNDERSCORE = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"

DNS1123_SUBDOMAIN_WITH_UNDERSCORE = TextFormat(
    rf"{_LABEL_WITH_UNDERSCORE}(\.{_LABEL_WITH_UNDERSCORE})*",
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    "and must start and end with an alphanumeric character",
    ("example.com",),
    253,
)
DNS1035_LABEL = TextFormat(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character",
    ("my-name", "abc-123"),
    63,
)
LABEL_VALUE = TextFormat(
    f"({_KEY})?",
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    ("MyValue", "my_value", "12345"),
    63,
    "bytes",
)
CONFIG_KEY = TextFormat(
    "[-._a-zA-Z0-9]+",
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    ("key.name", "KEY_NAME", "key-name"),
    253,
)

HTTP_HEADER = TextFormat(
    "[-A-Za-z0-9]+", "a valid HTTP header must consist of alphanumeric characters or '-'", ("X-Header-Name",)
)

_LONGEST_KNOWN = 100
LONG_NAME = replace(DNS1123_SUBDOMAIN, unit="bytes")
_KEY_MESSAGE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_KEY_ERROR = regex_error(_KEY_MESSAGE, _KEY, "MyName", "my.name", "123-abc")


def check_qualified_name(value: str) -> list[str]:
    """A label key: an optional DNS prefix and a name, `example.com/MyName`. Cached, since objects repeat the same few
    keys.
    """
    return list(_known_name(value)) if len(value) <= _LONGEST_KNOWN else _check_qualified_name(value)


@lru_cache(maxsize=4096)
def _known_name(value: str) -> tuple[str, ...]:
    return tuple(_check_qualified_name(value))


def _check_qualified_name(value: str) -> list[str]:
    parts = value.split("/")
    if len(parts) > 2:
        return [
            f"a valid label key {_KEY_ERROR} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    errors = []
    if len(parts) == 2:
        errors += _check_prefix(parts[0])
    name = parts[-1]
    if not name:
        errors.append("name part must be non-empty")
    elif len(name.encode(errors="surrogateescape")) > 63:
        errors.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_KEY, name):
        errors.append(f"name part {_KEY_ERROR}")
    return errors


def _check_prefix(prefix: str) -> list[str]:
    if not prefix:
        return ["prefix part must be non-empty"]
    return [f"prefix part {error}" for error in LONG_NAME.check(prefix)]


def check_label_value(value: str) -> list[str]:
    """The mistakes of a label value."""
    return LABEL_VALUE.check(value)


def name_of(text_format: TextFormat) -> NameCheck:
    """The name check for objects whose names have this format."""

    def check(name: str, is_prefix: bool) -> list[str]:
        return text_format.check(_mask_trailing_dash(name) if is_prefix else name)

    return check


is_dns_subdomain = name_of(DNS1123_SUBDOMAIN)
is_dns_label = name_of(DNS1123_LABEL)
is_dns1035_label = name_of(DNS1035_LABEL)


def is_path_segment(name: str, is_prefix: bool) -> list[str]:
    """A name that fits between two slashes of a URL path."""
    if not is_prefix and name in {".", ".."}:
        return [f"may not be '{name}'"]
    if "/" not in name and "%" not in name:
        return []
    return [f"may not contain '{char}'" for char in ("/", "%") if char in name]


def _mask_trailing_dash(name: str) -> str:
    # The suffix is appended after the dash, so the dash is not the end. Upstream replaces two characters, too.
    return name[:-2] + "a" if len(name) > 1 and name.endswith("-") else name
