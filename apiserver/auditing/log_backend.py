"""Log backend: the audit backend of log files, one line for each event."""

from collections.abc import Callable, Sequence

from aio_apiserver.apiserver.auditing.backends import FailureReports
from aio_apiserver.apiserver.auditing.log_files import Output
from aio_apiserver.registry.generic.audit.trail import Event


class Log:
    """Writes lines on the event loop. The operating system buffers them, so that a thread would be slower."""

    def __init__(self, output: Output, line: Callable[[Event], bytes], troubles: FailureReports) -> None:
        self._output = output
        self._line = line
        self._troubles = troubles

    async def process(self, events: Sequence[Event]) -> bool:
        is_well = True
        for event in events:
            try:
                self._output.write(self._line(event))
            except OSError as exc:
                self._troubles.tell("log", str(exc), [event])
                is_well = False
        return is_well

    async def close(self) -> None:
        await self._output.close()
