"""Texts of documents that spell a variable of the launch: nothing could keep ``envsubst`` from filling them in."""

from typing import Any

import pytest

from planner.launch import LaunchRefusedError, Target
from tests.planner.documents import Change
from tests.planner.launch.launched import devices, instance, launched

MODEL = ("/identity/model/name", "own/${TOPOGATE_IMAGE}")


def start(target: Target, *changes: Change, layout: str = "vllm") -> Any:
    return launched(target, *changes, layout=layout, instances=[instance(2, tp=2)], devices=devices("n0", 2))


@pytest.mark.parametrize("target", ["vllm", "lws"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(MODEL, id="a word"),
        pytest.param(("/identity/model/name", "own/$TOPOGATE_IMAGE"), id="without braces"),
        pytest.param(("/identity/stack/flags", {"own": "${TOPOGATE_HOST_N0}"}), id="a setting that is left"),
        pytest.param(("/identity/model/adapters", ["${TOPOGATE_IMAGE}"]), id="something that no argument says"),
    ],
)
def test_a_text_that_spells_a_variable_is_refused_by_name(target: Target, change: Change) -> None:
    with pytest.raises(LaunchRefusedError, match=r"expected texts that spell no variable of a launch, found \".*\$"):
        start(target, change)


@pytest.mark.parametrize("name", ["own/$HOME", "own/TOPOGATE_IMAGE", "own/$(TOPOGATE_IMAGE)", "own/$5"])
def test_other_dollars_are_written_as_they_are(name: str) -> None:
    assert start("vllm", ("/identity/model/name", name)).engines[0].starts[0].words[2] == name


def test_variables_of_our_own_are_no_text_of_a_document() -> None:
    made = start("lws")
    assert "TOPOGATE_IMAGE" in made.to_fill
