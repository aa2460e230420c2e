"""validation_errors: pydantic's validation errors as one line for the author of a configuration file or a test. Pure.

Must hold: each error names its field; an unknown field gets a suggestion.
"""

from collections.abc import Iterable
from typing import Any

import pydantic

from aio_apiserver.apiserver.config.suggestions import did_you_mean

_UNKNOWN = "extra_forbidden"


def describe(failure: pydantic.ValidationError, known: Iterable[str] = ()) -> str:
    """All errors, with their fields. known: the fields for suggestions."""
    fields = list(known)
    return "; ".join(_line(error, fields) for error in failure.errors(include_url=False))


def _line(error: Any, known: list[str]) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    if error["type"] == _UNKNOWN and known:
        return f"there is no field {place!r}{did_you_mean(str(error['loc'][-1]), known)}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
