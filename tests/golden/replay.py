"""Plays the recorded conversations of a real kube-apiserver against a server, and keeps the ledger of what differs.

oracle.py, kubectl.py, hooks.py, cassettes/ and kubectl/ are the recordings and their player, taken as they are. A step
may differ for two reasons only: WAITING.md lists what depends on something that is not built yet, and
KNOWN_DIFFERENCES.md what is answered differently on purpose. Both are tables of `area | scenario | steps | reason`,
steps counted from 0 as `0,3,5-9`.

    python -m tests.golden.replay --url https://127.0.0.1:6443                    # what differs, by area
    python -m tests.golden.replay --url https://127.0.0.1:6443 --update crud      # rewrite WAITING.md for these areas
"""

import argparse
import concurrent.futures
import contextlib
import gc
import gzip
import json
import pathlib
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import kubectl  # noqa: E402 - the recordings' own modules import each other by these names
import oracle as oracle  # noqa: E402

AREAS = tuple(sorted(path.name.removesuffix(".json.gz") for path in (HERE / "cassettes").glob("*.json.gz")))
KUBECTL = "kubectl"
"""The name that the sessions of kubectl have as an area."""
MINORS_FOLDER = HERE / "versions"
"""A folder a minor: what its kube-apiserver answered differently, and the differences that stay."""
MINORS = tuple(sorted(path.name for path in MINORS_FOLDER.iterdir()))
WAITING = HERE / "WAITING.md"
KNOWN_DIFFERENCES = HERE / "KNOWN_DIFFERENCES.md"
KUBECTL_SESSIONS = HERE / "kubectl" / "sessions.json"

Steps = dict[str, list[list[str]]]
"""By scenario: for each step, the lines that tell how it differs (none when it is the same)."""
Answers = Mapping[str, Mapping[str, Any]]
"""By scenario and step: the answers of another minor."""
Ledger = dict[tuple[str, str], tuple[set[int], str]]
"""By area and scenario: the steps that may differ, and why."""

_MORE_CHANCES = 2
_CLOSED_BY_KUBECTL = re.compile(
    r"^.*: Unexpected watch close - watch lasted less than a second and no items received\n", re.MULTILINE
)
"""What kubectl says on HTTP/1.1, to kube-apiserver as well (--disable-http2-serving), whenever one of its goroutines
loses a race: it has ended the watch itself, at its own time limit."""
_ROW = re.compile(r"^\| *([\w-]+) *\| *([^|]+?) *\| *(\d[\d,\s-]*?) *\| *([^|]+?) *\|$", re.MULTILINE)


def play(url: str, area: str, *, only: str = "", minor: str = "") -> Steps:
    """Play one area of the requests, or the commands of kubectl. minor: that of the server, if not the default."""
    return replay_kubectl(url, only=only) if area == KUBECTL else replay(url, area, only=only, minor=minor)


def play_calmly(url: str, area: str, *, only: str = "", minor: str = "") -> Steps:
    """As above; what differs and is not listed is played again, alone: some answers depend on how seconds pass.

    Entries of managed fields of one second become one, and a wait of a second must not take two.
    """
    outcomes = play(url, area, only=only, minor=minor)
    for _ in range(_MORE_CHANCES):
        for scenario in _unlisted(area, outcomes, minor):
            outcomes |= play(url, area, only=f"^{re.escape(scenario)}$", minor=minor)
    return outcomes


def replay(url: str, area: str, *, jobs: int = 16, only: str = "", minor: str = "") -> Steps:
    """Play one area of the requests. Scenarios that touch what all share run alone; the others mostly wait."""
    scenarios = [scenario for scenario in scenarios_of(area) if re.search(only, scenario["name"])]
    others = answers_of(minor, area)
    together = [scenario for scenario in scenarios if not oracle.alone(scenario)]
    with _forgiving_the_player():
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            outcomes = dict(
                zip(
                    [one["name"] for one in together],
                    pool.map(lambda one: _play(url, one, others), together),
                    strict=True,
                )
            )
        outcomes |= {one["name"]: _play(url, one, others) for one in scenarios if oracle.alone(one)}
    return {scenario["name"]: outcomes[scenario["name"]] for scenario in scenarios}


