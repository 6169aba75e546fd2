"""Slices of one accelerator, and devices that several pools or models share."""

from typing import Any

import pytest

from planner.site import Site
from tests.planner.documents import Change
from tests.planner.factories import Changes, a_view, limit_outcome
from tests.planner.gates.cases import Case, check, parameters

SLICED: tuple[Change, ...] = tuple(
    (f"/identity/hardware/devices/{name}/slice_of", "gpu-0") for name in ("a0", "a1", "b0", "b1")
)
"""Both devices of each node are slices of its one accelerator, which has the same id on each node."""
ACROSS: tuple[Change, ...] = (
    ("/topology/instances/0/tp", 1),
    ("/topology/instances/0/pp", 1),
    ("/topology/instances/0/dp", 4),
)
SHARED: tuple[Change, ...] = tuple(
    (f"/identity/hardware/devices/{name}/shared_with", ["prefill", "decode"]) for name in ("a0", "a1")
)


def on(devices: list[str], *roles: str) -> tuple[Change, ...]:
    """Two ranks of each pool, on these devices of the first node."""
    instances = [{"role": role, "tp": 2, "pp": 1, "ep": 1, "dp": 1, "world_size": 2} for role in roles]
    places = [{"rank": rank, "node": "node-a", "device": device} for rank, device in enumerate(devices)]
    return ("/topology/instances", instances), ("/rank_map", places)


def case(name: str, outcome: str, sentence: str, **parts: Any) -> Case:
    """One row of the gate ``placement``."""
    return Case(name=name, gate="placement", outcome=outcome, sentence=sentence, **parts)


CASES = [
    case(
        "two slices of one accelerator in a group",
        "FAIL",
        "Ranks 0 and 1 of one tp group are on slices of one device, gpu-0. "
        "Ranks 2 and 3 of one tp group are on slices of one device, gpu-0.",
        contract=SLICED,
        also={"worst": {"rank": "1"}, "measured_at": ("/trials/t/rank_map/1/device", "/trials/t/rank_map/3/device")},
    ),
    case(
        "slices of one accelerator that share no group",
        "PASS",
        "4 ranks on 4 devices of 2 nodes.",
        contract=SLICED,
        trial=ACROSS,
    ),
    case(
        "both pools on devices that they are declared to share",
        "PASS",
        "4 ranks on 2 devices of 1 node.",
        contract=SHARED,
        trial=on(["a0", "a1", "a0", "a1"], "prefill", "decode"),
        also={"notes": ("2 devices idle, 0 spare.",)},
    ),
    case(
        "both pools on devices that are not declared to be shared",
        "FAIL",
        "Ranks 1, 3 share device a1.",
        contract=SHARED[:1],
        trial=on(["a0", "a1", "a0", "a1"], "prefill", "decode"),
    ),
    case(
        "ranks of one pool never share",
        "FAIL",
        "Ranks 0, 1 share device a0. Ranks 2, 3 share device a1.",
        contract=SHARED,
        trial=on(["a0", "a0", "a1", "a1"], "prefill", "decode"),
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)


HEADROOM = {"load_point": "saturated"}


@pytest.mark.parametrize(("scope", "outcome"), [("device", "PASS"), ("rank", "UNKNOWN")])
def test_a_shared_device_needs_the_figure_of_the_whole_device(scope: str, outcome: str) -> None:
    contract = (("/identity/hardware/devices/b1/shared_with", ["another model"]),)
    trial = tuple((f"/windows/{window}/per_rank/device_used_peak_bytes/scope", scope) for window in ("w1", "w2"))
    found = limit_outcome("memory_headroom", HEADROOM, Changes(contract=contract, trial=trial))
    assert found.outcome == outcome
    shared = "Device b1 is shared, and the figure may leave out who shares it: a lower bound."
    assert (shared in found.notes) == (outcome == "UNKNOWN")


def test_slices_of_one_accelerator_fail_together() -> None:
    site: Site = a_view(None, Changes(contract=SLICED)).site
    assert site.domains("device") == {
        "node-a/gpu-0": frozenset({"a0", "a1"}),
        "node-b/gpu-0": frozenset({"b0", "b1"}),
    }
