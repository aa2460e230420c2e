from aio_apiserver.apiserver.config import command_line, usage
from aio_apiserver.apiserver.config.settings import ENVIRONMENT
from tests.paths import ROOT

DOCS = ROOT / "docs" / "flags.md"


def test_the_documentation_is_what_the_settings_say() -> None:
    assert DOCS.read_text() == usage.markdown(), "python -m aio_apiserver.apiserver.usage > docs/flags.md"


def test_help_names_every_flag_and_variable() -> None:
    text = usage.help_text()

    assert all(f"--{flag.name} " in text or f"--{flag.name}\n" in text for flag in command_line.flags())
    assert all(name in text for name in ENVIRONMENT)


def test_help_is_grouped_as_kube_apiservers() -> None:
    groups = [line for line in usage.help_text().splitlines() if line.endswith(" flags:")]

    assert groups == [
        "Local flags:",
        "Generic flags:",
        "Etcd flags:",
        "Secure serving flags:",
        "Authentication flags:",
        "Authorization flags:",
        "Admission flags:",
        "Auditing flags:",
        "Features flags:",
        "Logs flags:",
        "Traces flags:",
        "Misc flags:",
        "Global flags:",
    ]


def test_help_fits_the_terminal() -> None:
    assert max(map(len, usage.help_text(100).split("Environment:")[0].splitlines())) <= 100
