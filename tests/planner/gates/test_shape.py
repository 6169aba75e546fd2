"""Ranks, splits and places."""

import pytest

from tests.planner.documents import ABSENT
from tests.planner.factories import Changes, judged
from tests.planner.gates.cases import Case, check, parameters

NEVER = {"rank_count": {"UNKNOWN"}, "placement": {"UNKNOWN"}}
"""What the documents say of ranks and places is there, or intake refuses it."""

INSTANCE = "/topology/instances/0"


def model(**fields: object) -> tuple[tuple[str, object], ...]:
    return tuple((f"/identity/model/{name}", value) for name, value in fields.items())


RANK_COUNT = [
    Case(
        name="degrees, world and map agree",
        gate="rank_count",
        outcome="PASS",
        sentence="4 ranks placed; the degrees give 4.",
        also={"measured": 4, "limit": 4, "comparator": "==", "unit": "ranks", "measured_at": ("/trials/t/rank_map",)},
    ),
    Case(
        name="the engine reports another world",
        gate="rank_count",
        outcome="FAIL",
        sentence="Instance 0 reports a world of 8 ranks; its degrees give 4.",
        trial=((f"{INSTANCE}/world_size", 8),),
        also={"worst": {"instance": "0"}, "measured": 8, "limit": 4},
    ),
    Case(
        name="fewer ranks placed than the degrees give",
        gate="rank_count",
        outcome="FAIL",
        sentence="4 ranks placed; the degrees give 8.",
        trial=((f"{INSTANCE}/tp", 4), (f"{INSTANCE}/world_size", 8)),
    ),
    Case(
        name="two instances are summed",
        gate="rank_count",
        outcome="PASS",
        sentence="4 ranks placed; the degrees give 4.",
        trial=(("/topology/instances", [{"tp": 2, "pp": 1, "ep": 1, "dp": 1, "world_size": 2}] * 2),),
    ),
    Case(
        name="a degree that the layout does not have",
        gate="rank_count",
        outcome="FAIL",
        sentence="The layout closed refuses these degrees: closed has no context parallelism; cp and dcp must be 1.",
        trial=((f"{INSTANCE}/cp", 2),),
        also={"notes": ("unknown_degree",)},
    ),
]

MODEL_DIVISIBILITY = [
    Case(
        name="everything splits",
        gate="model_divisibility",
        outcome="PASS",
        sentence="32 attention heads split evenly over 2 tensor ranks. 8 KV heads split evenly over 2 tensor ranks. "
        "32 layers split evenly over 2 stages.",
    ),
    Case(
        name="heads and layers do not split, both named",
        gate="model_divisibility",
        outcome="FAIL",
        sentence="33 attention heads do not split evenly over 2 tensor ranks. "
        "31 layers do not split evenly over 2 stages.",
        contract=model(attention_heads=33, layers=31),
        also={"worst": {"instance": "0", "test": "attention_heads"}},
    ),
    Case(
        name="ranks undefined",
        gate="model_divisibility",
        outcome="UNKNOWN",
        sentence="Ranks undefined: rank_count failed.",
        trial=((f"{INSTANCE}/world_size", 8),),
    ),
]

PLACEMENT = [
    Case(
        name="a device for every rank",
        gate="placement",
        outcome="PASS",
        sentence="4 ranks on 4 devices of 2 nodes.",
        also={"measured": 4, "limit": 4},
    ),
    Case(
        name="a device used twice",
        gate="placement",
        outcome="FAIL",
        sentence="Ranks 0, 1 share device a0.",
        trial=(("/rank_map/1/device", "a0"),),
        also={"worst": {"rank": "0"}, "measured": 2},
    ),
    Case(
        name="a device of another node and a NIC of another node",
        gate="placement",
        outcome="FAIL",
        sentence="Rank 3 is on node-a; its device b1 stands on node-b. Rank 3 on node-a uses NIC b-nic of node-b.",
        trial=(("/rank_map/3/node", "node-a"),),
        also={"measured_at": ("/trials/t/rank_map/3/node", "/trials/t/rank_map/3/nic")},
    ),
    Case(
        name="no NIC named",
        gate="placement",
        outcome="PASS",
        sentence="4 ranks on 4 devices of 2 nodes.",
        trial=(("/rank_map/0/nic", ABSENT),),
    ),
]

CASES = [*RANK_COUNT, *MODEL_DIVISIBILITY, *PLACEMENT]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)


def test_idle_devices_are_listed_and_fail_nothing() -> None:
    half = Changes(
        trial=(
            ("/topology/instances/0/pp", 1),
            ("/topology/instances/0/world_size", 2),
            ("/rank_map/3", ABSENT),
            ("/rank_map/2", ABSENT),
        )
    )
    placement = judged(changes=half).gates["placement"].limits["always"]
    assert (placement.outcome, placement.notes) == ("PASS", ("2 devices idle, 0 spare.",))
