"""Raw files: which modules create or write files without base/private_files.py, each with its reason.

A file at a path that a user names can be a trap of another user, and files of this program hold secrets.
"""

import ast
from collections.abc import Iterator

from tests.house.sources import Source, product

_WRITES = frozenset({"write_bytes", "write_text", "mkstemp", "NamedTemporaryFile"})
_CREATES = frozenset({"O_CREAT"})
_MODES = frozenset("wax+")

WRITERS = {
    "apiserver.auditing.log_files": "gzip, into a file of the helper",
    "apiserver.commands.kubeconfig_files": "the lock of client-go, which is new or refused",
    "apiserver.config.logs": "a lock in the private folder of workers",
    "apiserver.tls.bundles": "a temporary file for the ssl module",
    "base.private_files": "the helper",
    "simulation.containers.archives": "a tar archive in memory",
    "simulation.processes.local_containers": "files of a container, in a private folder",
    "storage.kv.sqlite.data_dir": "files of the data directory: new, or opened without following links",
    "storage.kv.sqlite.disk_reserve": "a new file without content",
    "storage.kv.unix.revision_page": "memory that workers share, in their private folder",
    "testing.golden": "recordings of tests, which hold no secrets",
    "testing.reports": "lines for the summary page of a job, which hold no secrets",
}


def _is_write(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in _WRITES | _CREATES:
            return True
        case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="open")):
            return any(_is_mode(argument) for argument in (*node.args, *(one.value for one in node.keywords)))
    return False


def _is_mode(argument: ast.expr) -> bool:
    """Whether an argument is the mode of a file that is written."""
    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
        return False
    return bool(argument.value) and set(argument.value) <= set("rwxabt+") and bool(_MODES & set(argument.value))


def _writers() -> Iterator[Source]:
    for source in product():
        if any(_is_write(node) for node in ast.walk(source.tree)):
            yield source


def test_only_listed_modules_write_files_without_the_helper() -> None:
    assert {source.name for source in _writers()} == set(WRITERS)
