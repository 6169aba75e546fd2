"""Identity, service, age, telemetry and completeness."""

import pytest

from tests.planner.documents import ABSENT
from tests.planner.gates.cases import Case, check, parameters

NEVER = {"identity": {"FAIL"}}
"""Evidence about something else is UNKNOWN."""

W1 = "/trials/t/windows/w1"
RUN = "/identities/run"

IDENTITY = [
    Case(
        name="every leaf matches",
        gate="identity",
        outcome="PASS",
        sentence="All 45 bound leaves are recorded and match.",
        also={"measured": 45, "limit": 45, "missing": ()},
    ),
    Case(
        name="a leaf only the trial has is not bound",
        gate="identity",
        outcome="PASS",
        evidence=((f"{RUN}/stack/runtime", {"version": "13"}),),
        sentence="All 45 bound leaves are recorded and match.",
        also={"notes": ("1 leaf only the trial has, not bound.",)},
    ),
    Case(
        name="another driver",
        gate="identity",
        outcome="UNKNOWN",
        evidence=((f"{RUN}/stack/driver/version", "591.00"),),
        sentence='/stack/driver/version is "591.00"; the contract says "590.44".',
        also={"measured": 44, "measured_at": (f"{RUN}/stack/driver/version",)},
    ),
    Case(
        name="unknown never matches",
        gate="identity",
        outcome="UNKNOWN",
        evidence=((f"{RUN}/model/revision", "unknown"),),
        sentence="/model/revision is not known.",
        also={"missing": (f"{RUN}/model/revision",)},
    ),
    Case(
        name="four leaves missing, three named",
        gate="identity",
        outcome="UNKNOWN",
        evidence=((f"{RUN}/hardware/nics", ABSENT),),
        sentence="/hardware/nics/a-nic/node is not known. /hardware/nics/a-nic/use is not known. "
        "/hardware/nics/b-nic/node is not known. And 1 more.",
    ),
]

EQUAL_SERVICE = [
    Case(
        name="choices are the contract's",
        gate="equal_service",
        outcome="PASS",
        sentence="Model, precision, workload and what else must be equal are the contract's.",
    ),
    Case(
        name="another revision",
        gate="equal_service",
        outcome="FAIL",
        evidence=((f"{RUN}/model/revision", "r2"),),
        sentence='/model/revision is "r2"; the contract says "r1".',
        also={"worst": {"leaf": "/model/revision"}, "measured_at": (f"{RUN}/model/revision",)},
    ),
    Case(
        name="a leaf of the stack that the contract makes a choice",
        gate="equal_service",
        outcome="FAIL",
        contract=(("/comparison", {"choice_keys": ["/identity/stack/driver"]}),),
        evidence=((f"{RUN}/stack/driver/version", "591.00"),),
        sentence='/stack/driver/version is "591.00"; the contract says "590.44".',
    ),
    Case(
        name="a choice that is not recorded",
        gate="equal_service",
        outcome="UNKNOWN",
        evidence=((f"{RUN}/precision/kv_cache", ABSENT),),
        sentence="/precision/kv_cache is not known.",
        also={"missing": (f"{RUN}/precision/kv_cache",)},
    ),
    Case(
        name="another number of devices than the contract compares",
        gate="equal_service",
        outcome="FAIL",
        contract=(("/comparison", {"accelerator_count": 8}),),
        sentence="4 ranks placed; the contract compares 8.",
        also={"limit_at": "/comparison/accelerator_count"},
    ),
]

OLDEST_AGE = "The oldest window ended 42,500 s before the as-of time; "
FRESHNESS = [
    Case(
        name="no maximum declared",
        gate="freshness",
        outcome="PASS",
        sentence=OLDEST_AGE + "no maximum declared.",
        also={"measured": 42500, "limit": None, "unit": "s"},
    ),
    Case(
        name="exactly the maximum",
        gate="freshness",
        outcome="PASS",
        contract=(("/validity", {"max_evidence_age_s": 42500}),),
        sentence=OLDEST_AGE + "at most 42,500 s.",
        also={"margin": 0, "worst": {"window": "w1"}, "limit_at": "/validity/max_evidence_age_s"},
    ),
    Case(
        name="one second too old",
        gate="freshness",
        outcome="FAIL",
        contract=(("/validity", {"max_evidence_age_s": 42499}),),
        sentence=OLDEST_AGE + "at most 42,499 s.",
    ),
    Case(
        name="after the as-of time",
        gate="freshness",
        outcome="UNKNOWN",
        trial=(("/windows/w2/end", "2026-10-02T00:00:01Z"),),
        sentence="Window w2 ends 2026-10-02T00:00:01Z, after the as-of time.",
        also={"missing": ("/trials/t/windows/w2/end",)},
    ),
    Case(
        name="no zone",
        gate="freshness",
        outcome="UNKNOWN",
        trial=(("/windows/w2/end", "2026-09-14T00:00:00"),),
        sentence="Window w2 ends 2026-09-14T00:00:00, which names no zone; a time ends in Z.",
        also={"missing": ("/trials/t/windows/w2/end",)},
    ),
    Case(
        name="no counted window",
        gate="freshness",
        outcome="UNKNOWN",
        trial=(("/windows/w1/purpose", "soak"), ("/windows/w2/purpose", "warmup")),
        sentence="No counted window.",
        also={"missing": ("/trials/t/windows",)},
    ),
]


FLOOR = {"load_point": "saturated", "min_completed_share": 0.95}


def requests(**counts: int | None) -> tuple[tuple[str, object], ...]:
    return (("/windows/w1/load/requests", {"completed": 200, **counts}),)


COMPLETENESS = [
    Case(
        name="exactly the floor",
        gate="completeness",
        outcome="PASS",
        limit=FLOOR | {"min_completed_share": 0.8},
        trial=requests(sent=250, failed=50, cut_off=0),
        sentence="0.800 of the requests completed at saturated in window w1; at least 0.800.",
        also={"measured": 0.8, "margin": 0, "worst": {"window": "w1"}},
    ),
    Case(
        name="fast because it refused work",
        gate="completeness",
        outcome="FAIL",
        limit=FLOOR,
        trial=requests(sent=800, failed=600, cut_off=0),
        sentence="0.250 of the requests completed at saturated in window w1; at least 0.950.",
    ),
    Case(
        name="cut off by the end of the run",
        gate="completeness",
        outcome="PASS",
        limit=FLOOR | {"min_completed_share": 1},
        trial=requests(sent=208, failed=0, cut_off=8),
        sentence="1.000 of the requests completed at saturated in window w1; at least 1.000.",
        also={"notes": ("8 cut off at the end of window w1.",)},
    ),
    Case(
        name="more cut off than can have been in flight",
        gate="completeness",
        outcome="FAIL",
        limit=FLOOR,
        trial=requests(sent=250, failed=0, cut_off=50),
        sentence="0.826 of the requests completed at saturated in window w1; at least 0.950.",
    ),
    Case(
        name="sent not recorded",
        gate="completeness",
        outcome="UNKNOWN",
        limit=FLOOR,
        trial=requests(),
        sentence="Requests sent and completed are not recorded in window w1.",
        also={"missing": ("/trials/t/windows/w1/load/requests/sent",)},
    ),
    Case(
        name="no counted window",
        gate="completeness",
        outcome="UNKNOWN",
        limit=FLOOR | {"load_point": "open"},
        sentence="No counted window at open.",
    ),
]

CASES = [*COMPLETENESS, *IDENTITY, *EQUAL_SERVICE, *FRESHNESS]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
