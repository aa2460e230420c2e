"""Kubeconfig: `apiserver kubeconfig`, a kubeconfig with new credentials, from the keys of a data directory or an etcd.

The server may run or not. A client certificate is signed by the CA of the server, a token of a service account by its
key. Must hold: no key and no certificate is written but to the output, or to the file of --merge.
"""

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from aio_apiserver.apiserver.access import service_account_keys
from aio_apiserver.apiserver.commands import kubeconfig_files
from aio_apiserver.apiserver.commands.checks import stored_accounts
from aio_apiserver.apiserver.commands.kubeconfig_files import KubeconfigEntry
from aio_apiserver.apiserver.commands.terminal import command_lines, output
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine, list_flag, switch, text_flag
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.replicas import shared_files
from aio_apiserver.apiserver.tls import certificates, contexts
from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.generic.access.service_account_claims import Bound
from aio_apiserver.registry.generic.access.token_issuer import TokenIssuer
from aio_apiserver.registry.generic.access.users import MASTERS, service_account_groups, split_service_account
from aio_apiserver.storage.encryption import strict_yaml
from aio_apiserver.storage.factory.factory import StorageFactory

_FORMS = ("yaml", "json")
_YEAR = "8760h"
_OWN = (
    text_flag("user", "The user of the credentials; the administrator when it is not given."),
    list_flag("group", "The groups of the user. A service account has its own without it."),
    switch(
        "token",
        "A token instead of a client certificate: that of the administrator, or a new one for the service account of "
        "--user=system:serviceaccount:NAMESPACE:NAME.",
    ),
    text_flag("expiry", "How long the new credentials are valid.", _YEAR),
    text_flag("server", "The URL of the server; that of the kubeconfig in --data-dir when it is not given."),
    text_flag("name", "The name of the cluster and of the administrator's context.", "aio-apiserver"),
    text_flag("merge", "A kubeconfig file to add the entries to, as ~/.kube/config, instead of printing them."),
    output.flag(_FORMS),
)
MANUAL = CommandManual(
    about="Prints a kubeconfig for the administrator, or for a user with a client certificate or a token. It reads the "
    "keys of the data directory, or those that servers share in etcd. The server may run or not.",
    usage=(
        "kubeconfig [--user USER [--group GROUP,...]] [--token] [--expiry 24h] [--server URL] [--name NAME] "
        "[--merge FILE] [-o yaml|json] [--data-dir=... | --etcd-servers=...]",
    ),
    flags=_OWN,
    examples=(
        CommandExample("kubeconfig --data-dir=data > admin.kubeconfig", "the administrator"),
        CommandExample("kubeconfig --merge ~/.kube/config --name edge --data-dir=data", "one more context for kubectl"),
        CommandExample("kubeconfig --user alice --group devs,testers --expiry 24h --data-dir=data", "a user for a day"),
        CommandExample(
            "kubeconfig --user system:serviceaccount:ci:robot --token --expiry 1h --data-dir=data",
            "the token of a service account",
        ),
        CommandExample(
            "kubeconfig --etcd-servers=http://127.0.0.1:2379 --server https://api.example:6443", "servers on one etcd"
        ),
    ),
)


class _Authority(Struct, frozen=True):
    """The settings whose --cert-dir has the keys, and the server as clients reach it."""

    settings: Settings
    server: str
    certificate: bytes


