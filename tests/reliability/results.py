"""results: the runs of `make soak`, one JSON file for each part, from which docs/reliability.md is rendered.

Runs at different times add up, so that a part can be continued. Must hold: a file is replaced as a whole, and each run
names its date, its commit, its machine and its seed.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import origin
from tests.reliability.outcomes import Outcome

FOLDER = Path(__file__).with_name("results")


class Run(Struct, frozen=True):
    """One run of a part. done: what it did of the part's work. failure: the violation that ended it, if there was one.

    load: the load average of the machine when the run ended.
    """

    date: str
    commit: str
    machine: str
    load: float
    seed: int
    done: int
    seconds: float
    outcome: Outcome = Outcome()
    failure: str = ""


def run_of(outcome: Outcome, *, seed: int, done: int, seconds: float, failure: str = "") -> Run:
    """A run that ends now, on this machine."""
    return Run(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=origin.commit(),
        machine=origin.machine(),
        load=round(os.getloadavg()[0], 1),
        seed=seed,
        done=done,
        seconds=round(seconds, 1),
        outcome=outcome,
        failure=failure,
    )


def load(part: str, folder: Path = FOLDER) -> Sequence[Run]:
    """The runs of a part that were kept."""
    path = _path(part, folder)
    return msgspec.json.decode(path.read_bytes(), type=list[Run]) if path.exists() else []


def load_all(folder: Path = FOLDER) -> Mapping[str, Sequence[Run]]:
    """The runs of all parts, by the name of the part."""
    return {path.stem: load(path.stem, folder) for path in sorted(folder.glob("*.json"))}


def keep(part: str, runs: Sequence[Run], folder: Path = FOLDER) -> None:
    """Replace the runs of a part."""
    folder.mkdir(exist_ok=True)
    path = _path(part, folder)
    lines = ",\n".join(msgspec.json.encode(run).decode() for run in runs)
    written = path.with_suffix(".new")
    written.write_text(f"[\n{lines}\n]\n")
    written.replace(path)


def _path(part: str, folder: Path) -> Path:
    return folder / f"{part}.json"
