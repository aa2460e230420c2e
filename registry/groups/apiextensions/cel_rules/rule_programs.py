"""Rule programs: compiles the CEL rules of one schema, and estimates their cost.

Must hold: a rule that does not compile is kept with its error, and does not affect other rules.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from aio_apiserver.base.jitter import chance
from aio_apiserver.registry.generic.expressions.libraries import BASE
from aio_apiserver.registry.machinery.cel import estimates, types
from aio_apiserver.registry.machinery.cel.environment import CelEnvironment, Program
from aio_apiserver.registry.machinery.cel.estimates import Path
from aio_apiserver.registry.machinery.cel.schema_types import Declared
from aio_apiserver.registry.machinery.cel.sizes import EstimateRange
from aio_apiserver.registry.machinery.cel.syntax import Ident, Issue, walk

RULES = "x-kubernetes-validations"
SELF, OLD_SELF = "self", "oldSelf"

Rule = Mapping[str, Any]


class Compiled(Struct, frozen=True):
    """A compiled rule. `mistake` and `message_mistake` are the reasons for missing programs."""

    rule: Rule
    program: Program | None = None
    mistake: str = ""
    message: Program | None = None
    message_mistake: str = ""
    cost: int = 0
    message_cost: int = 0

    @property
    def uses_old(self) -> bool:
        """Whether the rule uses oldSelf."""
        if self.program is None:
            return False
        return any(isinstance(node, Ident) and node.name == OLD_SELF for node in walk(self.program.checked.tree.root))

    @property
    def has_optional_old(self) -> bool:
        return bool(self.rule.get("optionalOldSelf"))


class Compiler:
    """Compiles the rules on values of one type.

    The names of object types are chosen at random, so that rules cannot depend on them.
    """

    def __init__(self, declared: Declared) -> None:
        self._declared = declared.named(f"selfType{chance.randrange(10**9)}")
        self._environments: dict[bool, CelEnvironment] = {}

    def compiled(self, rule: Rule) -> Compiled:
        """Compile a rule. The result has the programs that compile."""
        if not (rule.get("rule") or "").strip():
            return Compiled(rule)
        environment = self._environment(has_optional_old=bool(rule.get("optionalOldSelf")))
        try:
            program = environment.compile(rule["rule"])
        except Issue as exc:
            return Compiled(rule, mistake=f"compilation failed: {exc}")
        if program.result != types.BOOL:
            return Compiled(rule, mistake="cel expression must evaluate to a bool")
        if wrong := program.mistake():
            return Compiled(rule, mistake=f"program instantiation failed: {wrong}")
        cost = estimates.most(program.checked, self._size_of)
        text = rule.get("messageExpression") or ""
        if not text:
            return Compiled(rule, program, cost=cost)
        return self._with_message(Compiled(rule, program, cost=cost), environment, text)

    def _with_message(self, rule: Compiled, environment: CelEnvironment, text: str) -> Compiled:
        try:
            message = environment.compile(text)
        except Issue as exc:
            why = f"messageExpression compilation failed: {exc}"
            return Compiled(rule.rule, rule.program, message_mistake=why, cost=rule.cost)
        if message.result != types.STRING:
            why = "messageExpression must evaluate to a string"
            return Compiled(rule.rule, rule.program, message_mistake=why, cost=rule.cost)
        if wrong := message.mistake():
            why = f"messageExpression instantiation failed: {wrong}"
            return Compiled(rule.rule, rule.program, message_mistake=why, cost=rule.cost)
        cost = estimates.most(message.checked, self._size_of)
        return Compiled(rule.rule, rule.program, message=message, cost=rule.cost, message_cost=cost)

    def _environment(self, *, has_optional_old: bool) -> CelEnvironment:
        found = self._environments.get(has_optional_old)
        if found is None:
            of_self = self._declared.type
            of_old = types.optional_of(of_self) if has_optional_old else of_self
            found = CelEnvironment({SELF: of_self, OLD_SELF: of_old}, self._declared.objects(), BASE)
            self._environments[has_optional_old] = found
        return found

    def _size_of(self, path: Path) -> EstimateRange | None:
        """The sizes below `self` and `oldSelf`, which have the same type."""
        return self._declared.size_at(path[1:])
