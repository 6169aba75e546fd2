"""``topogate submit`` on a bad day: lost answers, redirects, busy servers, strange answers, wrong addresses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.command import client, main
from planner.command.client import Client, multipart
from tests.command.stand_in import Say, StandIn, stand_in
from tests.shared import ROOT

Capture = pytest.CaptureFixture[str]
# Made for this test and trusted by nobody.
CERTIFICATE = ROOT / "tests/data/tls/self-signed.pem"
TOKEN = "tg_" + "t" * 43
PLAN = {"decision": "SELECT_TOPOLOGY", "selected_topology": "tp1", "plan_id": "sha256:ab"}
Submit = Callable[..., int]


def revision(state: str = "planned", **changes: Any) -> dict[str, Any]:
    """A revision as the API answers it, as far as the program reads it."""
    plan = PLAN if state == "planned" else None
    base = {"decision": 7, "revision": 1, "state": state, "as_of": "2026-10-01T00:00:00Z", "page": "http://x/7"}
    return {**base, "plan": plan, "error": None, **changes}


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_PAUSE_SECONDS", 0.001)


@pytest.fixture
def submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Submit:
    """Submit two small files to an address."""
    monkeypatch.setenv("TOPOGATE_TOKEN", TOKEN)
    files = [tmp_path / "contract.json", tmp_path / "evidence.json"]
    for file in files:
        file.write_bytes(b'{"\xff": "not even UTF-8"}')

    def run(address: str, *words: str) -> int:
        return main(["submit", *map(str, files), "--server", address, "--workspace", "lab", *words])

    return run


def keys(server: StandIn) -> set[str]:
    return {asked.headers["Idempotency-Key"] for asked in server.asked if asked.method == "POST"}


def test_a_lost_answer_is_asked_for_again_under_the_same_key(submit: Submit) -> None:
    with stand_in(Say(None), Say(201, revision())) as server:
        assert submit(server.address) == 0
    assert [asked.method for asked in server.asked] == ["POST", "POST"]
    assert server.asked[0].body == server.asked[1].body
    assert len(keys(server)) == 1


def test_the_key_is_the_content_and_nothing_else(submit: Submit) -> None:
    with stand_in(Say(201, revision())) as server:
        for words in ((), (), ("--title", "T"), ("--as-of", "2026-10-01T00:00:00Z"), ("--decision", "7")):
            submit(server.address, *words)
    sent = [asked.headers["Idempotency-Key"] for asked in server.asked]
    assert sent[0] == sent[1]
    assert len(set(sent)) == 4


def test_documents_are_sent_byte_for_byte(submit: Submit) -> None:
    with stand_in(Say(201, revision())) as server:
        submit(server.address)
    assert server.asked[0].body.count(b'\r\n\r\n{"\xff": "not even UTF-8"}\r\n') == 2


def test_a_redirect_is_not_followed_and_the_token_stays(submit: Submit, capsys: Capture) -> None:
    with stand_in(Say(200, revision())) as other:
        with stand_in(Say(307, {}, {"Location": f"{other.address}/api/v1/x"})) as server:
            assert submit(server.address) == 6
        assert other.asked == []
    assert f"it answered 307 and names {other.address}/api/v1/x" in capsys.readouterr().err


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again_after_a_pause(status: int, submit: Submit) -> None:
    with stand_in(Say(status, {}, {"Retry-After": "0"}), Say(201, revision())) as server:
        assert submit(server.address) == 0
    assert len(server.asked) == 2


def test_the_pause_is_the_one_that_the_server_asks_for() -> None:
    pauses: list[float] = []
    with stand_in(Say(429, {}, {"Retry-After": "7"}), Say(429, {}, {"Retry-After": "9999"}), Say(200, {})) as server:
        Client(server.address, TOKEN, sleep=pauses.append).get(("x",))
    assert pauses == [7.0, 30.0]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(Say(503, {}), "not reached in 4 tries: it answered 503", id="always busy"),
        pytest.param(Say(None), "not reached in 4 tries: ", id="never an answer"),
        pytest.param(Say(200, b"<html>"), "it answered 200, not as a Topogate server", id="a page"),
        pytest.param(Say(200, b"[" * 100_000), "it answered 200, not as a Topogate server", id="brackets"),
        pytest.param(Say(500, {"detail": "?"}), "the server answered 500: ?", id="an error of the server"),
    ],
)
def test_no_usable_answer_is_six(answer: Say, message: str, submit: Submit, capsys: Capture) -> None:
    with stand_in(answer) as server:
        assert submit(server.address) == 6
    printed = capsys.readouterr()
    assert (printed.out, message in printed.err) == ("", True)


def test_nobody_at_the_address_is_six(submit: Submit, capsys: Capture) -> None:
    with stand_in(Say(200, {})) as server:
        pass
    assert submit(server.address) == 6
    assert "Connection refused" in capsys.readouterr().err


def test_the_time_to_wait_ends(submit: Submit, capsys: Capture) -> None:
    with stand_in(Say(201, revision("queued"))) as server:
        assert submit(server.address, "--wait", "--timeout", "0") == 6
    assert "D-0007 r1 is queued after 0 s" in capsys.readouterr().err


def test_a_plan_that_was_given_up_is_five(submit: Submit, capsys: Capture) -> None:
    failed = revision("failed", error={"code": "given_up", "detail": "It ended 3 times."})
    with stand_in(Say(201, revision("queued")), Say(200, failed)) as server:
        assert submit(server.address, "--wait") == 5
    assert "D-0007 r1 was not planned: It ended 3 times. [given_up]" in capsys.readouterr().err


def test_a_problem_of_the_request_is_told_under_that_name(submit: Submit, capsys: Capture) -> None:
    wrong = {
        "document": "request",
        "code": "request/title",
        "pointer": "title",
        "expected": "1 to 200 printable characters",
        "found": "201 characters",
    }
    with stand_in(Say(422, {"problems": [wrong]})) as server:
        assert submit(server.address, "--format", "text") == 2
    assert capsys.readouterr().err == (
        "request: title: expected 1 to 200 printable characters, found 201 characters [request/title]\n"
    )


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8000",
        "ftp://localhost",
        "http://",
        "https://user:secret@localhost",
        "https://localhost/?a=b",
        "http://[x",
    ],
)
def test_an_address_that_is_none_is_bad_input(address: str, submit: Submit, capsys: Capture) -> None:
    assert submit(address) == 2
    assert "--server: expected http(s)://host" in capsys.readouterr().err


def test_the_token_does_not_travel_unencrypted_unless_told_to(submit: Submit, capsys: Capture) -> None:
    assert submit("http://topogate.invalid") == 2
    assert "expected https, found http://topogate.invalid" in capsys.readouterr().err
    assert submit("http://topogate.invalid", "--plain-http") == 6


def test_a_certificate_that_nobody_vouches_for_is_refused(
    submit: Submit, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    with stand_in(Say(201, revision()), certificate=CERTIFICATE) as server:
        assert submit(server.address) == 6
        assert "self-signed certificate" in capsys.readouterr().err
        assert server.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert submit(server.address) == 0


def test_without_a_token_nothing_is_sent(submit: Submit, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.delenv("TOPOGATE_TOKEN")
    with stand_in(Say(201, revision())) as server:
        assert submit(server.address) == 2
        assert server.asked == []
        page = f"{server.address}/w/lab/settings/tokens"
    wanted = f"expected an API token in $TOPOGATE_TOKEN or --token-file, as made on {page}, found none"
    assert wanted in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "detail"), [(401, "This is no token of this server."), (403, "This token has no scope submit.")]
)
def test_a_refused_token_is_told_where_one_is_made(status: int, detail: str, submit: Submit, capsys: Capture) -> None:
    with stand_in(Say(status, {"detail": detail})) as server:
        assert submit(f"{server.address}/reviews/", "--workspace", "a b") == 5
        page = f"{server.address}/reviews/w/a%20b/settings/tokens"
    make = f"Make one on {page}; $TOPOGATE_TOKEN or --token-file takes it."
    assert capsys.readouterr().err == f"topogate: refused ({status}): {detail} {make}\n"


def test_what_a_person_may_not_do_is_no_fault_of_the_token(submit: Submit, capsys: Capture) -> None:
    with stand_in(Say(403, {"detail": "Only members submit."})) as server:
        assert submit(server.address) == 5
    assert capsys.readouterr().err == "topogate: refused (403): Only members submit.\n"


@pytest.mark.parametrize("option", ["--title", "--workspace"])
def test_a_text_that_is_no_utf_8_is_bad_input(option: str, submit: Submit, capsys: Capture) -> None:
    assert submit("http://localhost:1", option, "a\udcff") == 2
    assert f"argument {option}: expected UTF-8, found" in capsys.readouterr().err


def test_a_workspace_is_read_alike_by_every_command(capsys: Capture) -> None:
    asked = ["--server", "http://localhost:1", "--workspace", "a\udcff"]
    assert main(["check", "--slot", "chat", "--identity", "-", *asked]) == 2
    assert "argument --workspace: expected UTF-8, found" in capsys.readouterr().err


def test_a_name_of_a_file_that_is_no_utf_8_can_be_a_title(submit: Submit, tmp_path: Path) -> None:
    files = [tmp_path / "contract\udcff\n.json", tmp_path / "evidence.json"]
    for file in files:
        file.write_bytes(b"{}")
    with stand_in(Say(201, revision())) as server:
        assert main(["submit", *map(str, files), "--server", server.address, "--workspace", "lab"]) == 0
    assert b"\r\n\r\ncontract\\udcff\\n.json, evidence.json\r\n" in server.asked[0].body


def test_both_files_that_cannot_be_read_are_told_as_json(submit: Submit, tmp_path: Path, capsys: Capture) -> None:
    absent = [str(tmp_path / name) for name in ("no-contract", "no-evidence")]
    assert main(["submit", *absent, "--server", "http://localhost:1", "--workspace", "lab"]) == 2
    assert [json.loads(line)["file"] for line in capsys.readouterr().out.splitlines()] == absent


def test_a_boundary_never_stands_in_what_it_bounds() -> None:
    content_type, body = multipart({"title": "t"}, {"contract": b"--x", "evidence": b"\r\n--topogate-"})
    boundary = content_type.partition("boundary=")[2].encode()
    assert body.count(b"--" + boundary) == 4
