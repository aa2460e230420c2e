"""shown_arguments: lets `help()` show the arguments that a TypedDict names, as type checkers and editors do.

Must hold: no function is wrapped, so that calls cost nothing more.
"""

import inspect
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any, TypeVar, get_args

_C = TypeVar("_C", bound=type)


def shows_arguments(owner: _C) -> _C:
    """Put the fields of `**arguments: Unpack[Fields]` into the signatures of a class's methods."""
    for function in vars(owner).values():
        if inspect.isfunction(function) and function.__code__.co_flags & inspect.CO_VARKEYWORDS:
            _show(function)
    return owner


def _show(function: Callable[..., Any]) -> None:
    signature = inspect.signature(function)
    last = [*signature.parameters.values()][-1]
    if get_args(last.annotation):
        named = [one for one in signature.parameters.values() if one is not last]
        function.__dict__["__signature__"] = signature.replace(parameters=[*named, *_fields(last.annotation)])


def _fields(annotation: Any) -> Iterator[Parameter]:
    """The fields of Unpack[Fields]. All of them may be left out."""
    for name, kind in get_args(annotation)[0].__annotations__.items():
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=..., annotation=kind)
