"""The fast tier: what starts a process is left out, also behind helpers."""

from tests.fast_tier import starts_processes
from tests.paths import ROOT


def test_a_module_that_imports_a_starter_starts_processes() -> None:
    assert starts_processes(ROOT / "tests" / "house" / "test_loading.py")


def test_a_module_whose_helper_starts_processes_does_so_too() -> None:
    assert starts_processes(ROOT / "tests" / "apiserver" / "commands" / "test_kubeconfig.py")


def test_a_module_of_plain_functions_does_not() -> None:
    assert not starts_processes(ROOT / "tests" / "base" / "test_budget.py")
