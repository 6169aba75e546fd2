"""What telemetry and consistency say of the evidence as a whole; each identity is in ``test_consistency``."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT
from tests.planner.factories import BECAUSE, Changes, judged
from tests.planner.gates.cases import Case, check, parameters

NEVER = {"telemetry": {"FAIL"}, "consistency": {"FAIL"}}
"""Missing evidence, and evidence that can not be true, is UNKNOWN."""

W1 = "/trials/t/windows/w1"


def required(metric: str, **more: Any) -> tuple[tuple[str, Any], ...]:
    entry = {
        "metric": metric,
        "scope_at_least": "rank",
        "load_points": ["saturated"],
        "level": "required",
        "because": "A reason.",
        **more,
    }
    return (("/evidence_required", {"needed": entry}),)


PEAK = "per_rank.device_used_peak_bytes"
NOT_AS_ASKED = "at saturated is not recorded as asked"
TELEMETRY = [
    Case(
        name="what the declared limit reads is there",
        gate="telemetry",
        outcome="PASS",
        sentence="All 6 required readings are recorded.",
    ),
    Case(
        name="a total that the limit reads is missing",
        gate="telemetry",
        outcome="UNKNOWN",
        trial=(("/windows/w1/load/output_tokens_total", None),),
        sentence=f"load.output_tokens_total {NOT_AS_ASKED} (1 gap).",
        also={"missing": (f"{W1}/load/output_tokens_total",), "measured": 2, "limit": 3},
    ),
    Case(
        name="a rank without the value",
        gate="telemetry",
        outcome="UNKNOWN",
        contract=required(PEAK, scope_at_least="device"),
        trial=(("/windows/w1/per_rank/device_used_peak_bytes/values/1", None),),
        sentence=f"{PEAK} {NOT_AS_ASKED} (1 gap).",
        also={"missing": (f"{W1}/per_rank/device_used_peak_bytes/values/1",), "limit_at": "/evidence_required"},
    ),
    Case(
        name="a coarser scope than asked",
        gate="telemetry",
        outcome="UNKNOWN",
        contract=required(PEAK, scope_at_least="rank"),
        sentence=f"{PEAK} {NOT_AS_ASKED} (2 gaps).",
    ),
    Case(
        name="advisory evidence changes nothing",
        gate="telemetry",
        outcome="PASS",
        contract=required("per_rank.collective_wait_ms", level="advisory"),
        sentence="All 6 required readings are recorded.",
        also={"notes": (f"Advisory: per_rank.collective_wait_ms {NOT_AS_ASKED} (2 gaps).",)},
    ),
    Case(
        name="fewer samples than asked",
        gate="telemetry",
        outcome="UNKNOWN",
        contract=required("load.ttft_ms", scope_at_least="deployment", min_samples=201),
        sentence=f"load.ttft_ms {NOT_AS_ASKED} (1 gap).",
        also={"missing": (f"{W1}/load/ttft_ms/n",)},
    ),
    Case(
        name="a longer interval than asked",
        gate="telemetry",
        outcome="UNKNOWN",
        contract=required("links.peak_tx_bytes", scope_at_least="nic", max_sample_interval_s=0.5),
        sentence=f"links.peak_tx_bytes {NOT_AS_ASKED} (4 gaps).",
    ),
    Case(
        name="a section that documents do not have yet",
        gate="telemetry",
        outcome="UNKNOWN",
        contract=required("experts.tokens"),
        sentence=f"experts.tokens {NOT_AS_ASKED} (2 gaps).",
        also={"missing": (f"{W1}/experts/tokens", "/trials/t/windows/w2/experts/tokens")},
    ),
]

NOTHING_READ = {"cost": {"price": {"max_usd_per_hour": 100, "because": "A reason."}}}
NO_READING = [
    Case(
        name="nothing reads a measurement",
        gate="telemetry",
        outcome="NOT_APPLICABLE",
        contract=(("/gates", NOTHING_READ),),
        sentence="No limit or selection key reads a measurement.",
    ),
]

CONSISTENCY = [
    Case(
        name="identities hold",
        gate="consistency",
        outcome="PASS",
        sentence="72 identities over 2 counted windows hold.",
        also={"measured": 72, "limit": 72, "notes": ("72 identities evaluated.",)},
    ),
    Case(
        name="a breach names both fields",
        gate="consistency",
        outcome="UNKNOWN",
        trial=(("/windows/w1/load/ttft_ms/p50", 450),),
        sentence="Window w1: ttft_ms p50 450 is above p95 400.",
        also={
            "missing": (f"{W1}/load/ttft_ms/p50", f"{W1}/load/ttft_ms/p95"),
            "worst": {"window": "w1", "identity": "C4"},
        },
    ),
    Case(
        name="nothing to evaluate",
        gate="consistency",
        outcome="NOT_APPLICABLE",
        trial=tuple(
            (f"/windows/{window}/{section}", ABSENT)
            for window in ("w1", "w2")
            for section in ("load", "links", "per_rank")
        ),
        sentence="No identity has all its fields recorded.",
    ),
]

CASES = [*TELEMETRY, *NO_READING, *CONSISTENCY]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)


def test_telemetry_does_not_apply_where_nothing_reads_a_measurement() -> None:
    locality = {"tensor_locality": {"limit": {"rule": "inside_node", "because": BECAUSE}}}
    telemetry = judged(locality).gates["telemetry"].limits["always"]
    assert (telemetry.outcome, telemetry.sentence) == (
        "NOT_APPLICABLE",
        "No limit or selection key reads a measurement.",
    )


def test_links_owe_nothing_where_no_group_crosses_a_node() -> None:
    one_node = Changes(
        contract=required("links.peak_tx_bytes", scope_at_least="nic"),
        trial=(
            ("/topology/instances/0/pp", 1),
            ("/topology/instances/0/dp", 2),
            ("/windows/w1/links", ABSENT),
        ),
    )
    telemetry = judged(None, one_node).gates["telemetry"].limits["always"]
    assert (telemetry.outcome, telemetry.sentence) == ("PASS", "All 6 required readings are recorded.")
