"""Budgets of selectors: how much of one is read. Pure.

A selector is parsed while every other request waits, for some clients before their rights are known, and each of its
requirements is matched with each object of a list. kube-apiserver bounds neither but by the size of a request's head.
Must hold: a selector over a budget is a BadRequest, and costs nothing but the look at its length.
"""

from aio_apiserver.registry.base.errors import BadRequest

LONGEST = 32 * 1024
"""Characters: four times what a usual proxy takes as a whole URL."""
MOST_REQUIREMENTS = 256


def check_length(text: str) -> None:
    """Raises BadRequest for a text that is too long to be read."""
    if len(text) > LONGEST:
        raise BadRequest(f"invalid selector: it has {len(text)} characters, and {LONGEST} are allowed")


def check_count(count: int) -> None:
    """Raises BadRequest for more requirements than are matched."""
    if count > MOST_REQUIREMENTS:
        raise BadRequest(f"invalid selector: it has more than {MOST_REQUIREMENTS} requirements")
