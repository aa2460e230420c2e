"""Doctor: `apiserver doctor`, what would go wrong when a server starts with these flags, and what to do.

It takes the flags of serving and changes nothing. The server may run. Must hold: the exit code is 1 when there is a
problem. Warnings do not change it.
"""

from collections.abc import Sequence

import msgspec

from aio_apiserver.apiserver.commands import healthcheck
from aio_apiserver.apiserver.commands.checks import findings, machine_diagnoses, store_diagnoses
from aio_apiserver.apiserver.commands.terminal import command_lines, output
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine
from aio_apiserver.apiserver.config import manuals
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.base.clock import SystemClock

_OWN = (output.flag(),)
_HEAD = ("SEVERITY", "SUBJECT", "MESSAGE")
MANUAL = CommandManual(
    about="Tells what would go wrong when a server starts with these flags, and what to do. It looks at ports, files "
    "and their rights, certificates, the clock, the file system and disk space. Each etcd member is asked for its "
    "version, space and alarms. It changes nothing.",
    usage=("doctor [-o table|yaml|json] [flags of the server]",),
    flags=_OWN,
    finding="there is a problem; warnings do not count",
    examples=(
        CommandExample("doctor --data-dir=/var/lib/apiserver --secure-port=443", "an embedded store"),
        CommandExample("doctor --etcd-servers=https://etcd1:2379,https://etcd2:2379 --etcd-cafile=ca.pem", "two etcds"),
    ),
)


def run(arguments: Sequence[str]) -> int:
    """Print the diagnoses. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse_flags("doctor", arguments, _OWN)
    form = output.form_of(line)
    return command_lines.run(lambda: _doctor(line, form))


async def _doctor(line: CommandLine, form: str) -> int:
    is_serving = healthcheck.is_alive(line.settings)
    found = list(machine_diagnoses.diagnoses(line.settings, SystemClock(), is_serving=is_serving))
    found += [one async for one in store_diagnoses.diagnoses(line.store)]
    output.show(
        form,
        head=_HEAD,
        rows=[one.row for one in found],
        document=lambda: [msgspec.to_builtins(one) for one in found],
    )
    return manuals.FAILURE if findings.has_problem(one.severity for one in found) else manuals.SUCCESS
