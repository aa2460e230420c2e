"""On etcd, each worker follows etcd by itself, and none needs another one for the store."""

import os
from pathlib import Path
from signal import SIGKILL

from tests.apiserver.workers.running import CONFIG_MAPS, address_of, connected, workers
from tests.storage.kv.etcd_server import Member


async def test_the_end_of_the_first_worker_stops_no_write_at_another(tmp_path: Path) -> None:
    with Member() as etcd:
        flags = (f"--etcd-servers={etcd.endpoint}",)
        async with workers(tmp_path, *flags, backend="etcd3") as started, connected(address_of(started)) as both:
            first, other = both
            watching = await address_of(started).connect_to(1)
            await watching.watch(CONFIG_MAPS)
            one = await first.ask(CONFIG_MAPS, method="POST", body={"metadata": {"name": "one"}})

            os.kill(first.pid, SIGKILL)
            two = await other.ask(CONFIG_MAPS, method="POST", body={"metadata": {"name": "two"}})
            seen = [(await watching.event())["object"]["metadata"] for _ in range(2)]
            listed = await other.ask(CONFIG_MAPS)
            await watching.close()

    assert [one.status, two.status] == [201, 201]
    assert seen == [one.json["metadata"], two.json["metadata"]]
    assert [item["metadata"] for item in listed.json["items"]] == seen
