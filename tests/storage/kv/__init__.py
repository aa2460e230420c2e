import pytest

pytest.register_assert_rewrite(
    "tests.storage.kv.checked_watch",
    "tests.storage.kv.contract",
    "tests.storage.kv.contract_compaction",
    "tests.storage.kv.contract_leases",
    "tests.storage.kv.contract_lifecycle",
    "tests.storage.kv.contract_reads",
    "tests.storage.kv.contract_watch_flow",
    "tests.storage.kv.contract_watches",
    "tests.storage.kv.contract_writes",
    "tests.storage.kv.machine",
    "tests.storage.kv.steps",
)
