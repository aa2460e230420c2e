from aio_apiserver.apiserver.metrics import work_queues
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.measures import Histogram
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.controllers.runtime.work_queue import WorkQueue


async def test_a_queue_tells_what_waits_and_what_was_done() -> None:
    clock, tasks = ManualClock(), Tasks()
    queue = WorkQueue(clock, tasks)
    for key in ("a", "a", "b", "c"):
        queue.add(key)
    clock.advance(2)
    done = await queue.take()
    clock.advance(1)
    queue.done(done)
    queue.retry(done)
    await queue.take()
    clock.advance(4)

    told = {family.name: family.of("pods") for family in work_queues.families({"pods": queue})}

    numbers = {name: one.total if isinstance(one, Histogram) else one.value for name, one in told.items()}
    assert numbers == {
        "workqueue_adds_total": 3,
        "workqueue_retries_total": 1,
        "workqueue_depth": 1,
        "workqueue_unfinished_work_seconds": 4,
        "workqueue_longest_running_processor_seconds": 4,
        "workqueue_queue_duration_seconds": 2,
        "workqueue_work_duration_seconds": 1,
    }
    await tasks.close()
