"""``topogate what-if``: both decisions on stdout, exit code 0 whatever they are, 2 for what cannot be overridden."""

import json
from pathlib import Path

import pytest

from planner.command import main
from planner.overrides import Setting, overridden, overridden_bytes
from tests.planner.corpus import shipped

AS_OF = "2026-10-01T00:00:00Z"
EXAMPLES = Path(__file__).parents[2] / "examples"
WORKED = [str(EXAMPLES / "worked" / "contract.json"), str(EXAMPLES / "worked" / "evidence.json"), "--as-of", AS_OF]
TAIL = "/gates/ttft/saturated_p95/max_ms"
Capture = pytest.CaptureFixture[str]


def test_text_says_what_is_taken_to_be_otherwise_and_what_turns(capsys: Capture) -> None:
    overrides = ["--set", f"{TAIL}=400", "--without", "/gates/link_utilization"]
    assert main(["what-if", *WORKED, *overrides, "--reading", "t-wide-16:throughput.saturated=1e3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:8] == [
        "injected overrides: nothing here was measured, no plan, never to be signed",
        "slot=chat/eu-west;as_of=2026-10-01T00:00:00Z;planner=1.2.0",
        "set /gates/ttft/saturated_p95/max_ms=400 (was 500)",
        lines[3],
        "reading t-wide-16:throughput.saturated=1000.0 (was 1040)",
        "decision=SELECT_TOPOLOGY -> SELECT_TOPOLOGY",
        "selected=t-base-16 -> t-wide-16",
        "t-base-16 (tp4-pp2-ep2-dp1): ELIGIBLE -> REJECTED, place 1 -> -",
    ]
    assert lines[3].startswith('without /gates/link_utilization (was {"inter_node": {"link_class": ')
    assert lines[9].startswith("  ttft.saturated_p95 PASS -> FAIL: TTFT p95 at saturated is 420 ms in window sat-2;")


def test_json_is_the_canonical_answer(capsys: Capture) -> None:
    assert main(["what-if", *WORKED, "--set", f"{TAIL}=400", "--format", "json"]) == 0
    answer = overridden(*shipped("worked"), AS_OF, settings=(Setting(at=TAIL, value=400),))
    assert capsys.readouterr() == (overridden_bytes(answer).decode() + "\n", "")


REFUSED: dict[str, tuple[list[str], list[str]]] = {
    "no override": ([], ["--set: expected an override: --set, --without or --reading, found none"]),
    "texts that are none": (
        ["--set", "/gates", "--set", f"{TAIL}=soon", "--reading", "t=1", "--reading", "t:ttft.a=fast"],
        [
            "/gates: expected POINTER=VALUE, found no =",
            f'{TAIL}: expected a value in JSON, found "soon"',
            't=1: expected TRIAL:GATE.LIMIT=VALUE, found "t=1"',
            't:ttft.a: expected a number, found "fast"',
        ],
    ),
    "a limit that is not there": (
        ["--without", "/gates/e2e"],
        ["/gates/e2e: expected something that the contract has, found nothing"],
    ),
    "a contract that is refused": (
        ["--set", "/needs/capacity/output_tokens_per_s=-1"],
        ["/needs/capacity/output_tokens_per_s: expected a number of at least 0, found -1"],
    ),
}


@pytest.mark.parametrize(("arguments", "problems"), REFUSED.values(), ids=REFUSED.keys())
def test_every_wrong_override_is_named(arguments: list[str], problems: list[str], capsys: Capture) -> None:
    assert main(["what-if", *WORKED, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.removeprefix("override: ").rpartition(" [")[0] for line in err.splitlines()] == problems


def test_refusals_are_json_where_that_is_asked_for(capsys: Capture) -> None:
    assert main(["what-if", *WORKED, "--without", "/gates/e2e", "--format", "json"]) == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["problems"][0]["code"] == "document/override"
