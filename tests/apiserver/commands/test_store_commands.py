"""The subcommands that work on a store: backup, restore, inspect, migrate, on real stores."""

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from aio_apiserver.apiserver import command
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers.protobuf import storage_form
from aio_apiserver.storage.codec import JSON, MSGPACK
from aio_apiserver.storage.encryption.service import Encryption
from aio_apiserver.storage.kv.sqlite import SqliteKV
from tests.storage.kv.etcd_server import Member
from tests.storage.transfer.copies import in_directory

SECRETS = GroupResource("", "secrets")


def a_config_map(name: str) -> dict[str, object]:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"}, "data": {}}


CRON_TAB = {"kind": "CronTab", "apiVersion": "stable.example.com/v1", "metadata": {"name": "c", "namespace": "default"}}
VALUES = {
    "configmaps/default/msgpack": MSGPACK.encode(a_config_map("msgpack")),
    "configmaps/default/json": JSON.encode(a_config_map("json")),
    "configmaps/other/protobuf": storage_form.codec_of(builtin()).encode(a_config_map("protobuf")),
    "stable.example.com/crontabs/default/c": JSON.encode(CRON_TAB),
}


async def fill(directory: Path, values: dict[str, bytes]) -> None:
    kv = await SqliteKV.open(directory)
    for name, value in values.items():
        await kv.put(f"/registry/{name}".encode(), value, expected_mod_revision=0)
    await kv.close()


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    asyncio.run(fill(tmp_path / "data", VALUES))
    return tmp_path / "data"


@pytest.fixture(scope="module")
def member() -> Iterator[Member]:
    with Member() as started:
        yield started


def test_a_restored_data_directory_is_equal_to_the_one_that_was_backed_up(data_dir: Path, tmp_path: Path) -> None:
    backup, new = str(tmp_path / "a.backup"), tmp_path / "new"

    assert command.run(["backup", backup, f"--data-dir={data_dir}"]) == 0
    assert command.run(["restore", backup, f"--data-dir={new}"]) == 0

    assert asyncio.run(in_directory(new)) == asyncio.run(in_directory(data_dir))


def test_a_store_with_objects_is_replaced_on_request_alone(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup = str(tmp_path / "a.backup")
    command.run(["backup", backup, f"--data-dir={data_dir}"])
    before = asyncio.run(in_directory(data_dir))
    asyncio.run(fill(data_dir, {"configmaps/default/more": VALUES["configmaps/default/json"]}))

    assert command.run(["restore", backup, f"--data-dir={data_dir}"]) == 1
    assert "--replace" in capsys.readouterr().err
    assert command.run(["restore", backup, "--replace", f"--data-dir={data_dir}"]) == 0

    after = asyncio.run(in_directory(data_dir))
    assert after.values == before.values
    assert after.revision > before.revision


def test_inspect_shows_every_form_of_values_and_selects(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["inspect", f"--data-dir={data_dir}"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in table] == ["FORM", "json", "msgpack", "protobuf", "json"]
    assert table[-1].split()[:4] == ["crontabs.stable.example.com", "default", "c", "stable.example.com/v1"]

    assert command.run(["inspect", "configmaps", "-n", "other", "-o", "yaml", f"--data-dir={data_dir}"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    assert (shown["kind"], shown["metadata"]["name"]) == ("ConfigMap", "protobuf")

    assert command.run(["inspect", "configmaps", "json", "-ojson", f"--data-dir={data_dir}"]) == 0
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert item["metadata"]["resourceVersion"] == "3"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["cm"], ["json", "msgpack", "protobuf"]),
        (["ConfigMap/json"], ["json"]),
        (["configmap", "msgpack"], ["msgpack"]),
        (["crontabs.stable.example.com"], ["c"]),
        (["ct"], ["c"]),
    ],
)
def test_inspect_knows_the_names_of_kubectl(
    words: list[str], names: list[str], data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "shortNames": ["ct"]}
    definition = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "d"},
    }
    value = MSGPACK.encode({**definition, "spec": {"group": "stable.example.com", "names": named}})
    asyncio.run(fill(data_dir, {"apiextensions.k8s.io/customresourcedefinitions/d": value}))

    assert command.run(["inspect", "-o", "json", f"--data-dir={data_dir}", *words]) == 0

    assert [item["metadata"]["name"] for item in json.loads(capsys.readouterr().out)["items"]] == names


def test_words_may_come_behind_flags(data_dir: Path, tmp_path: Path) -> None:
    backup = str(tmp_path / "a.backup")
    command.run(["backup", f"--data-dir={data_dir}", backup])

    assert command.run(["restore", "--replace", backup, f"--data-dir={data_dir}"]) == 0


def test_inspect_reads_a_backup_and_encrypted_values_with_their_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = base64.b64encode(b"0" * 32).decode()
    config = tmp_path / "encryption.yaml"
    config.write_text(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n"
        f"  providers: [{{aescbc: {{keys: [{{name: one, secret: {secret}}}]}}}}]\n"
    )

    async def encrypted() -> bytes:
        encryption = await Encryption.start(config, clock=SystemClock())
        value = MSGPACK.encode({**a_config_map("s"), "kind": "Secret"})
        sealed = await encryption.transformer("", "secrets").to_storage(value, b"/registry/secrets/default/s")
        await encryption.close()
        return sealed

    asyncio.run(fill(tmp_path / "data", {"secrets/default/s": asyncio.run(encrypted())}))
    backup = str(tmp_path / "a.backup")
    command.run(["backup", backup, f"--data-dir={tmp_path / 'data'}"])
    capsys.readouterr()

    assert command.run(["inspect", "--backup", backup]) == 1
    assert "k8s:enc:aescbc:v1:one" in capsys.readouterr().err
    assert command.run(["inspect", "--backup", backup, f"--encryption-provider-config={config}"]) == 0
    assert capsys.readouterr().out.split()[-2:] == ["encrypted", "msgpack"]


def test_a_store_goes_to_etcd_and_back(data_dir: Path, tmp_path: Path, member: Member) -> None:
    back = tmp_path / "back"

    assert command.run(["migrate", f"--data-dir={data_dir}", f"--to-etcd-servers={member.endpoint}"]) == 0
    assert command.run(["migrate", f"--etcd-servers={member.endpoint}", f"--to-data-dir={back}"]) == 0

    assert asyncio.run(in_directory(back)).values == asyncio.run(in_directory(data_dir)).values


def test_a_migration_whose_comparison_was_interrupted_is_only_compared(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    migrate = ["migrate", f"--data-dir={data_dir}", f"--to-data-dir={tmp_path / 'new'}"]
    assert command.run(migrate) == 0

    assert command.run(migrate) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 keys written; 4 keys are equal on both sides"

    asyncio.run(fill(tmp_path / "new", {"configmaps/default/more": VALUES["configmaps/default/json"]}))
    assert command.run(migrate) == 1
    assert "has a store already" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["backup"], ["restore"], ["migrate"], ["inspect", "-o", "xml"], ["help", "x"]])
def test_a_wrong_command_line_has_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(arguments) == 2
    assert capsys.readouterr().err.startswith("Error: ")


def test_a_failure_names_the_directory_or_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    for arguments in (
        ["backup", str(tmp_path / "b"), f"--data-dir={tmp_path / 'none'}"],
        ["restore", str(tmp_path / "file"), f"--data-dir={tmp_path / 'none'}"],
        ["restore", str(tmp_path / "none"), f"--data-dir={tmp_path / 'none'}"],
    ):
        assert command.run(arguments) == 1
        assert str(tmp_path) in capsys.readouterr().err