def run(arguments: Sequence[str]) -> int:
    """Print or merge the kubeconfig. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse_flags("kubeconfig", arguments, _OWN)
    if line.texts("group") and not line.text("user"):
        raise UsageError("kubeconfig: --group needs --user")
    if (url := line.text("server")) and not url.startswith(("https://", "http://")):
        raise UsageError(f"kubeconfig: --server must be a URL such as https://api.example:6443, got {url!r}")
    _check_token(line)
    form, seconds = output.form_of(line, _FORMS), _seconds(line.text("expiry"))
    return command_lines.run(lambda: _kubeconfig(line, form, seconds, SystemClock()))


def _check_token(line: CommandLine) -> None:
    """Raises UsageError for a token that there cannot be."""
    if not line.is_set("token"):
        return
    user = line.text("user")
    if user and split_service_account(user) is None:
        raise UsageError(
            "kubeconfig: a token is of the administrator or of a service account; other users have a certificate"
        )
    if not user and line.text("expiry") != _YEAR:
        raise UsageError("kubeconfig: --expiry does not change the administrator's token, which has no end")


async def _kubeconfig(line: CommandLine, form: str, seconds: float, clock: Clock) -> int:
    async with _authority(line, clock) as authority:
        credentials = await _credentials(line, authority.settings, seconds, clock)
    name, user = line.text("name"), line.text("user") or certificates.ADMIN
    document = kubeconfig_files.document(
        KubeconfigEntry(
            cluster=name,
            user=f"{user}@{name}",
            context=f"{user}@{name}" if line.text("user") else name,
            server=authority.server,
            authority=authority.certificate,
            credentials=credentials,
        )
    )
    if path := line.text("merge"):
        kubeconfig_files.merge(Path(path), document)
        sys.stdout.write(f"{path}: context {document['current-context']}\n")
    else:
        sys.stdout.write(output.text_of(form, document))
    return 0


@asynccontextmanager
async def _authority(line: CommandLine, clock: Clock) -> AsyncIterator[_Authority]:
    """Raises ValueError when there are no keys."""
    settings = line.settings
    if settings.etcd_servers:
        async with StorageFactory(line.store, clock=clock) as storage:
            assert storage.shared_secrets is not None, "etcd has them"
            async with shared_files.in_temporary_directory(settings, storage.shared_secrets, clock) as filled:
                authority = settings.tls_cert_file or certificates.authority(filled.pki_dir)
                yield _Authority(filled, line.text("server") or _url(settings), authority.read_bytes())
        return
    if not certificates.has_ca(settings.pki_dir):
        raise ValueError(f"{settings.pki_dir} has no certificate authority: name the --data-dir of a server")
    authority = settings.tls_cert_file or certificates.authority(settings.pki_dir)
    server = line.text("server") or _written_url(settings.kubeconfig_file) or _url(settings)
    yield _Authority(settings, server, authority.read_bytes())


def _written_url(path: Path) -> str:
    """The URL in the kubeconfig file that the server has written; empty without one."""
    try:
        cluster: Any = strict_yaml.load(path.read_bytes())["clusters"][0]["cluster"]
        return str(cluster["server"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _url(settings: Settings) -> str:
    host = settings.external_hostname or contexts.local_address(settings)
    return f"https://{host}:{settings.secure_port}"


async def _credentials(line: CommandLine, settings: Settings, seconds: float, clock: Clock) -> Mapping[str, str]:
    """Raises ValueError, StorageError."""
    user = line.text("user")
    account = split_service_account(user)
    if not line.is_set("token"):
        groups = [*(service_account_groups(account[0]) if account else ()), *line.texts("group")]
        pair = certificates.issued(
            settings.pki_dir, user or certificates.ADMIN, groups if user else [MASTERS], clock, seconds=seconds
        )
        return kubeconfig_files.certificate_credentials(*pair)
    if not user:
        return {"token": certificates.own_token(settings.pki_dir)}
    assert account is not None, "checked"
    found = await stored_accounts.read(line, *account)
    issuer = TokenIssuer(
        keys=service_account_keys.of(settings),
        issuers=settings.service_account_issuer,
        own_audiences=settings.api_audiences or settings.service_account_issuer,
    )
    bound = Bound(namespace=account[0], account=found)
    most = settings.service_account_max_token_expiration or seconds
    made = await issuer.issue(
        bound, audiences=issuer.own_audiences, now=int(clock.now()), seconds=int(min(seconds, most))
    )
    return {"token": made.token}


def _seconds(text: str) -> float:
    try:
        seconds = durations.parse(text)
    except durations.InvalidDuration as exc:
        raise UsageError(f"kubeconfig: --expiry: {exc}") from exc
    if seconds < 1:
        raise UsageError("kubeconfig: --expiry must be at least a second")
    return seconds
