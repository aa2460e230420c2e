"""Files: writes a file at once, with its mode set before it has content."""

import os
import tempfile
from pathlib import Path

PRIVATE = 0o600
PUBLIC = 0o644
_DIRECTORY = 0o700


def make_private(directory: Path) -> None:
    """Create a directory and its missing parents, with mode 0700.

    mkdir gives its mode to the last one only.
    """
    missing = [one for one in (directory, *directory.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=_DIRECTORY, exist_ok=True)


def put(path: Path, content: bytes, *, mode: int = PRIVATE) -> None:
    """Replace a file by a rename, so that readers see the old or the new content. Raises OSError with its name."""
    if mode == PRIVATE:
        make_private(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _replace(path, content, mode)
    except OSError as exc:
        exc.filename = str(path)  # neither a full disk nor the name of the temporary file says which file it is
        raise


def _replace(path: Path, content: bytes, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def put_changed(path: Path, content: bytes) -> bool:
    """Put a private file in place, unless it has this content already. Returns whether it was another one."""
    if path.exists() and path.read_bytes() == content:
        return False
    put(path, content)
    return True
