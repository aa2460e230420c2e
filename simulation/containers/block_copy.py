"""Block copy: `dd` in simulated containers, for files, devices of zeros and random bytes, and pipes.

Must hold: a device gives no more than the largest file.
"""

import os
import re
from collections.abc import Generator, Mapping, Sequence

from aio_apiserver.simulation.containers.files import MOST_BYTES, FileError
from aio_apiserver.simulation.containers.shell import Shell
from aio_apiserver.simulation.containers.steps import ERROR, Step, Steps, Written

_SIZE = re.compile(r"([0-9]{1,12})([cwbkKMG]?)B?")
_UNITS = {"": 1, "c": 1, "w": 2, "b": 512, "k": 1024, "K": 1024, "M": 1024**2, "G": 1024**3}
_USUAL_BLOCK = 512
_ZEROS, _RANDOM = "/dev/zero", ("/dev/urandom", "/dev/random")
_RANDOM_BYTES_A_STEP = 512
_OPERANDS = ("if", "of", "bs", "count", "skip", "conv", "status", "iflag", "oflag")


def dd(shell: Shell, arguments: Sequence[str]) -> Steps:
    """Copy blocks from a file or standard input to a file or standard output."""
    shell.budget.spend(len(arguments))
    given = dict(one.split("=", 1) for one in arguments if "=" in one)
    unknown = [one for one in arguments if one.partition("=")[0] not in _OPERANDS or "=" not in one]
    if unknown:
        return (yield from shell.fail("dd", f"unrecognized operand '{unknown[0]}'"))
    block = _number(given.get("bs", str(_USUAL_BLOCK)))
    if not block:
        raise FileError(f"invalid number '{given['bs']}'")
    data = yield from _input(shell, given, block)
    if "of" in given:
        _write(shell, given, data)
    else:
        yield from shell.write(data)
    if given.get("status") != "none":
        records = f"{len(data) // block}+{int(bool(len(data) % block))} records"
        yield Written(f"{records} in\n{records} out\n".encode(), ERROR)
    return 0


def _write(shell: Shell, given: Mapping[str, str], data: bytes) -> None:
    """Write the file. Raises FileError."""
    try:
        shell.files.write(shell.path(given["of"]), data)
    except FileError as exc:
        raise FileError(f"can't open '{given['of']}': {exc}") from None


def _number(text: str) -> int:
    """A number of bytes or blocks. Raises FileError."""
    size = _SIZE.fullmatch(text)
    if size is None:
        raise FileError(f"invalid number '{text}'")
    return int(size[1]) * _UNITS[size[2]]


def _input(shell: Shell, given: Mapping[str, str], block: int) -> Generator[Step, bytes | None, bytes]:
    """The blocks to copy. Raises FileError."""
    skipped = _number(given.get("skip", "0")) * block
    most = _number(given["count"]) * block if "count" in given else None
    source = given.get("if")
    if source == _ZEROS or source in _RANDOM:
        if most is None or most > MOST_BYTES:
            raise FileError("No space left on device")
        shell.budget.make(most)
        if source == _ZEROS:
            return bytes(most)
        shell.budget.spend(most // _RANDOM_BYTES_A_STEP)
        return os.urandom(most)
    data = (yield from shell.input()) if source is None else _read(shell, source)
    shell.budget.make(len(data))
    return data[skipped:] if most is None else data[skipped : skipped + most]


def _read(shell: Shell, name: str) -> bytes:
    try:
        return shell.files.read(shell.path(name))
    except FileError as exc:
        raise FileError(f"can't open '{name}': {exc}") from None
