"""Findings: what commands find out about a store or a machine, with how bad it is, as rows and as documents.

Pure.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

OK, WARNING, PROBLEM = "ok", "warning", "problem"


class StoreFinding(Struct, frozen=True):
    """Something in a store that is not as it should be. check: codec, index, metadata, owner, schema."""

    severity: str
    check: str
    place: str
    problem: str

    @property
    def row(self) -> Sequence[str]:
        return self.severity, self.check, self.place, self.problem


class DoctorFinding(Struct, frozen=True):
    """What doctor says of one subject. remedy: what to do; empty when nothing has to be done."""

    severity: str
    subject: str
    message: str
    remedy: str = ""

    @property
    def row(self) -> Sequence[str]:
        return self.severity, self.subject, f"{self.message} ({self.remedy})" if self.remedy else self.message


def has_problem(severities: Iterable[str]) -> bool:
    return PROBLEM in severities
