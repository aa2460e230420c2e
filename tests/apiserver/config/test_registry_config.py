"""The registry's configuration, made from flags."""

import pytest

from aio_apiserver.apiserver.config import registry_config
from tests.apiserver.config.test_settings import of


@pytest.mark.parametrize(
    ("arguments", "workers"),
    [
        ([], 1),
        (["--simulate"], 16),
        (["--simulate", "--delete-collection-workers=1"], 1),
        (["--simulate", "--delete-collection-workers=20"], 20),
        (["--delete-collection-workers=3"], 3),
    ],
)
def test_a_number_of_deletion_workers_that_is_given_counts_in_a_simulated_cluster(
    arguments: list[str], workers: int
) -> None:
    settings = of(*arguments)

    assert registry_config.config_of(settings).delete_collection_workers == workers
