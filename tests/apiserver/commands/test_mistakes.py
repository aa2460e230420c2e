"""Mistakes of operators: each ends with one line that names the path or flag, and often what to do. No file is left."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from aio_apiserver.apiserver import command
from tests.apiserver.commands.conftest import EmbeddedServer
from tests.apiserver.commands.stores import an_object, fill
from tests.apiserver.serving import LOOPBACK

_ON_STORES = ("backup @new", "check", "clone", "compact", "inspect", "migrate --to-data-dir=@new", "restore @good")
"""Commands that work on one store."""
SEE = "See 'apiserver {}' for usage."


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file, an empty folder and a store with its backup."""
    place = tmp_path_factory.mktemp("places")
    (place / "file").write_text("hi\n")
    (place / "folder").mkdir()
    fill(place / "store", {"configmaps/default/a": an_object("ConfigMap", "a")})
    assert command.run(["backup", str(place / "good"), f"--data-dir={place / 'store'}"]) == 0
    return place


def ended(arguments: Sequence[str], places: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and the errors of a command; `@` stands for the folder of the files."""
    before = sorted(places.iterdir())
    code = command.run([argument.replace("@", f"{places}/") for argument in arguments])
    assert sorted(places.iterdir()) == before
    return code, capsys.readouterr().err.replace(f"{places}/", "@")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("backup @new --data-dir=@file", "@file is not a directory"),
        ("backup @new --data-dir=@folder", "there is no store in @folder"),
        ("backup @folder --data-dir=@store", "@folder: Is a directory"),
        ("backup @none/new --data-dir=@store", "@none/new: No such file or directory"),
        ("compact --data-dir=@file", "@file is not a directory"),
        ("restore @good --data-dir=@file", "@file: Not a directory"),
        (
            "restore @good --data-dir=@store",
            "@store has a store already: name another one, or replace its objects with --replace",
        ),
        ("restore @file --data-dir=@new", "@file: it is no backup of this program"),
        ("migrate --data-dir=@store --to-data-dir=@store", "@store has a store already: name another one"),
        ("clone --kubeconfig @file --data-dir=@new", "@file: it is no kubeconfig to use: it has no clusters"),
        ("check-manifests --from 1.34 --to 1.36 @none", "@none: No such file or directory"),
        (
            "check --etcd-servers=https://127.0.0.1:1 --etcd-cafile=@none",
            "@none: no certificates for etcd: No such file or directory",
        ),
    ],
)
def test_a_wrong_path_is_named(arguments: str, message: str, places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(arguments.split(), places, capsys) == (1, f"Error: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message", "see"),
    [
        ("bakup @new", '"apiserver" does not take any arguments, got ["bakup" "@new"]: did you mean backup?', "--help"),
        ("backup --data-dir=@store", "backup needs the name of one file", "help backup"),
        (
            "kubeconfig --server api --data-dir=@store",
            "kubeconfig: --server must be a URL such as https://api.example:6443, got 'api'",
            "help kubeconfig",
        ),
        ("bench --connections=x", "bench: --duration and --connections must be above zero", "help bench"),
        ("help nothing", "help: there is no command 'nothing'", "help"),
        ("help backup more", "help: there is no command 'backup more'", "help"),
        (
            "inspect --backup @good --data-dir=@store",
            "inspect: --backup and --data-dir cannot be used together: name one source",
            "help inspect",
        ),
        (
            "check --etcd-servers=http://127.0.0.1:1 --backup=@good",
            "check: --backup and --etcd-servers cannot be used together: name one source",
            "help check",
        ),
        (
            "bench --kubeconfig @file --data-dir=@store",
            "bench: --kubeconfig and --data-dir cannot be used together: name one source",
            "help bench",
        ),
        *(
            (
                f"{command} --data-dir=@store --etcd-servers=http://127.0.0.1:1",
                f"{command.split()[0]}: --data-dir and --etcd-servers cannot be used together: name one source",
                f"help {command.split()[0]}",
            )
            for command in _ON_STORES
        ),
        ("check more --data-dir=@store", 'check takes flags alone, got ["more"]', "help check"),
        (
            "rotate --etcd-servers=http://127.0.0.1:1",
            "rotate needs one of service-account-key, ca, admin-token, got ''",
            "help rotate",
        ),
        (
            "kubeconfig --user alice --token --data-dir=@store",
            "kubeconfig: a token is of the administrator or of a service account; other users have a certificate",
            "help kubeconfig",
        ),
        (
            "kubeconfig --token --expiry 1h --data-dir=@store",
            "kubeconfig: --expiry does not change the administrator's token, which has no end",
            "help kubeconfig",
        ),
    ],
)
def test_invalid_arguments_lead_to_the_help_of_their_command(
    arguments: str, message: str, see: str, places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(arguments.split(), places, capsys) == (2, f"Error: {message}\n{SEE.format(see)}\n")


def test_a_store_in_use_is_named_with_its_process(
    embedded: EmbeddedServer, places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, message = ended(["restore", "@good", "--replace", embedded.store], places, capsys)

    assert code == 1
    assert message.startswith(f"Error: data directory {embedded.data_dir} is in use by process ")
    assert message.endswith(": stop it, or name another --data-dir\n")


def test_a_server_that_is_not_there_is_named_with_its_address(
    places: Path, free_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ended(["healthcheck", f"--secure-port={free_port}", f"--bind-address={LOOPBACK}"], places, capsys)

    assert asked == (
        1,
        f"Error: no answer from {LOOPBACK}:{free_port}: Connection refused (--bind-address, --secure-port)\n",
    )


def test_a_kubeconfig_that_is_not_there_can_be_named(
    places: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(places / "none"))

    asked = ended(["clone", "--data-dir=@new"], places, capsys)

    assert asked == (1, "Error: there is no @none: name a kubeconfig with --kubeconfig\n")


def test_an_inspection_that_finds_no_object_says_so(places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["inspect", "secrets", "--data-dir=@store"], places, capsys) == (0, "No objects found.\n")


def test_a_resource_that_is_not_there_is_named(places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = "Error: there is no resource named 'nothings': inspect without a name shows all\n"
    assert ended(["inspect", "nothings", "--data-dir=@store"], places, capsys) == (1, message)


def test_a_running_server_is_not_migrated(
    embedded: EmbeddedServer, places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, message = ended(["migrate", embedded.store, "--to-data-dir=@new"], places, capsys)

    assert code == 1
    assert message.startswith(f"Error: data directory {embedded.data_dir} is in use by process ")


def test_a_data_directory_without_a_kubeconfig_is_named(places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ended(["bench", "--data-dir=@store"], places, capsys)

    assert asked == (1, "Error: @store/admin.kubeconfig: No such file or directory\n")
