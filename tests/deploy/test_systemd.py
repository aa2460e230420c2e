"""deploy/systemd: a unit whose command line the server understands."""

import configparser
import re
import shlex

import pytest

from aio_apiserver.apiserver.config import command_line, flag_grammar
from aio_apiserver.apiserver.config.flags.unused_flags import UNUSED
from aio_apiserver.apiserver.config.settings import Settings
from tests.paths import ROOT

UNIT = (ROOT / "deploy/systemd/aio-apiserver.service").read_text().replace("\\\n", " ")


def section() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes=("#",), delimiters=("=",))
    parser.read_string(UNIT)
    return parser["Service"]


def settings() -> Settings:
    variables = dict(re.findall(r"^Environment=(\w+)=(.*)$", UNIT, re.MULTILINE))
    variables["CREDENTIALS_DIRECTORY"] = "/run/credentials"
    command = re.sub(r"\$\{?(\w+)\}?", lambda match: variables[match[1]], section()["ExecStart"])
    program, *arguments = shlex.split(command)
    assert program.endswith("/bin/apiserver")
    parsed = flag_grammar.parse(arguments, command_line.flags(), UNUSED)
    assert parsed.ignored == []
    return command_line.settings_of(parsed)


def test_the_command_line_is_that_of_a_replica_with_a_directory_of_its_own() -> None:
    chosen = settings()

    assert chosen.backend == "etcd3"
    assert str(chosen.data_dir) == f"/var/lib/{section()['StateDirectory']}"


def test_the_credentials_are_those_that_the_unit_loads() -> None:
    loaded = set(re.findall(r"^LoadCredential=([^:]+):", UNIT, re.MULTILINE))
    chosen = settings()

    used = {path.name for path in (chosen.etcd_cafile, chosen.etcd_certfile, chosen.etcd_keyfile) if path is not None}
    assert used == loaded


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DynamicUser", "yes"),
        ("CapabilityBoundingSet", ""),
        ("LockPersonality", "yes"),
        ("MemoryDenyWriteExecute", "yes"),
        ("NoNewPrivileges", "yes"),
        ("PrivateUsers", "yes"),
        ("ProcSubset", "pid"),
        ("ProtectProc", "invisible"),
        ("ProtectSystem", "strict"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
        ("SystemCallFilter", "~@privileged @resources"),
    ],
)
def test_the_service_has_no_rights_that_it_does_not_need(name: str, value: str) -> None:
    """`systemd-analyze security --offline=true` rates them."""
    assert section()[name] == value


def test_systemd_waits_longer_than_the_server_takes_to_stop() -> None:
    chosen = settings()

    longest = chosen.shutdown_delay_duration + chosen.shutdown_watch_termination_grace_period
    assert longest < float(section()["TimeoutStopSec"].removesuffix("s"))
