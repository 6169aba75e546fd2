"""What names of files mean, whatever a file holds."""

import pytest

from planner.builder.naming import Names, topology_from
from planner.builder.naming_proposals import device_proposal
from tests.planner.builder.kit import contract

NAMES = Names(
    topology=topology_from({"layout": "vllm", "instances": [{"tp": 2, "pp": 1, "ep": 1, "dp": 1, "world_size": 2}]}),
    rank_device=("a0", "a1"),
    devices={"gpu-0": "a0"},
    links={},
    moe=False,
)
MANY = "9" * 5000


@pytest.mark.parametrize(
    ("name", "ranks"),
    [("rank-1", (1,)), ("tp1", (1,)), ("gpu-0", (0,)), ("rank-2", ()), ("", ())]
    + [(f"{kind}{MANY}", ()) for kind in ("rank-", "tp", "gpu-")],
)
def test_a_name_means_its_ranks_or_none(name: str, ranks: tuple[int, ...]) -> None:
    assert NAMES.ranks_of(name) == ranks


@pytest.mark.parametrize("name", [f"{kind}{MANY}" for kind in ("dp", "engine-", "prefill-")])
def test_a_number_of_no_serving_group_means_none(name: str) -> None:
    assert NAMES.group_of(name) is None


def test_a_number_that_no_device_has_proposes_none() -> None:
    assert device_proposal(contract(), [f"gpu-{MANY}"], NAMES) is None
