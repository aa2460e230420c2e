"""subcommands: the table of subcommands: `apiserver NAME ...`. Each is a module with a `MANUAL` and a function `run`.

`run` takes the arguments after the name and returns the exit code. It raises UsageError. Must hold: a module is loaded
when its subcommand runs, so that a server starts without it.
"""

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from aio_apiserver.apiserver.config.manuals import CommandManual

_PACKAGE = "aio_apiserver"


class Subcommand(Struct, frozen=True):
    """A subcommand: its module, and what it does in one line."""

    module: str
    text: str

    def run(self, arguments: Sequence[str]) -> int:
        """Run it. Returns the exit code. Raises UsageError."""
        code: int = self._loaded.run(arguments)
        return code

    @property
    def manual(self) -> "CommandManual":
        manual: CommandManual = self._loaded.MANUAL
        return manual

    @property
    def _loaded(self) -> Any:
        return importlib.import_module(f"{_PACKAGE}.{self.module}")


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "backup": Subcommand(
        "apiserver.commands.backup", "Write all objects of a store to a file, also while its servers run."
    ),
    "bench": Subcommand("apiserver.commands.bench", "Measure a running server, as its clients see it."),
    "check": Subcommand(
        "apiserver.commands.check", "Verify a store: index, values, schemas, names and owner references."
    ),
    "check-manifests": Subcommand(
        "testing.check_manifests", "Show which manifests another minor of Kubernetes refuses, warns of or changes."
    ),
    "clone": Subcommand(
        "apiserver.commands.clone", "Copy the objects of a live cluster into the store of a local server."
    ),
    "compact": Subcommand("apiserver.commands.compact", "Remove the history of a store, and give its space back."),
    "completion": Subcommand(
        "apiserver.commands.completion", "Print the completion of commands and flags for a shell."
    ),
    "doctor": Subcommand("apiserver.commands.doctor", "Tell what would go wrong when a server starts, and what to do."),
    "healthcheck": Subcommand("apiserver.commands.healthcheck", "Ask the server of this machine whether it is ready."),
    "help": Subcommand("apiserver.commands.help", "List the commands, or explain one."),
    "inspect": Subcommand("apiserver.commands.inspect", "Show the objects of a data directory, an etcd or a backup."),
    "kubeconfig": Subcommand(
        "apiserver.commands.kubeconfig", "Print a kubeconfig for the administrator or another user."
    ),
    "migrate": Subcommand("apiserver.commands.migrate", "Copy a store to another one: embedded to etcd, and back."),
    "report": Subcommand(
        "apiserver.commands.report", "Write what happened lately on a running server to an HTML file."
    ),
    "restore": Subcommand("apiserver.commands.restore", "Make a store from a backup."),
    "rotate": Subcommand("apiserver.replicas.rotation", "Replace a key that all servers on one etcd share."),
    "versions": Subcommand(
        "apiserver.commands.versions", "List the minors of Kubernetes, with what is new and removed in each."
    ),
}
