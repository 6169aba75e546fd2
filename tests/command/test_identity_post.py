"""``topogate identity post``: exit codes, what it prints, what it sends."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.command import client, main
from tests.command.stand_in import Say, stand_in

Capture = pytest.CaptureFixture[str]


def answer(**changes: Any) -> dict[str, Any]:
    """How a slot stands, as the API answers it, as far as the program reads it."""
    awaited: dict[str, Any] = {
        "nodes": [],
        "nodes_in_all": 0,
        "keys": [],
        "keys_in_all": 0,
        "ranks": [],
        "ranks_in_all": 0,
    }
    awaited |= {"nics": [], "nics_in_all": 0}
    base = {
        "matches": True,
        "because": "D-0001 r1 (tp2) is in force and matches.",
        "emergency": None,
        "valid_until": None,
        "differences": [],
        "awaited": awaited,
        "contradictions": [],
    }
    return base | changes


WAITING = answer(
    matches=False,
    because="D-0001 r1 (tp2): Not reported: 12 of 20 ranks. Waiting for node-b.",
    awaited={
        "nodes": ["node-b"],
        "nodes_in_all": 1,
        "keys": [],
        "keys_in_all": 0,
        "ranks": list(range(8, 20)),
        "ranks_in_all": 12,
        "nics": [0, 1],
        "nics_in_all": 2,
    },
    contradictions=['/stack/engine/version: node-a as decided; node-c "2.0"'],
)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of the command without the server."""
    monkeypatch.setenv("TOPOGATE_TOKEN", "tg_" + "t" * 43)
    monkeypatch.setattr(client, "FIRST_PAUSE_SECONDS", 0.001)
    files = [tmp_path / "node-a.json", tmp_path / "node-b.json"]
    for file in files:
        file.write_text(json.dumps({"host": file.stem}))
    return ["identity", "post", *map(str, files), "--slot", "chat/eu", "--workspace", "lab"]


@pytest.mark.parametrize(
    ("say", "code"),
    [
        pytest.param(Say(200, answer()), 0, id="it matches"),
        pytest.param(Say(200, WAITING), 1, id="a host is waited for"),
        pytest.param(Say(422, {"problems": [], "detail": "no"}), 2, id="bad input"),
        pytest.param(Say(415, {"detail": "no"}), 2, id="another form"),
        pytest.param(Say(403, {"detail": "no"}), 5, id="not allowed"),
        pytest.param(Say(409, {"detail": "no"}), 5, id="an older report"),
        pytest.param(Say(None), 6, id="not reached"),
    ],
)
def test_exit_codes(asked: list[str], say: Say, code: int) -> None:
    with stand_in(say) as server:
        assert main([*asked, "--server", server.address]) == code


def test_every_file_is_a_part_of_its_own_byte_for_byte(asked: list[str]) -> None:
    with stand_in(Say(200, answer())) as server:
        main([*asked, "--server", server.address])
        (request,) = server.asked
    assert request.path == "/api/v1/workspaces/lab/identity-reports"
    assert request.body.count(b'name="identity"') == 2
    assert b'{"host": "node-a"}' in request.body
    assert b'{"host": "node-b"}' in request.body


def test_a_file_that_is_not_there_is_bad_input_and_nothing_is_sent(asked: list[str]) -> None:
    asked.insert(2, "/nowhere.json")
    assert main([*asked, "--server", "http://localhost:1"]) == 2


def test_what_the_server_says_is_no_identity_is_said_by_name(asked: list[str], capsys: Capture) -> None:
    problem = {"document": "request", "code": "request/identity", "pointer": "identity", "found": "a"}
    said = {"problems": [{**problem, "expected": "an identity with one of hardware, model"}], "detail": "no"}
    with stand_in(Say(422, said)) as server:
        code = main([*asked, "--server", server.address, "--format", "text"])
    assert (code, "an identity with one of hardware, model" in capsys.readouterr().err) == (2, True)


def test_what_is_waited_for_and_who_contradicts_whom_are_messages(asked: list[str], capsys: Capture) -> None:
    with stand_in(Say(200, WAITING)) as server:
        main([*asked, "--server", server.address, "--format", "text"])
    printed = capsys.readouterr()
    assert printed.out == "no: D-0001 r1 (tp2): Not reported: 12 of 20 ranks. Waiting for node-b.\n"
    assert printed.err.splitlines() == [
        "not reported: nodes node-b",
        "not reported: ranks 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 and 2 more",
        "not reported: NICs of ranks 0, 1",
        'reports differ: /stack/engine/version: node-a as decided; node-c "2.0"',
    ]
