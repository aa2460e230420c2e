"""Unification: whether one type can stand where another is wanted, and what parameters come to mean on the way.

Must hold: a failed attempt leaves the bindings as they were; a parameter never comes to mean a type that contains it.
"""

from collections.abc import Sequence

from aio_apiserver.registry.machinery.cel.types import DYN, Kind, Type

_NULLABLE = frozenset({Kind.OPAQUE, Kind.OBJECT, Kind.DURATION, Kind.TIMESTAMP})
_COMPOSED = frozenset({Kind.OPAQUE, Kind.LIST, Kind.MAP})


class Bindings:
    """What parameters mean."""

    def __init__(self) -> None:
        self._bound: dict[Type, Type] = {}
        self._fresh = 0

    def fresh(self) -> Type:
        """A parameter that nobody else has."""
        self._fresh += 1
        return Type(Kind.PARAM, f"_var{self._fresh}")

    def assigns(self, one: Type, other: Type) -> bool:
        """Whether the first type can be used as the second."""
        return self.assigns_all([one], [other])

    def assigns_all(self, some: Sequence[Type], others: Sequence[Type]) -> bool:
        """Whether all can, together."""
        before = dict(self._bound)
        if self._all(some, others):
            return True
        self._bound = before
        return False

    def resolved(self, of: Type, *, frees: bool = False) -> Type:
        """A type with its parameters replaced by what they mean; by `dyn` with `frees` when they mean nothing."""
        if of.kind is Kind.PARAM:
            if of in self._bound:
                return self.resolved(self._bound[of], frees=frees)
            return DYN if frees else of
        if not of.params:
            return of
        return Type(of.kind, of.name, tuple(self.resolved(one, frees=frees) for one in of.params))

    def renamed(self, types: Sequence[Type]) -> list[Type]:
        """The types of a declaration with fresh parameters in the place of its own."""
        names: dict[str, Type] = {}

        def fresh(of: Type) -> Type:
            if of.kind is Kind.PARAM:
                if of.name not in names:
                    names[of.name] = self.fresh()
                return names[of.name]
            return Type(of.kind, of.name, tuple(map(fresh, of.params))) if of.params else of

        return list(map(fresh, types))

    def _all(self, some: Sequence[Type], others: Sequence[Type]) -> bool:
        return len(some) == len(others) and all(map(self._one, some, others))

    def _one(self, one: Type, other: Type) -> bool:
        if other.kind is Kind.PARAM:
            is_valid, is_bound = self._binds(one, other)
            if is_valid or is_bound:
                return is_valid
        if one.kind is Kind.PARAM:
            return self._binds(other, one)[0]
        if one.is_wild or other.is_wild:
            return True
        if Kind.NULL in (one.kind, other.kind):
            return one.kind is other.kind or (other if one.kind is Kind.NULL else one).kind in _NULLABLE
        if one.kind is not other.kind:
            return False
        if one.kind in _COMPOSED:
            return one.name == other.name and self._all(one.params, other.params)
        return one.kind is Kind.TYPE or one == other

    def _binds(self, meaning: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether a parameter can mean a type, and whether it meant something before."""
        if meaning == parameter:
            return True, True
        present = self._bound.get(parameter)
        if present is None:
            if self._contains(meaning, parameter):
                return False, False
            self._bound[parameter] = meaning
            return True, False
        if present == meaning:
            return True, True
        if not self._one(meaning, present):
            return False, True
        general = most_general(meaning, present)
        if not self._contains(general, parameter):
            self._bound[parameter] = general
        return True, True

    def _contains(self, of: Type, parameter: Type) -> bool:
        if of == parameter:
            return True
        if of.kind is Kind.PARAM:
            meaning = self._bound.get(of)
            return meaning is not None and self._contains(meaning, parameter)
        return any(self._contains(one, parameter) for one in of.params)


def most_general(one: Type, other: Type) -> Type:
    """The one of two types which fit each other that takes more."""
    return one if _is_as_general(one, other) else other


def _is_as_general(one: Type, other: Type) -> bool:
    if one.kind in (Kind.DYN, Kind.PARAM):
        return True
    if other.kind in (Kind.DYN, Kind.PARAM) or one.kind is not other.kind:
        return False
    if one.kind in _COMPOSED:
        return (
            one.name == other.name
            and len(one.params) == len(other.params)
            and all(map(_is_as_general, one.params, other.params))
        )
    return one.kind is Kind.TYPE or one == other
