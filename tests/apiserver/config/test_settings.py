from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

import pytest
from pydantic import ValidationError

from aio_apiserver.apiserver.config import command_line, flag_grammar
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.flags import cores
from aio_apiserver.apiserver.config.flags.unused_flags import UNUSED
from aio_apiserver.apiserver.config.settings import Settings


def of(*arguments: str) -> Settings:
    return command_line.settings_of(flag_grammar.parse(arguments, command_line.flags(), UNUSED))


def test_every_field_is_a_flag_of_its_name() -> None:
    names = [flag.name.replace("-", "_") for flag in command_line.flags()]

    assert names == list(Settings.model_fields)


def test_no_flag_is_both_used_and_unused() -> None:
    assert not {flag.name for flag in command_line.flags()} & set(UNUSED)


def test_values_become_what_they_mean() -> None:
    chosen = of(
        "--secure-port=0",
        "--request-timeout=1m30s",
        "--etcd-servers=http://a:1,http://b:2",
        "--watch-cache=false",
        "--service-cluster-ip-range=10.1.2.3/16,fd00::/108",
        "--data-dir=/data",
        "-v=4",
    )

    assert (chosen.secure_port, chosen.request_timeout, chosen.watch_cache, chosen.v) == (0, 90.0, False, 4)
    assert chosen.etcd_servers == ("http://a:1", "http://b:2")
    assert chosen.service_cluster_ip_range == (IPv4Network("10.1.0.0/16"), IPv6Network("fd00::/108"))
    assert (chosen.pki_dir, chosen.kubeconfig_file) == (Path("/data/pki"), Path("/data/admin.kubeconfig"))


def test_auto_is_a_worker_for_each_usable_core() -> None:
    assert of("--workers=auto").workers == cores.usable()
    assert (of().workers, of("--workers=3").workers) == (1, 3)


@pytest.mark.parametrize(
    ("arguments", "backend"),
    [([], "sqlite"), (["--storage-backend=memory"], "memory"), (["--etcd-servers=http://a:1"], "etcd3")],
)
def test_the_backend_follows_from_the_servers(arguments: list[str], backend: str) -> None:
    assert of(*arguments).backend == backend


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["--secure-port=abc"],
            'invalid argument "abc" for "--secure-port" flag: strconv.ParseInt: parsing "abc": invalid syntax',
        ),
        (["--workers=0"], "--workers should be a positive number, but value '0' provided"),
        (
            ["--workers=some"],
            'invalid argument "some" for "--workers" flag: strconv.ParseInt: parsing "some": invalid syntax',
        ),
        (["--workers=2", "--testing"], "--testing cannot be used with several --workers"),
        (
            ["--anonymous-auth=maybe"],
            'invalid argument "maybe" for "--anonymous-auth" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (
            ["--request-timeout=5"],
            'invalid argument "5" for "--request-timeout" flag: time: missing unit in duration "5"',
        ),
        (
            ["-v=x"],
            'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax',
        ),
        (["--storage-backend=etcd2"], "--storage-backend invalid, allowed values: etcd3, sqlite, memory"),
        (["--storage-backend=etcd3"], "--etcd-servers must be specified"),
        (
            ["--storage-backend=memory", "--etcd-servers=a"],
            "--storage-backend=memory cannot be used with --etcd-servers",
        ),
        (["--tls-cert-file=a"], "--tls-cert-file and --tls-private-key-file must be given together"),
        (["--etcd-keyfile=a"], "--etcd-certfile and --etcd-keyfile must be given together"),
        (["--authorization-mode="], "at least one authorization-mode must be passed"),
        (
            ["--authorization-mode=RBAC,RBAC"],
            'authorization-mode ["RBAC" "RBAC"] has mode specified more than once',
        ),
        (
            ["--service-cluster-ip-range=10.0.0.0/24,10.0.1.0/24"],
            "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family",
        ),
        (
            ["--encryption-provider-config-automatic-reload"],
            "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config",
        ),
    ],
)
def test_complains_about_what_makes_no_sense(arguments: list[str], complaint: str) -> None:
    with pytest.raises(UsageError) as refusal:
        of(*arguments)

    assert str(refusal.value) == complaint


def test_settings_never_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        of().secure_port = 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--enable-admission-plugins=Nonsense"], 'enable-admission-plugins plugin "Nonsense" is unknown'),
        (["--disable-admission-plugins=priority"], 'disable-admission-plugins plugin "priority" is unknown'),
        (
            ["--enable-admission-plugins=Priority", "--disable-admission-plugins=Priority"],
            r"\[Priority\] in enable-admission-plugins and disable-admission-plugins overlapped",
        ),
    ],
)
def test_admission_plugins_are_named_as_they_are_and_once(arguments: list[str], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        of(*arguments)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--audit-log-format=xml"], 'invalid audit log format xml, allowed formats are "legacy,json"'),
        (["--audit-log-maxage=-1"], "--audit-log-maxage -1 can't be a negative number"),
        (
            ["--audit-webhook-mode=never"],
            'invalid audit webhook mode never, allowed modes are "batch,blocking,blocking-strict"',
        ),
        (
            ["--audit-log-truncate-max-batch-size=10"],
            r"invalid audit truncate log max batch size 10, must be greater than max event size \(102400\)",
        ),
        (
            ["--audit-log-batch-throttle-enable", "--audit-log-batch-throttle-burst=1"],
            "invalid audit batch log throttle qps 0.0, must be a positive number",
        ),
    ],
)
def test_an_audit_that_makes_no_sense_is_refused(arguments: list[str], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        of(*arguments)


def test_rates_have_fractions() -> None:
    with pytest.raises(UsageError, match="ParseFloat: parsing"):
        of("--audit-webhook-batch-throttle-qps=x")
    assert of("--audit-webhook-batch-throttle-qps=2.5").audit_webhook_batch_throttle_qps == 2.5
