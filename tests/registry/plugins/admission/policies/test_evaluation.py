"""Evaluation: the budget of a policy's expressions, without a registry."""

import pytest

from aio_apiserver.registry.generic.expressions.libraries import BASE
from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.machinery.cel.environment import CelEnvironment
from aio_apiserver.registry.plugins.admission.policies.evaluation import Evaluation, Expression, Inputs, OutOfBudget

ENVIRONMENT = CelEnvironment({"variables": types.map_of(types.STRING, types.DYN)}, {}, BASE)
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
