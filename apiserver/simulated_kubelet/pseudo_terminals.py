"""Pseudo-terminals: the terminal of a local process, its size, and how a program takes it."""

import fcntl
import struct
import sys
import termios
from collections.abc import Mapping, Sequence

import orjson

from aio_apiserver.apiserver.simulated_kubelet import channels
from aio_apiserver.apiserver.simulated_kubelet.channels import ContainerStreams

_LANGUAGE = "LC_CTYPE"
_TAKE = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGPIPE", "SIGXFSZ"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
os.environ.pop("LC_CTYPE", None)
if sys.argv[1]:
    os.environ["LC_CTYPE"] = sys.argv[1]
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as exc:
    os.write(2, f"exec: {sys.argv[2]}: {exc.strerror}\\n".encode())
    os._exit(126 if isinstance(exc, PermissionError) else 127)
"""
"""Takes the terminal, takes back what Python, nohup or a shell set, and becomes the command."""


def taking(argv: Sequence[str], env: Mapping[str, str]) -> Sequence[str]:
    """The command that takes the terminal on its standard input, and becomes another command."""
    return sys.executable, "-I", "-S", "-c", _TAKE, env.get(_LANGUAGE, ""), *argv


async def follow_size(descriptor: int, streams: ContainerStreams) -> None:
    """Give a terminal each size that the client sends. A size that is malformed changes nothing."""
    while data := await streams.read(channels.RESIZE):
        try:
            size = orjson.loads(data)
            cells = struct.pack("HHHH", int(size["Height"]), int(size["Width"]), 0, 0)
        except (ValueError, TypeError, KeyError, struct.error):
            continue
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, cells)
