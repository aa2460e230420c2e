"""runtime_words: why a container cannot start its program, in the words of containerd and runc."""

from aio_apiserver.simulation.processes.local_process import CannotStart

_NOT_FOUND = 127
_NOT_CREATED = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
    'unable to start container process: error during container init: exec: "{}": {}'
)


class NotCreated(Exception):
    """A container cannot start its command; the text is that of a container runtime."""

    def __init__(self, program: str, error: CannotStart) -> None:
        super().__init__(_NOT_CREATED.format(program, _why(program, error)))


def _why(program: str, error: CannotStart) -> str:
    if error.code != _NOT_FOUND:
        return str(error).lower()
    return f"stat {program}: no such file or directory" if "/" in program else "executable file not found in $PATH"