@contextlib.contextmanager
def _forgiving_the_player() -> Iterator[None]:
    """The player leaves its connections to the garbage collector: collect them here, where nobody minds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


def scenarios_of(area: str) -> Sequence[Mapping[str, Any]]:
    """The recorded conversations of an area."""
    ((_, cassette),) = oracle.cassettes([HERE / "cassettes" / f"{area}.json.gz"])
    scenarios: Sequence[Mapping[str, Any]] = cassette["scenarios"]
    return scenarios


def answers_of(minor: str, area: str) -> Answers:
    """What kube-apiserver of a minor answered differently, by scenario and step; null where its answers vary."""
    path = MINORS_FOLDER / minor / f"{area}.json.gz"
    found: Answers = json.loads(gzip.decompress(path.read_bytes())) if minor and path.exists() else {}
    return found


def differing_scenarios(minor: str, area: str) -> str:
    """A regular expression for the scenarios of an area that a minor answers differently."""
    return f"^({'|'.join(map(re.escape, sorted(answers_of(minor, area))))})$"


def _play(url: str, scenario: Mapping[str, Any], others: Answers) -> list[list[str]]:
    steps: list[list[str]] = []
    own = others.get(scenario["name"], {})

    def on_step(step: Mapping[str, Any], got: Mapping[str, Any]) -> None:
        wanted = own.get(str(len(steps)), step["expect"])
        steps.append([] if wanted is None else list(oracle.differences(wanted, got)))

    try:
        oracle.Runner(url).scenario(scenario, on_step)
    except Exception as exc:  # noqa: BLE001 - whatever ends a scenario is a difference of the step that it ended in
        steps.append([f"scenario aborted: {type(exc).__name__}: {exc}"])
    return steps


def replay_kubectl(url: str, *, jobs: int = 4, only: str = "") -> Steps:
    """Play the kubectl sessions."""
    sessions = [session for session in kubectl_sessions() if re.search(only, session["name"])]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(lambda one: _play_session(url, one), sessions))
    return dict(zip([session["name"] for session in sessions], outcomes, strict=True))


def kubectl_sessions() -> Sequence[Mapping[str, Any]]:
    """The recorded commands and what they printed."""
    sessions: Sequence[Mapping[str, Any]] = json.loads(KUBECTL_SESSIONS.read_text())
    return sessions


def _play_session(url: str, session: Mapping[str, Any]) -> list[list[str]]:
    return [
        [f"{step['cmd']}: {line}" for line in oracle.differences(step["expect"], _without_the_race(got))]
        for step, got in zip(session["steps"], kubectl.session(url, session), strict=True)
    ]


def _without_the_race(got: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: _CLOSED_BY_KUBECTL.sub("", value) if key == "err" else value for key, value in got.items()}


def count_steps(area: str) -> int:
    """How many steps of an area are compared."""
    recorded = kubectl_sessions() if area == KUBECTL else scenarios_of(area)
    return sum(_compared(scenario["steps"]) for scenario in recorded)


def _compared(steps: Iterable[Mapping[str, Any]]) -> int:
    return sum(("expect" in step) + _compared(step.get("during", ())) for step in steps)


def read_ledger(path: pathlib.Path) -> Ledger:
    """The table in a ledger file."""
    rows = _ROW.findall(path.read_text()) if path.exists() else []
    return {(area, scenario): (parse_steps(steps), why) for area, scenario, steps, why in rows}


def parse_steps(text: str) -> set[int]:
    """The numbers in `0,3,5-9`."""
    numbers: set[int] = set()
    for part in text.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def show_steps(numbers: Iterable[int]) -> str:
    """The shortest text for some numbers."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def differing(outcomes: Steps) -> dict[str, set[int]]:
    """The steps of each scenario that are not the same."""
    found = {name: {number for number, lines in enumerate(steps) if lines} for name, steps in outcomes.items()}
    return {name: numbers for name, numbers in found.items() if numbers}


