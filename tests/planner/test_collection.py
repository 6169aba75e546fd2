"""Cycles are looked for rarely or not at all while planning, and at the usual pace again afterwards."""

import gc
from collections.abc import Iterator
from typing import ClassVar

import pytest

from planner.collection import paused_collection, rare_collection
from planner.overrides import Setting, overridden_of_stored
from planner.plan import plan_with_bytes
from tests.planner.fleet import AS_OF, a_contract, a_trial, documents


def test_cycles_are_looked_for_rarely_within() -> None:
    usual = gc.get_threshold()
    with rare_collection():
        assert gc.get_threshold()[0] > 10 * usual[0]
        assert gc.isenabled()


def test_the_usual_pace_comes_back_after_an_error() -> None:
    usual = gc.get_threshold()
    with pytest.raises(ValueError, match="refused"), rare_collection():
        raise ValueError("refused")
    assert gc.get_threshold() == usual


def test_no_cycles_are_looked_for_in_a_pause() -> None:
    with paused_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_pause_inside_another_one_does_not_end_it() -> None:
    with paused_collection():
        with paused_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_pauses_beside_each_other_end_with_the_last_one() -> None:
    first, second = paused_collection(), paused_collection()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_a_pause_ends_with_an_error() -> None:
    with pytest.raises(ValueError, match="refused"), paused_collection():
        raise ValueError("refused")
    assert gc.isenabled()


def test_what_was_off_before_a_pause_stays_off() -> None:
    gc.disable()
    try:
        with paused_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_nothing_is_looked_for_while_a_plan_is_made() -> None:
    seen: list[bool] = []
    contract, evidence = documents(a_contract(), {"a": a_trial(6400, tp=8)})
    plan_with_bytes(contract, evidence, AS_OF, progress=lambda *_: seen.append(gc.isenabled()))
    assert seen == [False]
    assert gc.isenabled()


class Watched(tuple[Setting, ...]):
    """Settings that see whether cycles are looked for while they are read."""

    __slots__ = ()
    seen: ClassVar[list[bool]] = []

    def __iter__(self) -> Iterator[Setting]:
        self.seen.append(gc.isenabled())
        return super().__iter__()


def test_nothing_is_looked_for_while_a_what_if_is_made() -> None:
    contract, evidence = documents(a_contract(), {"a": a_trial(6400, tp=8)})
    overridden_of_stored(contract, evidence, AS_OF, settings=Watched())
    assert set(Watched.seen) == {False}
    assert gc.isenabled()
