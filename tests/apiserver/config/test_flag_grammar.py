import pytest

from aio_apiserver.apiserver.config import flag_grammar
from aio_apiserver.apiserver.config.flag_grammar import Flag, UsageError, Value
from aio_apiserver.apiserver.config.flags.flag_types import FlagType

FLAGS = [
    Flag("secure-port", FlagType.INT, "", ""),
    Flag("watch-cache", FlagType.BOOL, "", ""),
    Flag("etcd-servers", FlagType.LIST, "", ""),
    Flag("labels", FlagType.MAP, "", ""),
    Flag("etcd-prefix", FlagType.STRING, "", ""),
    Flag("v", FlagType.INT, "", "", shorthand="v"),
]
UNUSED = {"profiling": FlagType.BOOL, "oidc-issuer-url": FlagType.STRING}


def parse(*arguments: str) -> flag_grammar.Parsed:
    return flag_grammar.parse(arguments, FLAGS, UNUSED)


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (["--secure-port", "1"], {"secure-port": "1"}),
        (["--secure-port=1"], {"secure-port": "1"}),
        (["--secure_port=1"], {"secure-port": "1"}),
        (["--secure-port=1", "--secure-port=2"], {"secure-port": "2"}),
        (["--etcd-prefix", "--odd"], {"etcd-prefix": "--odd"}),
        (["--etcd-prefix="], {"etcd-prefix": ""}),
        (["--etcd-prefix=a=b"], {"etcd-prefix": "a=b"}),
        (["--watch-cache"], {"watch-cache": "true"}),
        (["--watch-cache=false"], {"watch-cache": "false"}),
        (["--etcd-servers=a,b", "--etcd-servers", "c"], {"etcd-servers": ("a", "b", "c")}),
        (["--etcd-servers="], {"etcd-servers": ()}),
        (['--etcd-servers="a,b",c'], {"etcd-servers": ("a,b", "c")}),
        (["--labels=a=1,b=2", "--labels=a=3"], {"labels": {"a": "3", "b": "2"}}),
        (["-v=4"], {"v": "4"}),
        (["-v", "4"], {"v": "4"}),
        (["-v4"], {"v": "4"}),
        (["--v=4"], {"v": "4"}),
        (["--secure-port=1", "--"], {"secure-port": "1"}),
        ([], {}),
    ],
)
def test_reads_every_way_of_writing_a_flag(arguments: list[str], values: dict[str, Value]) -> None:
    assert parse(*arguments).values == values


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--nope"], "unknown flag: --nope"),
        (["--nope=1"], "unknown flag: --nope"),
        (["-x"], "unknown shorthand flag: 'x' in -x"),
        (["--=1"], "bad flag syntax: --=1"),
        (["---a"], "bad flag syntax: ---a"),
        (["--secure-port"], "flag needs an argument: --secure-port"),
        (["-v"], "flag needs an argument: 'v' in -v"),
        (["stray"], '"apiserver" does not take any arguments, got ["stray"]'),
        (["--watch-cache", "false"], '"apiserver" does not take any arguments, got ["false"]'),
        (["--", "--secure-port=1"], '"apiserver" does not take any arguments, got ["--secure-port=1"]'),
        (["--labels=a"], 'invalid argument "a" for "--labels" flag: a must be formatted as key=value'),
    ],
)
def test_complains_in_gos_words(arguments: list[str], complaint: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse(*arguments)

    assert str(refusal.value) == complaint


def test_known_flags_without_effect_are_read_and_named_once() -> None:
    parsed = parse("--oidc-issuer-url", "https://x", "--profiling", "--v=1", "--profiling=false")

    assert parsed.ignored == ["oidc-issuer-url", "profiling"]
    assert parsed.values == {"v": "1"}


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["-hv4"], ["--help=true"]])
def test_help_is_asked_for(arguments: list[str]) -> None:
    assert parse(*arguments).wants_help


@pytest.mark.parametrize(("argument", "version"), [("--version", "true"), ("--version=raw", "raw"), ("-v1", "")])
def test_the_version_is_asked_for(argument: str, version: str) -> None:
    assert parse(argument).version == version
