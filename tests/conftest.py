"""What holds for all tests: examples are the same each time, slow machines fail none, temporary files go in the end."""

import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("same-everywhere", derandomize=True, deadline=None)
settings.load_profile("same-everywhere")


@pytest.fixture(autouse=True, scope="session")
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Files that clients leave behind (kubernetes.config writes each certificate to one) lie in pytest's own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
        yield
