"""Tests validations that would block the event loop for too long."""

from typing import Any

import pytest

from aio_apiserver.base.worker_thread import TakesLong
from aio_apiserver.registry.groups.apiextensions.cel_rules import rule_evaluation
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_evaluation import RuleOutcome
from aio_apiserver.registry.groups.apiextensions.serving.object_validation import ObjectRules
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.cel.schema_types import declared
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType

NUMBERS: dict[str, Any] = {
    "type": "array",
    "maxItems": 1000,
    "items": {"type": "integer"},
    "x-kubernetes-validations": [{"rule": "self.all(a, self.all(b, a + b >= 0))"}],
}
WORDS: dict[str, Any] = {"type": "string", "anyOf": [{"pattern": f"^x{number}$"} for number in range(600)]}


def rules(**properties: Any) -> ObjectRules:
    of_type = CustomType(lambda: {"type": "object", "properties": properties}, schema.builtin())
    return ObjectRules(type=of_type, type_meta={"apiVersion": "example.com/v1", "kind": "Widget"})


def test_rules_are_compiled_outside_of_the_loop_and_cheap_ones_run_in_it() -> None:
    checked = rules(numbers=NUMBERS)
    obj: Any = {"metadata": {"name": "a"}, "numbers": [1, 2, 3]}

    with pytest.raises(TakesLong):
        checked.validate(obj, may_take_long=False)

    assert not checked.validate(obj, may_take_long=True)
    assert not checked.validate(obj, may_take_long=False)


def test_an_expensive_rule_in_the_loop_raises_takes_long() -> None:
    obj: Any = {"metadata": {"name": "a"}, "numbers": list(range(300))}

    with pytest.raises(TakesLong):
        rules(numbers=NUMBERS).validate(obj, may_take_long=False)

    assert not rules(numbers=NUMBERS).validate(obj, may_take_long=True)


def test_a_rule_that_is_too_expensive_is_an_error_outside_of_the_loop() -> None:
    obj: Any = {"metadata": {"name": "a"}, "numbers": list(range(1000))}

    with pytest.raises(TakesLong):
        rules(numbers=NUMBERS).validate(obj, may_take_long=False)
    [error] = rules(numbers=NUMBERS).validate(obj, may_take_long=True)

    assert "call cost exceeds limit" in str(error)


def test_rules_that_fail_use_up_the_budget_as_well() -> None:
    failing = {**NUMBERS, "x-kubernetes-validations": [{"rule": "self.all(a, a / 0 > 1)"}] * 30}
    compiled = rule_evaluation.CompiledRules(failing, failing, declared(failing), is_resource=False)
    found = RuleOutcome(budget=1_000)

    rule_evaluation.evaluate(compiled, list(range(10)), None, failing, path="numbers", outcome=found)

    assert 1 < len(found.errors) < 30
    assert "running out of cost budget" in str(found.errors[-1])


def test_many_alternatives_are_not_evaluated_in_the_loop() -> None:
    with pytest.raises(TakesLong):
        rules(word=WORDS).validate({"metadata": {}, "word": "none"}, may_take_long=False)

    assert not rules(word=WORDS).validate({"metadata": {}, "word": "x599"}, may_take_long=True)


def test_a_schema_that_takes_minutes_on_a_value_ends_the_validation() -> None:
    schema: Any = {"type": "string", "pattern": "(a?){900}b"}
    value = "a" * 100_000

    with pytest.raises(TakesLong):
        rules(word=schema).validate({"metadata": {"name": "a"}, "word": value}, may_take_long=False)

    [error] = rules(word=schema).validate({"metadata": {"name": "a"}, "word": value}, may_take_long=True)

    assert str(error).startswith("<nil>: Forbidden: the schema and the value together need more than 2000000 steps")


def test_rules_are_compiled_once_and_their_evaluations_are_counted() -> None:
    checked = rules(numbers=NUMBERS)
    obj: Any = {"metadata": {"name": "a"}, "numbers": [1]}

    for may_take_long in (True, False, False):
        checked.validate(obj, may_take_long=may_take_long)

    counted = checked.recorder.metrics
    assert (counted.compilations.of().total, counted.evaluations.of().total) == (1, 3)
