"""suggestions: the names that a user may have meant by an unknown flag, verb, resource or field. Pure.

Must hold: a name that nothing resembles gets no suggestion.
"""

import difflib
from collections.abc import Iterable

_MOST = 3


def did_you_mean(given: str, known: Iterable[str], mark: str = "") -> str:
    """The end of an error message: `: did you mean pods?`, or nothing. A wrong case counts as alike.

    mark: what names are shown with, such as dashes.
    """
    by_lower = {name.lower(): name for name in known}
    alike = difflib.get_close_matches(given.lower(), by_lower, n=_MOST)
    return f": did you mean {' or '.join(mark + by_lower[name] for name in alike)}?" if alike else ""
