"""stored_accounts: reads a service account from a store, for its uid, which its tokens name."""

from contextlib import AsyncExitStack

from aio_apiserver.apiserver.commands.checks import stored_values
from aio_apiserver.apiserver.commands.checks.stored_values import ValueReader
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine
from aio_apiserver.registry.generic.access.service_account_claims import Reference
from aio_apiserver.storage.transfer import opening
from aio_apiserver.storage.transfer.contents import directory_of


async def read(line: CommandLine, namespace: str, name: str) -> Reference:
    """A service account. Raises ValueError when there is none, StorageError."""
    prefix = directory_of(line.settings.etcd_prefix)
    key = prefix + f"serviceaccounts/{namespace}/{name}".encode()
    async with AsyncExitStack() as stack:
        source = await stack.enter_async_context(opening.reading(line.store))
        reader = ValueReader(prefix, await stored_values.transformers(line, stack))
        records = (await source.range(key, key + b"\0")).records
        value = await reader.read(records[0]) if records else None
    if value is None:
        raise ValueError(f"there is no service account {name} in the namespace {namespace}")
    if value.problem:
        raise ValueError(value.problem)
    return Reference(name, value.content["metadata"]["uid"])
