"""Shuffle sharding: chooses the queues that a flow may use. Pure.

A flow gets a hand of queues by the hash of its name, so that two flows rarely share all of their queues. Must hold: a
flow has the same hand on every server.
"""

import hashlib
from collections.abc import Sequence


def hash_of(schema: str, distinguisher: str) -> int:
    """The hash of a flow: its schema and its flow distinguisher."""
    digest = hashlib.sha256(f"{schema}\0{distinguisher}".encode(errors="surrogateescape")).digest()
    return int.from_bytes(digest[:8], "little")


def hand_of(value: int, deck: int, size: int) -> Sequence[int]:
    """The numbers of a hand: `size` different numbers below `deck`.

    >>> hand_of(0, 4, 3)
    [0, 1, 2]
    """
    hand: list[int] = []
    remainders: list[int] = []
    for dealt in range(size):
        value, remainder = divmod(value, deck - dealt)
        card = remainder
        for earlier in reversed(remainders):
            if card >= earlier:
                card += 1
        remainders.append(remainder)
        hand.append(card)
    return hand
