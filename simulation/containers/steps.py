"""Steps: what a simulated program shows of its work: it writes, waits, or reads its standard input.

A program is a generator of steps that returns its exit code. The runner carries the steps out, and sends the input.
"""

from collections.abc import Generator
from typing import TypeAlias

from msgspec import Struct

OUT, ERROR = 1, 2
FOREVER = float("inf")


class Written(Struct, frozen=True):
    """Bytes on standard output or standard error."""

    data: bytes
    stream: int = OUT


class Pause(Struct, frozen=True):
    """So many seconds in which the program does nothing. FOREVER for a server, and 0 when its turn is over."""

    seconds: float


class Input(Struct, frozen=True):
    """Waits for bytes of standard input, which the runner sends to the generator. Empty bytes are the end."""


Step: TypeAlias = Written | Pause | Input
Steps: TypeAlias = Generator[Step, bytes | None, int]
