"""mounted_files: copies of a container's volumes in the directory of its run, and the texts that name their paths.

A local process sees no mounts. The containers of a pod share its emptyDir volumes. Must hold: no copy is outside of
the directory.
"""

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from aio_apiserver.base.unstructured import Object


def place(directory: Path, pod: Object, container: Object, files: Mapping[str, bytes]) -> None:
    """Write the files of volumes by path into a directory that is empty. Raises OSError."""
    if any(directory.iterdir()):
        return
    for path, data in files.items():
        target = _below(directory, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    shared = {one["name"] for one in pod["spec"].get("volumes") or () if "emptyDir" in one}
    for mount in container.get("volumeMounts") or ():
        if mount["name"] in shared:
            inside = _below(directory.parent / "volumes" / mount["name"], mount.get("subPath") or "")
            inside.mkdir(parents=True, exist_ok=True)
            _link(_below(directory, mount["mountPath"]), inside)


def _below(directory: Path, path: str) -> Path:
    return directory / posixpath.normpath(f"/{path}").lstrip("/")


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(target)


class MovedPaths:
    """The paths at which a container mounts volumes, moved into its directory."""

    def __init__(self, directory: Path, container: Object) -> None:
        paths = {posixpath.normpath(one["mountPath"]) for one in container.get("volumeMounts") or ()} - {"/"}
        known = "|".join(re.escape(one) for one in sorted(paths, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w./-])(?:{known})(?![\w.-])") if known else None
        self._directory = str(directory)

    def text(self, text: str) -> str:
        """An argument or a variable that names the copies."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._directory + found[0], text)
