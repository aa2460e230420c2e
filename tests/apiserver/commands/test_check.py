"""`apiserver check`: what is wrong with a store, and that nothing is wrong with what servers write."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from aio_apiserver.apiserver import command
from tests.apiserver.commands.conftest import EmbeddedServer
from tests.apiserver.commands.stores import an_object, crontabs, fill
from tests.storage.kv.etcd_server import Member


def references(name: str, uid: str) -> dict[str, object]:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}
    return {"ownerReferences": [owner]}


def findings(capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, Sequence[tuple[str, str, str]]]:
    """The exit code, and severity, check and place of each finding."""
    capsys.readouterr()
    code = command.run(["check", "-o", "json", *flags])
    found = json.loads(capsys.readouterr().out)["findings"]
    return code, [(one["severity"], one["check"], one["place"]) for one in found]


def test_what_a_server_has_stored_has_no_finding(
    embedded: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the server, and in a backup of it. No kind that a server makes by itself is left out."""
    backup = str(tmp_path / "a.backup")
    command.run(["backup", backup, embedded.store])

    assert findings(capsys, embedded.store) == (0, [])
    assert findings(capsys, f"--backup={backup}") == (0, [])


def test_objects_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crontab = an_object("CronTab", "bad", api_version="example.com/v1", spec={"replicas": "three"})
    fill(
        tmp_path,
        {
            "apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com": crontabs(),
            "configmaps/default/one": an_object("ConfigMap", "one", data={"a": "b"}),
            "configmaps/default/broken": b"no object",
            "configmaps/default/key": an_object("ConfigMap", "other"),
            "configmaps/default/twin": an_object("ConfigMap", "twin", metadata={"uid": "uid-one"}),
            "configmaps/default/type": an_object("ConfigMap", "type", data={"a": 1}),
            "configmaps/default/unknown": an_object("ConfigMap", "unknown", more=1),
            "configmaps/default/orphan": an_object("ConfigMap", "orphan", metadata=references("one", "uid-none")),
            "configmaps/default/child": an_object("ConfigMap", "child", metadata=references("twin", "uid-one")),
            "configmaps/default/wrong": an_object("ConfigMap", "wrong", metadata=references("one", "uid-type")),
            "example.com/crontabs/default/bad": crontab,
            "example.org/lost/default/undefined": an_object("Lost", "undefined", api_version="example.org/v1"),
        },
    )

    code, found = findings(capsys, f"--data-dir={tmp_path}")

    assert code == 1
    assert sorted(found) == [
        ("problem", "codec", "configmaps default/broken"),
        ("problem", "metadata", "configmaps default/key"),
        ("problem", "metadata", "configmaps default/twin"),
        ("problem", "owner", "configmaps default/wrong"),
        ("problem", "schema", "configmaps default/type"),
        ("warning", "owner", "configmaps default/orphan"),
        ("warning", "schema", "configmaps default/unknown"),
        ("warning", "schema", "crontabs.example.com default/bad"),
        ("warning", "schema", "lost.example.org default/undefined"),
    ]


def test_warnings_do_not_change_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(
        tmp_path,
        {"configmaps/default/orphan": an_object("ConfigMap", "o", metadata={"name": "orphan", **references("a", "b")})},
    )

    assert command.run(["check", f"--data-dir={tmp_path}"]) == 0
    head, row, end = capsys.readouterr().out.splitlines()
    assert head.split() == ["SEVERITY", "CHECK", "PLACE", "PROBLEM"]
    assert row.split()[:3] == ["warning", "owner", "configmaps"]
    assert end == "1 objects checked, 0 problems"


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM records WHERE id = (SELECT max(id) FROM records)",
        "DELETE FROM heads",
        "UPDATE heads SET is_live = 0",
        "UPDATE heads SET lease = 7",
        "UPDATE heads SET id = (SELECT min(id) FROM records)",
        "UPDATE state SET compact_revision = 1000",
    ],
)
def test_an_index_that_disagrees_with_the_records_is_a_problem(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path, {f"configmaps/default/{name}": an_object("ConfigMap", name) for name in "ab"})
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute(damage)
    connection.close()

    code, found = findings(capsys, f"--data-dir={tmp_path}")

    assert code == 1
    assert ("problem", "index") in {(severity, check) for severity, check, _ in found}


@pytest.fixture(scope="module")
def member() -> Iterator[Member]:
    with Member() as started:
        yield started


def test_an_etcd_is_checked_with_its_alarms(member: Member, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fill(tmp_path, {"configmaps/default/one": an_object("ConfigMap", "one")})
    command.run(["migrate", f"--data-dir={tmp_path}", f"--to-etcd-servers={member.endpoint}"])
    capsys.readouterr()

    assert findings(capsys, f"--etcd-servers={member.endpoint}") == (0, [])
