"""``topogate check``: exit codes, what it prints, what it sends."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.command import client, main
from tests.command.stand_in import Say, stand_in

Capture = pytest.CaptureFixture[str]


def answer(**changes: Any) -> dict[str, Any]:
    """A check as the API answers it, as far as the program reads it."""
    base = {
        "matches": True,
        "because": "D-0001 r1 (tp1) is in force and matches.",
        "emergency": None,
        "differences": [],
    }
    return base | {"valid_until": None} | changes


DIFFERS = answer(
    matches=False,
    because="D-0001 r1 (tp1): /model/revision: decided r1, found r2. Owned by model.",
    differences=[
        {"key": "/model/revision", "how": "differs", "team": "model"},
        {"key": "/stack/driver/version", "how": "missing", "team": "kernel"},
    ],
)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of the command without the server."""
    monkeypatch.setenv("TOPOGATE_TOKEN", "tg_" + "t" * 43)
    monkeypatch.setattr(client, "FIRST_PAUSE_SECONDS", 0.001)
    file = tmp_path / "live.json"
    file.write_text('{"model": {"revision": "r2"}}')
    return ["check", "--slot", "chat/eu", "--identity", str(file), "--workspace", "lab"]


@pytest.mark.parametrize(
    ("say", "code"),
    [
        pytest.param(Say(200, answer()), 0, id="it matches"),
        pytest.param(Say(200, DIFFERS), 1, id="it does not"),
        pytest.param(Say(422, {"problems": [], "detail": "no"}), 2, id="bad input"),
        pytest.param(Say(403, {"detail": "no"}), 5, id="refused"),
        pytest.param(Say(None), 6, id="not reached"),
    ],
)
def test_exit_codes(asked: list[str], say: Say, code: int) -> None:
    with stand_in(say) as server:
        assert main([*asked, "--server", server.address]) == code


def test_an_identity_that_is_not_there_is_bad_input(asked: list[str]) -> None:
    asked[asked.index("--identity") + 1] = "/nowhere.json"
    assert main([*asked, "--server", "http://localhost:1"]) == 2


def test_the_first_difference_is_the_result_and_the_others_are_messages(asked: list[str], capsys: Capture) -> None:
    with stand_in(Say(200, DIFFERS)) as server:
        main([*asked, "--server", server.address, "--format", "text"])
    printed = capsys.readouterr()
    assert printed.out == "no: D-0001 r1 (tp1): /model/revision: decided r1, found r2. Owned by model.\n"
    assert printed.err == "also missing: /stack/driver/version (kernel)\n"


def test_json_is_the_answer(asked: list[str], capsys: Capture) -> None:
    with stand_in(Say(200, answer())) as server:
        main([*asked, "--server", server.address])
    assert json.loads(capsys.readouterr().out) == answer()


def test_an_emergency_is_printed(asked: list[str], capsys: Capture) -> None:
    emergency = {"incident": "INC-7", "failing_gates": ["ttft", "cost"]}
    found = answer(emergency=emergency, valid_until="2026-10-04T12:00:00Z")
    with stand_in(Say(200, found)) as server:
        assert main([*asked, "--server", server.address]) == 0
    assert "emergency INC-7 until 2026-10-04T12:00:00Z: fails ttft, cost" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "path"),
    [pytest.param([], "check", id="asked"), pytest.param(["--report"], "identity-reports", id="reported")],
)
def test_where_it_asks(asked: list[str], words: list[str], path: str) -> None:
    with stand_in(Say(200, answer())) as server:
        main([*asked, *words, "--server", server.address])
    assert server.asked[0].path == f"/api/v1/workspaces/lab/{path}"
    assert b'name="slot"\r\n\r\nchat/eu' in server.asked[0].body
    assert b'{"model": {"revision": "r2"}}' in server.asked[0].body
