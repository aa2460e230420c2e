"""Text caches: caches by text, for texts that clients send again and again.

Must hold: a text of a client is kept only when it is short, so that a full cache is small whatever clients send.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

_LONGEST = 256

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[Concatenate[str, P], T]


def remember_short(most: int, *, longest: int = _LONGEST) -> Callable[[Work[P, T]], Work[P, T]]:
    """Keep the latest results, of texts that are not long. What else decides on a result has to be hashable."""

    def decorate(work: Work[P, T]) -> Work[P, T]:
        remembered = lru_cache(maxsize=most)(work)

        @wraps(work)
        def wrapped(text: str, *args: P.args, **kwargs: P.kwargs) -> T:
            return (remembered if len(text) <= longest else work)(text, *args, **kwargs)

        return cast("Work[P, T]", wrapped)

    return decorate
