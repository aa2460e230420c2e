"""Dealing: which queues a flow may use. Pure.

Each flow has a hand of queues, dealt by the hash of its name, so that two flows rarely share all of theirs. Must hold:
the same flow has the same hand on every server.
"""

import hashlib
from collections.abc import Sequence


def hash_of(schema: str, distinguisher: str) -> int:
    """The hash of a flow: a schema, and what tells its flows apart."""
    digest = hashlib.sha256(f"{schema}\0{distinguisher}".encode(errors="surrogateescape")).digest()
    return int.from_bytes(digest[:8], "little")


def hand_of(value: int, deck: int, size: int) -> Sequence[int]:
    """So many different numbers below the size of the deck.

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
