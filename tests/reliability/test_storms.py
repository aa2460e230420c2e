from pathlib import Path

from tests.reliability import storms
from tests.reliability.storms import Scale


async def test_informers_sync_after_a_kill_and_a_restart(tmp_path: Path) -> None:
    """Each informer checks that its list is complete."""
    storm = await storms.run(tmp_path, Scale(informers=30, objects=200, namespaces=4))

    assert storm.peak < 2 * storm.memory
