"""Files that others read: there whole or not at all, and for whom they are meant from the first moment on."""

import os
import tempfile
from pathlib import Path

PRIVATE = 0o600
PUBLIC = 0o644


def put(path: Path, content: bytes, *, mode: int = PRIVATE) -> None:
    """Put a file in place at once; what was there before is gone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
