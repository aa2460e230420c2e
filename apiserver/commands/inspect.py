"""Inspect: `apiserver inspect`, the objects of a data directory, an etcd or a backup, without a server.

It reads what this server and what kube-apiserver have stored, encrypted values with --encryption-provider-config.
Must hold: the exit code is 1 when a value cannot be read.
"""

import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence, Set
from contextlib import AsyncExitStack
from pathlib import Path

from aio_apiserver.apiserver.commands.checks import stored_names, stored_values
from aio_apiserver.apiserver.commands.checks.stored_values import StoredValue, ValueReader
from aio_apiserver.apiserver.commands.terminal import command_lines, output
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine, list_flag, text_flag
from aio_apiserver.apiserver.config import manuals
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.transfer import archive, opening
from aio_apiserver.storage.transfer.contents import contents_of, directory_of

_OWN = (
    output.flag(),
    text_flag("namespace", "The objects of this namespace.", short="n"),
    list_flag("backup", "A backup and its increments, in place of a store."),
)
MANUAL = CommandManual(
    about="Shows the objects of a data directory, an etcd or a backup. The servers of the store may run. Values of "
    "kube-apiserver are read, too, and encrypted ones with --encryption-provider-config. RESOURCE may be a singular "
    "or a short name, as for kubectl.",
    usage=(
        "inspect [RESOURCE[.GROUP] [NAME] | RESOURCE/NAME] [-n NAMESPACE] [-o table|yaml|json] "
        "[--backup FILE,... | --data-dir=... | --etcd-servers=...]",
    ),
    flags=_OWN,
    finding="a value cannot be read",
    examples=(
        CommandExample("inspect --data-dir=data", "all objects of a data directory, as a table"),
        CommandExample("inspect deployments.apps -n default -o yaml --backup monday.backup", "from a backup"),
        CommandExample(
            "inspect secrets -o yaml --data-dir=data --encryption-provider-config=encryption.yaml", "encrypted ones"
        ),
    ),
)
_HEAD = ("RESOURCE", "NAMESPACE", "NAME", "APIVERSION", "REVISION", "BYTES", "FORM")


def run(arguments: Sequence[str]) -> int:
    """Print the objects. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse(arguments, _OWN)
    command_lines.check_one_source("inspect", line, "backup", *command_lines.STORE_FLAGS)
    form = output.form_of(line)
    words = [part for word in line.words for part in word.split("/", 1)]
    if len(words) > 2:
        raise UsageError("inspect takes one resource and one name")
    resource, name = (*words, "", "")[:2]
    return command_lines.run(lambda: _inspect(line, form, resource, name))


async def _inspect(line: CommandLine, form: str, resource: str, name: str) -> int:
    async with AsyncExitStack() as stack:
        transformer_for = await stored_values.transformers(line, stack)
        reader = ValueReader(directory_of(line.settings.etcd_prefix), transformer_for)
        read = [value async for record in _records(line, stack) if (value := await reader.read(record)) is not None]
    wanted = stored_names.resources_of(resource, read) if resource else None
    found = [value for value in read if _is_wanted(value, wanted, name, line.text("namespace"))]
    _PRINTERS[form](found)
    if not found:
        sys.stderr.write("No objects found.\n")
    for value in found:
        if value.problem:
            sys.stderr.write(f"Error: {value.problem}\n")
    return manuals.FAILURE if any(value.problem for value in found) else 0


async def _records(line: CommandLine, stack: AsyncExitStack) -> AsyncIterator[Record]:
    if files := line.texts("backup"):
        async for record in archive.restorable(*map(Path, files)).records():
            yield record
        return
    source = await stack.enter_async_context(opening.reading(line.store))
    async for record in (await contents_of(source, line.settings.etcd_prefix)).records():
        yield record


def _is_wanted(value: StoredValue, wanted: Set[GroupResource] | None, name: str, namespace: str) -> bool:
    return (
        (wanted is None or value.resource in wanted) and name in ("", value.name) and namespace in ("", value.namespace)
    )


def _print_table(found: Sequence[StoredValue]) -> None:
    output.table(_HEAD, [_row(value) for value in found])


def _row(value: StoredValue) -> Sequence[str]:
    resource = f"{value.resource.resource}.{value.resource.group}".rstrip(".")
    api_version = str(value.content.get("apiVersion", ""))
    record = value.record
    form = value.form if not value.problem else f"{value.form} unreadable".strip()
    return (
        resource,
        value.namespace or "-",
        value.name,
        api_version or "-",
        str(record.mod_revision),
        str(len(record.value)),
        form,
    )


def _print_yaml(found: Iterable[StoredValue]) -> None:
    documents = (yaml.dump(value.content).decode() for value in found if not value.problem)
    sys.stdout.write("---\n".join(documents))


def _print_json(found: Iterable[StoredValue]) -> None:
    items = [value.content for value in found if not value.problem]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    sys.stdout.write(output.text_of("json", listed))


_PRINTERS: Mapping[str, Callable[[Sequence[StoredValue]], None]] = {
    "table": _print_table,
    "yaml": _print_yaml,
    "json": _print_json,
}
