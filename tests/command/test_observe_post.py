"""``topogate observe post``: exit codes, what it prints, what it sends."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.command import client, main
from tests.command.stand_in import Say, stand_in

Capture = pytest.CaptureFixture[str]
FINDING = {
    "state": "BREACH",
    "metric": "power_watts",
    "statistic": "max",
    "rank": 3,
    "value": 712.5,
    "value_up_to": 712.5,
    "limit": 700.0,
    "qualified": None,
    "team": "capacity",
}


def answer(**changes: Any) -> dict[str, Any]:
    """What became of a batch as the API answers it, as far as the program reads it."""
    base = {"decision": 7, "revision": 2, "is_new": True, "is_judged": True, "values": 90_000, "findings": []}
    return base | {"breaches": 0, "drifts": 0, "open_breaches": 0, "open_drifts": 0} | changes


BROKEN = answer(breaches=1, open_breaches=4, findings=[FINDING])


@pytest.fixture
def posting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of the command without the server."""
    monkeypatch.setenv("TOPOGATE_TOKEN", "tg_" + "t" * 43)
    monkeypatch.setattr(client, "FIRST_PAUSE_SECONDS", 0.001)
    file = tmp_path / "batch.json"
    file.write_text('{"schema": "topogate.observations/v1"}')
    return ["observe", "post", str(file), "--workspace", "lab"]


@pytest.mark.parametrize(
    ("say", "code"),
    [
        pytest.param(Say(201, answer()), 0, id="within the envelope"),
        pytest.param(Say(200, answer(is_new=False)), 0, id="taken before"),
        pytest.param(Say(201, BROKEN), 1, id="a limit is broken"),
        pytest.param(Say(201, answer(drifts=2)), 0, id="drift breaks no limit"),
        pytest.param(Say(422, {"problems": [], "detail": "no"}), 2, id="bad input"),
        pytest.param(Say(413, {"problems": [], "detail": "no"}), 2, id="too large"),
        pytest.param(Say(403, {"detail": "no"}), 5, id="refused"),
        pytest.param(Say(None), 6, id="not reached"),
    ],
)
def test_exit_codes(posting: list[str], say: Say, code: int) -> None:
    with stand_in(say) as server:
        assert main([*posting, "--server", server.address]) == code


def test_a_batch_that_is_not_there_is_bad_input(posting: list[str]) -> None:
    posting[2] = "/nowhere.json"
    assert main([*posting, "--server", "http://localhost:1"]) == 2


def test_json_is_the_answer(posting: list[str], capsys: Capture) -> None:
    with stand_in(Say(201, BROKEN)) as server:
        main([*posting, "--server", server.address, "--format", "json"])
    assert json.loads(capsys.readouterr().out) == BROKEN


def test_text_says_what_became_of_it_and_what_breaks_a_limit(posting: list[str], capsys: Capture) -> None:
    with stand_in(Say(201, BROKEN)) as server:
        main([*posting, "--server", server.address, "--format", "text"])
    assert capsys.readouterr().out.splitlines() == [
        "taken: 90,000 values of D-0007 r2; in breach 1, drifting 0; of the topology 4 and 0",
        "BREACH power_watts max of rank 3: 712.5 W, limit 700 W. Owned by capacity.",
    ]
