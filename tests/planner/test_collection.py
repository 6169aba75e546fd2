"""Cycles are looked for rarely while planning, and at the usual pace again afterwards."""

import gc

import pytest

from planner.collection import rare_collection


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
