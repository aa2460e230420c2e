"""tally: the operations of all histories that were checked for linearizability, and their latencies."""

from collections import Counter

from tests.reliability import histories
from tests.reliability.histories import Histories
from tests.reliability.linearizability import Answer
from tests.reliability.outcomes import Latencies, Outcome


class Tally:
    """What the runs have seen."""

    def __init__(self) -> None:
        self.runs = 0
        self.troubles = 0
        self._answers: Counter[Answer] = Counter()
        self._latencies = Latencies()

    def add(self, found: Histories) -> None:
        """Count a run. Raises AssertionError when a history is not linearizable."""
        wrong = histories.contradictions(found)
        assert not wrong, "\n".join(f"{name}: {one}" for name, history in wrong.items() for one in history)
        self.runs += 1
        for one in (one for history in found.values() for one in history):
            self._answers[one.answer] += 1
            if one.answer is not Answer.LOST:
                self._latencies.add(one.began, one.ended)

    def outcome(self) -> Outcome:
        """The totals as the page of the long runs shows them."""
        answers = {f"answers '{answer.value}'": count for answer, count in self._answers.items()}
        trouble = {"under trouble": self.troubles} if self.troubles else {}
        counts = {"histories": self.runs, **trouble, "operations": self._answers.total(), **answers}
        return Outcome({**counts, "not linearizable": 0}, moments=self._latencies.moments())
