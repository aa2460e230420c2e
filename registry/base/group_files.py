"""group_files: the data files that the API groups keep beside their kinds (`registry/groups/apps/types.json`).

Lower floors read facts of a group's types from them, by the name of the group, without importing the group. A folder is
named after the first label of its group, as upstream's Go packages are: `rbac` for rbac.authorization.k8s.io.
"""

from functools import cache
from pathlib import Path

_GROUPS = Path(__file__).parent.parent / "groups"


@cache
def folders() -> frozenset[str]:
    """The folders of all groups."""
    return frozenset(folder.name for folder in _GROUPS.iterdir() if folder.is_dir() and folder.name[0] != "_")


def read(folder: str, name: str) -> bytes | None:
    """A file of a group; None when the group has none of this name, or when there is no such group."""
    path = _GROUPS / folder / name
    return path.read_bytes() if folder in folders() and path.exists() else None
