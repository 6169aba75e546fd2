"""What injections measured in place of arithmetic, at once and after recovery."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.gates.cases import Case, check, parameters
from tests.planner.gates.test_failure import ARITHMETIC, EVEN, lost

SPARE: tuple[Change, ...] = (("/fleet/spare_devices", ["b1"]), ("/identity/hardware/islands", ABSENT))
ON_THREE: tuple[Change, ...] = (
    ("/topology/instances", [{"tp": 1, "pp": 3, "ep": 1, "dp": 1, "world_size": 3}]),
    ("/rank_map/3", ABSENT),
    ("/windows/w1/per_rank", ABSENT),
    ("/windows/w2", ABSENT),
)
"""A pipeline over three devices at 200 tok/s; the fourth is a spare where ``SPARE`` says so."""
LOSS = {"kind": "rank_loss", "domain": "a1", "load_point": "saturated"}


def injected(**figures: Any) -> tuple[Change, ...]:
    """The loss of a device at ``saturated`` with these figures."""
    return (("/failures", {"loss": {**LOSS, **figures}}),)


def after(*, failures: tuple[Change, ...] = (), contract: tuple[Change, ...] = SPARE, **parts: Any) -> Case:
    """One row: the pipeline over three devices with a spare, after these injections."""
    return Case(gate="failure_domain", contract=contract, trial=(*ON_THREE, *failures), **parts)


CASES = [
    after(
        name="recovery was not measured",
        outcome="UNKNOWN",
        limit=lost("device", horizon="after_recovery", max_capacity_share_lost=0.1),
        sentence="Device a0 takes down 1 of 1 serving group; what comes back is not known. "
        "No recovery from it was measured.",
        also={"missing": ("/trials/t/failures",)},
    ),
    after(
        name="a measured share lost replaces arithmetic",
        outcome="PASS",
        limit=lost("device", max_capacity_share_lost=0.25),
        failures=injected(output_tokens_per_s=150),
        sentence="Device a0 takes down 1 of 1 serving group and 0.250 of capacity (injection loss); at most 0.250.",
        also={
            "measured": 0.25,
            "worst": {"window": "w1", "domain": "a0", "injection": "loss"},
            "notes": ("Measured with injection loss, not arithmetic.",),
        },
    ),
    after(
        name="the injection was at another load point",
        outcome="FAIL",
        limit=lost("device", max_capacity_share_lost=0.25),
        failures=injected(output_tokens_per_s=150, load_point="open"),
        sentence="Device a0 takes down 1 of 1 serving group and 1.000 of capacity; at most 0.250.",
    ),
    after(
        name="the injection hit another kind of domain",
        outcome="FAIL",
        limit=lost(max_capacity_share_lost=0.25),
        failures=injected(output_tokens_per_s=150),
        sentence="Node node-a takes down 1 of 1 serving group and 1.000 of capacity; at most 0.250.",
    ),
    after(
        name="a node with fewer ranks proves nothing of one with more",
        outcome="FAIL",
        limit=lost(max_capacity_share_lost=0.25),
        failures=injected(output_tokens_per_s=150, kind="node_loss", domain="node-b"),
        sentence="Node node-a takes down 1 of 1 serving group and 1.000 of capacity; at most 0.250.",
    ),
    after(
        name="the lowest of several measured rates",
        outcome="FAIL",
        limit=lost("device", max_capacity_share_lost=0.25),
        failures=(
            *injected(output_tokens_per_s=150),
            ("/failures/again", {**LOSS, "output_tokens_per_s": 140}),
        ),
        sentence="Device a0 takes down 1 of 1 serving group and 0.300 of capacity (injection again); at most 0.250.",
        also={"measured": 0.3},
    ),
    after(
        name="all of it came back",
        outcome="PASS",
        limit=lost("device", horizon="after_recovery", max_capacity_share_lost=0),
        failures=injected(recovered_s=90, recovered_output_tokens_per_s=230),
        sentence="Device a0 takes down 1 of 1 serving group and 0.000 of capacity after recovery (injection "
        "loss); at most 0.000.",
        also={"notes": ("Measured with injection loss, not arithmetic.", "No longest recovery is declared.")},
    ),
    after(
        name="it came back too late",
        outcome="FAIL",
        limit=lost("device", horizon="after_recovery", max_recovery_s=60, max_capacity_share_lost=0.5),
        failures=injected(recovered_s=90, recovered_output_tokens_per_s=230),
        sentence="Device a0 takes down 1 of 1 serving group and 1.000 of capacity after recovery; at most 0.500.",
        also={"notes": (ARITHMETIC, "Injection loss recovered after 90 s; at most 60 s.", EVEN)},
    ),
    after(
        name="how long it took is not recorded",
        outcome="UNKNOWN",
        limit=lost("device", horizon="after_recovery", max_recovery_s=60, max_capacity_share_lost=0.5),
        failures=injected(recovered_output_tokens_per_s=230),
        sentence="Device a0 takes down 1 of 1 serving group; what comes back is not known. No recovery from it "
        "was measured.",
        also={"missing": ("/trials/t/failures/loss/recovered_s",)},
    ),
    after(
        name="what one injection does not say hides no failure of another",
        outcome="FAIL",
        limit=lost("device", horizon="after_recovery", max_capacity_share_lost=0.5),
        failures=(
            *injected(recovered_output_tokens_per_s=None),
            ("/failures/again", {**LOSS, "recovered_output_tokens_per_s": 60}),
        ),
        sentence="Device a0 takes down 1 of 1 serving group and 0.700 of capacity after recovery (injection again); "
        "at most 0.500.",
    ),
    after(
        name="the injection does not say under which load",
        outcome="UNKNOWN",
        limit=lost("device", horizon="after_recovery", max_capacity_share_lost=0.5),
        failures=(("/failures", {"loss": {"kind": "rank_loss", "recovered_output_tokens_per_s": 230}}),),
        sentence="Device a0 takes down 1 of 1 serving group; what comes back is not known. No recovery from it "
        "was measured.",
        also={"missing": ("/trials/t/failures/loss/load_point",)},
    ),
    after(
        name="without a spare nothing comes back",
        contract=(),
        outcome="FAIL",
        limit=lost("device", horizon="after_recovery", max_capacity_share_lost=0.5),
        sentence="Device a0 takes down 1 of 1 serving group and 1.000 of capacity after recovery; at most 0.500.",
        also={"notes": (ARITHMETIC, "No lost group can be restarted: 2 devices left for 3 ranks.", EVEN)},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
