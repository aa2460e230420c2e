import errno
from pathlib import Path

import pytest

from aio_apiserver.apiserver.config import command_line, flag_grammar
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.process import start_errors
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.testing import Server


def failure_of(**settings: object) -> tuple[Exception, Settings]:
    """What a start raises, and its settings."""
    server = Server(**settings)  # type: ignore[arg-type]
    with pytest.raises((OSError, ValueError, StorageError)) as failure:
        server.start()
    return failure.value, Settings(data_dir=Path("data"), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "flag",
    [
        "audit_policy_file",
        "authorization_config",
        "client_ca_file",
        "encryption_provider_config",
        "testing_faults",
        "token_auth_file",
    ],
)
def test_a_file_that_is_not_there_is_named_with_its_flag(flag: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    more = {"testing": True} if flag == "testing_faults" else {}

    message = start_errors.explain(*failure_of(**{flag: missing, **more}))

    assert message.startswith(f"--{flag.replace('_', '-')}")
    assert str(missing) in message


def test_a_key_of_another_certificate_is_named_with_its_flag(tmp_path: Path) -> None:
    (tmp_path / "tls.crt").write_text("no certificate")
    (tmp_path / "tls.key").write_text("no key")

    failure, settings = failure_of(tls_cert_file=tmp_path / "tls.crt", tls_private_key_file=tmp_path / "tls.key")

    assert start_errors.explain(failure, settings).startswith(f"--tls-private-key-file: {tmp_path}/tls.crt and ")


def test_a_port_in_use_is_named_with_the_remedy() -> None:
    with Server() as first:
        port = int(first.url.rpartition(":")[2])
        message = start_errors.explain(*failure_of(secure_port=port))

    assert message == f"--secure-port={port}: another process has the port; choose another one (0: any free port)"


def test_a_folder_that_cannot_be_made_is_named_with_its_flag(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = Settings(data_dir=tmp_path / "file" / "data")

    refused = NotADirectoryError(errno.ENOTDIR, "Not a directory", str(settings.data_dir / "pki"))
    forbidden = PermissionError(errno.EACCES, "Permission denied", str(settings.data_dir))

    assert start_errors.explain(refused, settings) == (
        f"--data-dir={settings.data_dir}: Not a directory: {settings.data_dir}/pki"
    )
    assert start_errors.explain(forbidden, settings).endswith("choose another one or change its permissions)")


def test_a_folder_whose_parents_cannot_be_made_is_named_with_its_flag() -> None:
    settings = Settings(data_dir=Path("/nonexistent/.local/share/aio-apiserver"))

    forbidden = PermissionError(errno.EACCES, "Permission denied", "/nonexistent")

    assert start_errors.explain(forbidden, settings).startswith(
        "--data-dir=/nonexistent/.local/share/aio-apiserver: Permission denied: /nonexistent (this user may not use it"
    )


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--etcd-server=http://a", "unknown flag: --etcd-server: did you mean --etcd-servers"),
        ("--secureport=1", "unknown flag: --secureport: did you mean --secure-port"),
        ("--colour=blue", "unknown flag: --colour$"),
    ],
)
def test_an_unknown_flag_gets_a_suggestion(argument: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        flag_grammar.parse([argument], command_line.flags(), {})
