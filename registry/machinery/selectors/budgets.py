"""Budgets: the limits on the size of label and field selectors. Pure.

A selector is parsed on the event loop, for some clients before their rights are known. Each of its requirements is
matched with each object of a list. kube-apiserver has no limit but that of a request's head.

Must hold: a selector over a budget is a BadRequest after a check of its length.
"""

from aio_apiserver.registry.base.errors import BadRequest

LONGEST = 32 * 1024
"""Characters: four times the limit of a usual proxy for a whole URL."""
MOST_REQUIREMENTS = 256


def check_length(text: str) -> None:
    """Raises BadRequest for a text that is too long."""
    if len(text) > LONGEST:
        raise BadRequest(f"invalid selector: it has {len(text)} characters, and {LONGEST} are allowed")


def check_count(count: int) -> None:
    """Raises BadRequest for too many requirements."""
    if count > MOST_REQUIREMENTS:
        raise BadRequest(f"invalid selector: it has more than {MOST_REQUIREMENTS} requirements")
