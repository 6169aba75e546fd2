"""Quality of this topology's output, and what goes wrong under load."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.gates.cases import Case, check, parameters

Limit = dict[str, Any]
Trial = tuple[Change, ...]
AT = "/trials/t/windows"
FLOOR = {"benchmark": "gsm8k", "min_score": 0.8}
DROP = {"benchmark": "gsm8k", "max_drop": 0.02}
NAME = "tp2-pp2-ep1-dp1"
INTERVAL = {"low": 0.5, "high": 0.9, "confidence": 0.95}


def score(value: float | None, **changed: Any) -> tuple[Change, ...]:
    entry = {
        "benchmark": "gsm8k",
        "topology": NAME,
        "identity_id": "run",
        "score": value,
        "n": 1319,
        "interval": INTERVAL,
        **changed,
    }
    return (("/quality", {"q": {name: found for name, found in entry.items() if found is not ABSENT}}),)


def failed(count: int) -> tuple[Change, ...]:
    return (("/windows/w1/load/requests/sent", 200 + count), ("/windows/w1/load/requests/failed", count))


def incidents(kind: str, first: int | None, second: int | None = 0, **more: Any) -> tuple[Change, ...]:
    return (
        ("/windows/w1/incidents", {kind: {"count": first, **more}}),
        ("/windows/w2/incidents", {kind: {"count": second}}),
    )


def soak(kind: str, count: int, first_after_s: int) -> tuple[Change, ...]:
    window = {
        "purpose": "soak",
        "load_point": "saturated",
        "start": "2026-10-01T14:00:00Z",
        "end": "2026-10-01T15:00:00Z",
        "incidents": {kind: {"count": count, "first_after_s": first_after_s}},
    }
    return (*incidents(kind, 0), ("/windows/soak-1", window))


def errors(
    name: str, outcome: str, limit: dict[str, Any], trial: tuple[Change, ...], sentence: str, **also: Any
) -> Case:
    limit = {"load_point": "saturated", **limit}
    return Case(name=name, gate="errors", outcome=outcome, limit=limit, trial=trial, sentence=sentence, also=also)


CASES = [
    Case(
        name="to the score",
        gate="quality",
        outcome="PASS",
        limit=FLOOR,
        trial=score(0.8),
        sentence=f'{NAME} scores 0.8 on "gsm8k"; at least 0.8.',
        also={
            "measured": 0.8,
            "margin": 0,
            "comparator": ">=",
            "measured_at": ("/trials/t/quality/q/score",),
            "limit_at": "/gates/quality/limit/min_score",
        },
    ),
    Case(
        name="below the floor",
        gate="quality",
        outcome="FAIL",
        limit=FLOOR,
        trial=score(0.61),
        sentence=f'{NAME} scores 0.61 on "gsm8k"; at least 0.8.',
    ),
    Case(
        name="a drop below the reference, to the point",
        gate="quality",
        outcome="PASS",
        limit=DROP,
        trial=score(0.78, reference_score=0.8),
        sentence=f'{NAME} scores 0.02 below the reference on "gsm8k"; at most 0.02.',
        also={"comparator": "<="},
    ),
    Case(
        name="a larger drop",
        gate="quality",
        outcome="FAIL",
        limit=DROP,
        trial=score(0.77, reference_score=0.8),
        sentence=f'{NAME} scores 0.03 below the reference on "gsm8k"; at most 0.02.',
    ),
    Case(
        name="better than the reference",
        gate="quality",
        outcome="PASS",
        limit=DROP,
        trial=score(0.81, reference_score=0.8),
        sentence=f'{NAME} scores −0.01 below the reference on "gsm8k"; at most 0.02.',
    ),
    Case(
        name="no reference to drop from",
        gate="quality",
        outcome="UNKNOWN",
        limit=DROP,
        trial=score(0.8),
        sentence=f'No usable score on "gsm8k" is recorded for {NAME}. Its reference_score is not recorded.',
        also={"missing": ("/trials/t/quality/q/reference_score",)},
    ),
    Case(
        name="measured on another topology",
        gate="quality",
        outcome="UNKNOWN",
        limit=FLOOR,
        trial=score(0.83, topology="tp1-pp1-ep1-dp1"),
        sentence=f'No usable score on "gsm8k" is recorded for {NAME}. '
        f'0.83 was measured on "tp1-pp1-ep1-dp1", not on {NAME}.',
        also={"missing": ("/trials/t/quality",)},
    ),
    Case(
        name="measured with another identity",
        gate="quality",
        outcome="UNKNOWN",
        limit=FLOOR,
        evidence=(("/identities/earlier", {}),),
        trial=score(0.83, identity_id="earlier"),
        sentence=f'No usable score on "gsm8k" is recorded for {NAME}. '
        "0.83 was measured with identity earlier, not run.",
    ),
    Case(
        name="no number of items",
        gate="quality",
        outcome="UNKNOWN",
        limit=FLOOR,
        trial=score(0.83, n=None),
        sentence=f'{NAME} scores 0.83 on "gsm8k"; at least 0.8. Its n is not recorded.',
        also={"missing": ("/trials/t/quality/q/n",)},
    ),
    Case(
        name="no interval",
        gate="quality",
        outcome="UNKNOWN",
        limit=FLOOR,
        trial=score(0.83, interval=ABSENT),
        sentence=f'{NAME} scores 0.83 on "gsm8k"; at least 0.8. Its interval is not recorded.',
    ),
    Case(
        name="a score over nothing",
        gate="quality",
        outcome="UNKNOWN",
        limit=FLOOR,
        trial=score(0.83, n=0),
        sentence=f'{NAME} scores 0.83 on "gsm8k"; at least 0.8. It is over 0 items.',
    ),
    Case(
        name="a score at the end of its interval",
        gate="quality",
        outcome="PASS",
        limit=FLOOR,
        trial=score(0.9),
        sentence=f'{NAME} scores 0.9 on "gsm8k"; at least 0.8.',
    ),
    Case(
        name="a score outside its interval",
        gate="quality",
        outcome="UNKNOWN",
        limit=FLOOR,
        trial=score(0.91),
        sentence=f'{NAME} scores 0.91 on "gsm8k"; at least 0.8. Its interval, 0.5 to 0.9, does not hold it.',
    ),
    Case(
        name="another benchmark",
        gate="quality",
        outcome="UNKNOWN",
        limit=FLOOR,
        trial=score(0.83, benchmark="mmlu"),
        sentence=f'No usable score on "gsm8k" is recorded for {NAME}.',
    ),
    errors(
        "failed requests to the share",
        "PASS",
        {"max_failed_share": 0.2},
        failed(50),
        "0.200 of the requests failed at saturated in window w1; at most 0.200.",
        unit="share",
        margin=0,
    ),
    errors(
        "one failed request more",
        "FAIL",
        {"max_failed_share": 0.2},
        failed(51),
        "0.203 of the requests failed at saturated in window w1; at most 0.200.",
    ),
    errors(
        "retries not counted",
        "UNKNOWN",
        {"max_retried_share": 0.1},
        (),
        "Requests sent and retried are not recorded at saturated in window w1.",
        missing=tuple(f"{AT}/{w}/load/requests/retried" for w in ("w1", "w2")),
    ),
    errors(
        "retries",
        "FAIL",
        {"max_retried_share": 0.1},
        (("/windows/w1/load/requests/retried", 30), ("/windows/w2/load/requests/retried", 0)),
        "0.150 of the requests were retried at saturated in window w1; at most 0.100.",
    ),
    errors(
        "preemptions to the request",
        "PASS",
        {"max_preemptions_per_1000_requests": 5},
        (("/windows/w1/load/preemptions", 1), ("/windows/w2/load/preemptions", 0)),
        "5 preemptions per 1,000 requests at saturated in window w1; at most 5.",
        unit="ratio",
    ),
    errors(
        "preemptions not counted",
        "UNKNOWN",
        {"max_preemptions_per_1000_requests": 5},
        (("/windows/w1/load/preemptions", 1),),
        "Preemptions are not recorded at saturated in window w2.",
    ),
    errors(
        "a timeout in the soak",
        "FAIL",
        {"max_collective_timeouts": 0},
        soak("collective_timeouts", 1, 1440),
        "1 collective timeout at saturated in window soak-1; at most 0. First after 1,440 s of soak-1.",
        worst={"window": "soak-1"},
        measured_at=(f"{AT}/soak-1/incidents/collective_timeouts/count",),
        unit="incidents",
    ),
    errors(
        "a clean soak",
        "PASS",
        {"max_hangs": 0},
        soak("hangs", 0, 0),
        "0 hangs at saturated in window soak-1; at most 0.",
    ),
    errors(
        "nobody looked",
        "UNKNOWN",
        {"max_device_errors": 0},
        incidents("device_errors", 0, None),
        "Nobody looked for device errors at saturated in window w2.",
        missing=(f"{AT}/w2/incidents/device_errors",),
    ),
    errors(
        "an incident fails whatever is missing elsewhere",
        "FAIL",
        {"max_restarts": 1},
        incidents("restarts", 2, None),
        "2 restarts at saturated in window w1; at most 1.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
