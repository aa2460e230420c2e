"""Port range: parses a range of ports in a flag: `30000-32767`, `30000+2767`, or a single port. Pure."""

import re

from aio_apiserver.registry.base.golang.quoting import quote

_FORMS = re.compile(r"(\d{1,5})(?:([-+])(\d{1,5}))?", re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)
_HIGHEST = 65535


def parse(text: str) -> range:
    """The ports of a range. Raises ValueError."""
    match = _FORMS.fullmatch(text.strip())
    if match is None:
        raise ValueError(_mistake(text))
    first, sign, second = int(match[1]), match[2], int(match[3] or 0)
    last = first if sign is None else second if sign == "-" else first + second
    if last > _HIGHEST:
        raise ValueError(f"the port range cannot be greater than {_HIGHEST}: {text}")
    if last < first:
        raise ValueError(f"end port cannot be less than start port: {text}")
    return range(first, last + 1)


def _mistake(text: str) -> str:
    """Go's message about the first part that is no number."""
    parts = re.split("[-+]", text.strip(), maxsplit=1)
    wrong = next((part for part in parts if not _NUMBER.fullmatch(part)), None)
    if wrong is None:
        return f"the port range cannot be greater than {_HIGHEST}: {text}"
    return f"strconv.Atoi: parsing {quote(wrong)}: invalid syntax"