def unlisted(area: str, outcomes: Steps, minor: str = "") -> list[str]:
    """What differs and stands in no ledger: mend it, or list it with its reason."""
    return [
        f"{scenario} step {number}: {line}"
        for scenario, numbers in _unlisted(area, outcomes, minor).items()
        for number in sorted(numbers)
        for line in outcomes[scenario][number][:4]
    ]


def mended(area: str, outcomes: Steps) -> list[str]:
    """What stands in a ledger and does not differ: take it off."""
    different = differing(outcomes)
    over = {name: numbers - different.get(name, set()) for name, numbers in _listed(area).items()}
    return [f"{name} steps {show_steps(numbers)}" for name, numbers in over.items() if numbers]


def _unlisted(area: str, outcomes: Steps, minor: str = "") -> dict[str, set[int]]:
    listed = _listed(area, minor)
    found = {name: numbers - listed.get(name, set()) for name, numbers in differing(outcomes).items()}
    return {name: numbers for name, numbers in found.items() if numbers}


def known_of(minor: str) -> pathlib.Path:
    """The differences from kube-apiserver of a minor that stay, beside those of the default minor."""
    return MINORS_FOLDER / minor / KNOWN_DIFFERENCES.name


def _listed(area: str, minor: str = "") -> dict[str, set[int]]:
    listed: dict[str, set[int]] = {}
    for ledger in (WAITING, KNOWN_DIFFERENCES, *([known_of(minor)] if minor else [])):
        for (of_area, scenario), (numbers, _) in read_ledger(ledger).items():
            if of_area == area:
                listed.setdefault(scenario, set()).update(numbers)
    return listed


def update_waiting(area: str, outcomes: Steps) -> None:
    """Rewrite the rows of one area, keeping the reasons that are known."""
    ledger, known = read_ledger(WAITING), read_ledger(KNOWN_DIFFERENCES)
    reasons = {key: why for key, (_, why) in ledger.items()}
    rows = {key: value for key, value in ledger.items() if key[0] != area or key[1] not in outcomes}
    for scenario, numbers in differing(outcomes).items():
        numbers = numbers - known.get((area, scenario), (set(), ""))[0]
        if numbers:
            rows[area, scenario] = (numbers, reasons.get((area, scenario), "to be found out"))
    WAITING.write_text(_render(rows))


def _render(rows: Ledger) -> str:
    lines = [
        "# Waiting",
        "",
        "Recorded steps that are not answered like kube-apiserver yet, and what they wait for.",
        "",
        "| area | scenario | steps | waits for |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {area} | {name} | {show_steps(rows[area, name][0])} | {rows[area, name][1]} |"
        for area, name in sorted(rows)
    ]
    return "\n".join(lines) + "\n"


def _print(area: str, outcomes: Steps, *, shown: int) -> None:
    different = differing(outcomes)
    total = sum(map(len, outcomes.values()))
    same = total - sum(map(len, different.values()))
    for name in list(different)[:shown]:
        for number in sorted(different[name])[:3]:
            print(f"--- {area} {name} step {number}", *outcomes[name][number][:6], sep="\n    ")  # noqa: T201
    print(f"{area:12} {same}/{total} steps the same")  # noqa: T201


def main(arguments: Sequence[str] | None = None) -> None:
    """Replay from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--update", action="store_true", help="rewrite WAITING.md")
    parser.add_argument("--minor", default="", help="the minor that the server is (1.35), if not the default")
    parser.add_argument("--only", default="", help="regular expression on scenario names")
    parser.add_argument("--show", type=int, default=5, help="how many differing scenarios to show")
    parser.add_argument("areas", nargs="*", default=[*AREAS, KUBECTL])
    options = parser.parse_args(arguments)
    for area in options.areas:
        outcomes = play(options.url, area, only=options.only, minor=options.minor)
        _print(area, outcomes, shown=options.show)
        if options.update:
            update_waiting(area, outcomes)


if __name__ == "__main__":
    main()
