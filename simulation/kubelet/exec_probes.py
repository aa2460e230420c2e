"""exec_probes: the probes of a container that run a command in it, and what their results decide.

Pure. Times are seconds of the pod's age. As in a kubelet, the other probes wait for the startup probe. A result
counts when so many in a row are alike as the probe's threshold says.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.kubelet.process_runs import ProcessRun

STARTUP, READINESS, LIVENESS = "startup", "readiness", "liveness"
_KINDS = (STARTUP, READINESS, LIVENESS)
_NOT_BEGUN = -1


class ExecProbe(Struct, frozen=True):
    """A probe with its defaults. Times are in seconds."""

    kind: str
    command: tuple[str, ...]
    delay: float
    period: float
    timeout: float
    successes: int
    failures: int
    grace: float | None
    """The seconds that a container has to stop when it fails; None for those of its pod."""

    def threshold(self, *, has_passed: bool) -> int:
        """The number of results in a row that count."""
        return self.successes if has_passed else self.failures


class ProbeTally(Struct, frozen=True):
    """The results of a probe: when the next one is due, what they have decided, and how many were alike in a row."""

    due: float
    decision: bool | None = None
    last: bool | None = None
    count: int = 0

    def after(self, probe: ExecProbe, age: float, *, has_passed: bool) -> "ProbeTally":
        """The tally with a new result."""
        count = self.count + 1 if has_passed == self.last else 1
        decision = has_passed if count >= probe.threshold(has_passed=has_passed) else self.decision
        due = self.due + probe.period
        return ProbeTally(due if due > age else age + probe.period, decision, has_passed, count)


class ProbedRun(Struct, frozen=True):
    """The probes of a container, and their results in its run with this number.

    known: a run that a probe has ended, or one from before this server's start. Later runs follow from it.
    """

    probes: Mapping[str, ExecProbe]
    number: int = _NOT_BEGUN
    tallies: Mapping[str, ProbeTally] = {}
    known: ProcessRun | None = None
    codes: Mapping[int, int] = {}
    """The exit codes of the last runs that a probe has ended, by number."""
    first_start: float | None = None
    """When the startup probe has passed for the first time."""

    def begun(self, number: int, began: float) -> "ProbedRun":
        """The same container in its next run."""
        tallies = {kind: ProbeTally(began + probe.delay) for kind, probe in self.probes.items()}
        return replace(self, number=number, tallies=tallies)

    def decided(self, *, has_started: bool, is_ready: bool) -> "ProbedRun":
        """The same run as an earlier server has seen it."""
        before = {STARTUP: has_started, READINESS: is_ready}
        tallies = {kind: replace(one, decision=before.get(kind) or None) for kind, one in self.tallies.items()}
        return replace(self, tallies=tallies)

    def ended(self, run: ProcessRun) -> "ProbedRun":
        """The same container after a probe has ended its run."""
        codes = {number: code for number, code in self.codes.items() if number == run.number - 1}
        return replace(self, known=run, codes={**codes, run.number: run.code})

    def after(self, probe: ExecProbe, age: float, *, has_passed: bool) -> "ProbedRun":
        """The same run with a new result."""
        tally = self.tallies[probe.kind].after(probe, age, has_passed=has_passed)
        made = replace(self, tallies={**self.tallies, probe.kind: tally})
        return replace(made, first_start=age) if made.has_started and self.first_start is None else made

    @property
    def start(self) -> float | None:
        """When the container has started for the first time; None when it has no startup probe."""
        if STARTUP not in self.probes:
            return None
        return float("inf") if self.first_start is None else self.first_start

    @property
    def has_started(self) -> bool:
        return self._decision(STARTUP) is True

    @property
    def is_ready(self) -> bool:
        return self.has_started and self._decision(READINESS) is True

    def _decision(self, kind: str) -> bool | None:
        """What a probe has decided. A probe that is not there has passed."""
        return self.tallies[kind].decision if kind in self.tallies else True

    @property
    def failed(self) -> str:
        """The kind of the probe for whose failure the container has to be ended; empty without one."""
        ending = (kind for kind in (STARTUP, LIVENESS) if self._decision(kind) is False)
        return next(ending, "")

    @property
    def next_due(self) -> float:
        """The age at which the next probe has to be carried out."""
        return min((self.tallies[kind].due for kind in self._active()), default=float("inf"))

    def due(self, age: float) -> ExecProbe | None:
        """A probe that has to be carried out now."""
        return next((self.probes[kind] for kind in self._active() if self.tallies[kind].due <= age), None)

    def _active(self) -> Iterator[str]:
        """The kinds of the probes that are carried out in the present state."""
        if self.failed:
            return
        yield from (kind for kind in self.tallies if (kind == STARTUP) != self.has_started)


def are_in(pod: Object) -> bool:
    """Whether a container of a pod has such a probe."""
    spec = pod["spec"]
    return any(of(one) for member in ("containers", "initContainers") for one in spec.get(member) or ())


def of(container: Mapping[str, Any]) -> Sequence[ExecProbe]:
    """The probes of a container that run a command."""
    given = ((kind, container.get(f"{kind}Probe")) for kind in _KINDS)
    return [_probe(kind, probe) for kind, probe in given if probe and probe.get("exec")]


def _probe(kind: str, given: Mapping[str, Any]) -> ExecProbe:
    return ExecProbe(
        kind,
        tuple(given["exec"].get("command") or ("true",)),
        float(given.get("initialDelaySeconds") or 0),
        float(given.get("periodSeconds") or 10),
        float(given.get("timeoutSeconds") or 1),
        int(given.get("successThreshold") or 1),
        int(given.get("failureThreshold") or 3),
        given.get("terminationGracePeriodSeconds"),
    )


def first_seen(container: Mapping[str, Any], shown: Mapping[str, Any], began: float, ended: float) -> ProbedRun:
    """The probes of a container with the status `shown`, which is empty for a new pod.

    began, ended: when the run that it shows began and ended, as ages of the pod.
    """
    probes = {one.kind: one for one in of(container)}
    made = ProbedRun(probes, first_start=began if shown.get("started") else None)
    if not shown.get("containerID"):
        return made
    number, state = int(shown.get("restartCount", 0)), shown.get("state") or {}
    over = state.get("terminated") or ("waiting" in state and (shown.get("lastState") or {}).get("terminated"))
    if over:
        return made.ended(ProcessRun(number, began, ended, over["exitCode"]))
    run = replace(made.begun(number, began), known=ProcessRun(number, began))
    return run.decided(has_started=bool(shown.get("started")), is_ready=bool(shown.get("ready")))
