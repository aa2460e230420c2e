"""Evaluation: the budget of a policy's expressions, without a registry."""

import threading
from collections.abc import Iterator

import pytest

from aio_apiserver.base.worker_thread import TakesLong
from aio_apiserver.registry.generic.access.always import AlwaysAllow
from aio_apiserver.registry.generic.expressions.libraries import BASE
from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.machinery.cel.environment import CelEnvironment
from aio_apiserver.registry.plugins.admission.policies.evaluation import (
    Decisions,
    Evaluation,
    Expression,
    Inputs,
    OutOfBudget,
)

ENVIRONMENT = CelEnvironment(
    {"variables": types.map_of(types.STRING, types.DYN), "noting": types.list_of(types.INT)}, {}, BASE
)
FAILING = "lists.range(300).all(x, x / 0 > 0)"


def expression(text: str) -> Expression:
    return Expression(text, ENVIRONMENT.compile(text))


def evaluation(*, budget: int) -> Evaluation:
    return Inputs({}, {"bad": expression(FAILING)}).evaluation(budget)


def test_an_expression_that_fails_costs_as_well() -> None:
    spent = evaluation(budget=1_000)

    with pytest.raises(OutOfBudget):
        spent.outcome(expression(FAILING))


def test_a_variable_that_fails_costs_once() -> None:
    once, often = evaluation(budget=10_000_000), evaluation(budget=10_000_000)

    assert "division by zero" in once.outcome(expression("variables.bad")).failure
    assert "division by zero" in often.outcome(expression("lists.range(100).all(x, variables.bad)")).failure

    assert 0 <= once.budget - often.budget < 1_000


class Noting(list[int]):
    """A list that notes the threads of its readers."""

    def __init__(self) -> None:
        super().__init__([1])
        self.threads: list[int] = []

    def __iter__(self) -> Iterator[int]:
        self.threads.append(threading.get_ident())
        return super().__iter__()


def test_the_event_loop_does_not_finish_a_long_evaluation() -> None:
    long = evaluation(budget=10_000_000)

    assert long.outcome(expression("lists.range(10).all(x, x >= 0)")).value is True
    with pytest.raises(TakesLong):
        long.outcome(expression("lists.range(100000).all(x, x >= 0)"))


async def test_the_worker_thread_evaluates_what_takes_long() -> None:
    noting, decisions = Noting(), Decisions(AlwaysAllow(), "jane")
    seen = Inputs({"noting": noting}, {}).evaluation()

    short = await decisions.outcome(seen, expression("lists.range(10).all(x, x >= 0) && noting.all(x, true)"))
    long = await decisions.outcome(seen, expression("lists.range(50000).all(x, x >= 0) && noting.all(x, true)"))

    assert (short.value, long.value) == (True, True)
    on_the_loop, aside = noting.threads
    assert on_the_loop == threading.get_ident() != aside
