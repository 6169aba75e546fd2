"""What an outsider gets to check a log with: entries and checkpoints with proofs, and what a witness exchanges."""

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from planner.canonical import file_sha256
from reviews.models import AuditEntry, Checkpoint, Cosignature, LogTile
from reviews.services.checkpoints import checkpoint_sign
from reviews.transparency.checkpoints import checkpoint_opened
from reviews.transparency.keys import new_key, read_key
from reviews.transparency.merkle import consistency_holds, inclusion_holds, leaf_hash
from reviews.transparency.notes import COSIGNATURE, SIGNATURE, Signer, Verifier
from reviews.transparency.witness import cosigned, main
from tests.api.asking import API, Caller, caller, problem
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, cast, planned

WITNESS_PEM = new_key()
WITNESS = Signer("witness.example", read_key(WITNESS_PEM), COSIGNATURE)


def signed(people: Cast) -> Checkpoint:
    made = checkpoint_sign(people.workspace)
    assert made is not None
    return made


@pytest.fixture(autouse=True)
def keys(settings: Any) -> None:
    """A key of the log and a witness for this test alone."""
    settings.LOG_SIGNING_KEY = new_key()
    settings.LOG_WITNESSES = [str(WITNESS.verifier)]


@pytest.fixture
def two(people: Cast) -> tuple[Checkpoint, Checkpoint]:
    """Two checkpoints of a log that grew."""
    first = signed(people)
    planned(people)
    return first, signed(people)


@pytest.fixture
def auditor(people: Cast) -> Caller:
    return caller(people, people.audrey, "read")


def log(people: Cast) -> str:
    return f"{API}/logs/{people.workspace.log_origin}"


def decoded(texts: list[str]) -> list[bytes]:
    return [b64decode(text) for text in texts]


def test_an_entry_comes_with_its_bytes_and_a_proof(two: tuple[Checkpoint, Checkpoint], auditor: Caller) -> None:
    entry = AuditEntry.objects.get(seq=3)
    value = auditor.get("audit/3").json()
    data = b64decode(value["bytes"])
    assert (data, file_sha256(data), b64decode(value["leaf"])) == (bytes(entry.data), value["sha256"], leaf_hash(data))
    for made, query in ((two[1], ""), (two[0], f"?size={two[0].size}")):
        proof = auditor.get(f"audit/3{query}").json()["inclusion"]
        assert (proof["size"], proof["holds"], b64decode(proof["root_hash"])) == (made.size, True, bytes(made.root))
        assert inclusion_holds(leaf_hash(data), 3, made.size, decoded(proof["hashes"]), bytes(made.root))
    raw = auditor.get("audit/3/raw")
    assert (raw.content, raw.headers["ETag"]) == (data, f'"{entry.sha256}"')
    assert auditor.get("audit/3/raw", headers={"If-None-Match": raw.headers["ETag"]}).status_code == 304
    assert auditor.get("audit/3/proof").content.startswith(b"c2sp.org/tlog-proof@v1\nindex 3\n")


def test_what_no_checkpoint_covers_has_no_proof(
    two: tuple[Checkpoint, Checkpoint], people: Cast, auditor: Caller
) -> None:
    planned(people)
    seq = AuditEntry.objects.count() - 1
    assert auditor.get(f"audit/{seq}").json()["inclusion"] is None
    asked = (f"audit/{seq}/proof", "audit/9999", "audit/3?size=2", "checkpoints/9999", "consistency?size=9999")
    assert [problem(auditor.get(path))["status"] for path in asked] == [404] * len(asked)


def test_checkpoints_and_the_proof_between_them(two: tuple[Checkpoint, Checkpoint], auditor: Caller) -> None:
    first, second = two
    value = auditor.get("checkpoints").json()
    assert [row["size"] for row in value["checkpoints"]] == [second.size, first.size]
    assert (value["keys"], value["entries"], value["next"]) == ([first.key], AuditEntry.objects.count(), None)
    assert auditor.get("checkpoints?limit=1").json()["next"].endswith(f"checkpoints?limit=1&before={second.size}")
    note = auditor.get(f"checkpoints/{first.size}").json()["note"].encode()
    assert checkpoint_opened(note, Verifier.of(first.key))[0].size == first.size
    proof = auditor.get(f"consistency?old={first.size}").json()
    hashes = decoded(proof["hashes"])
    assert consistency_holds(first.size, second.size, hashes, bytes(first.root), b64decode(proof["root_hash"]))
    assert auditor.get("consistency").json()["hashes"] == []
    refused = problem(auditor.get(f"consistency?old={second.size}&size={first.size}"))
    assert (refused["status"], refused["problems"][0]["pointer"]) == (422, "old")


def test_a_log_that_was_changed_is_not_proven_to_continue(two: tuple[Checkpoint, Checkpoint], auditor: Caller) -> None:
    with lifted():
        AuditEntry.objects.filter(seq=1).update(data=b"{}")
    assert problem(auditor.get(f"consistency?old={two[0].size - 1}"))["status"] == 409


def test_a_witness_needs_no_account(two: tuple[Checkpoint, Checkpoint], people: Cast, tmp_path: Path) -> None:
    first, second = two
    key = Verifier.of(second.key)
    client = Client()
    newest = client.get(f"{log(people)}/checkpoint")
    assert (newest.content, newest.headers["Content-Type"]) == (bytes(second.note), "text/plain; charset=utf-8")
    (tmp_path / "state").write_bytes(bytes(first.note))
    update = client.get(f"{log(people)}/update?old={first.size}").content
    note = cosigned(update, [key], WITNESS, tmp_path / "state", now=1_796_000_000)
    line = note.removeprefix(bytes(second.note))
    address = f"{log(people)}/checkpoints/{second.size}/witnesses"
    answers = [client.post(address, line, content_type="text/plain") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[0].json() == {"witness": "witness.example", "size": second.size, "time": 1_796_000_000}
    with_both = client.get(f"{log(people)}/checkpoint").content
    assert len(checkpoint_opened(with_both, key, [WITNESS.verifier])[1].signed) == 2
    assert AuditEntry.objects.count() == second.size, "a cosignature makes no entry, which would have to be cosigned"


def test_only_what_a_known_witness_signed_is_kept(two: tuple[Checkpoint, Checkpoint], people: Cast) -> None:
    first, second = two
    other = Signer("witness.example", read_key(new_key()), COSIGNATURE)
    text = bytes(second.note).decode().partition("\n\n")[0] + "\n"
    address = f"{log(people)}/checkpoints/{second.size}/witnesses"
    refused = {
        "another key": other.line(text, time=1),
        "another checkpoint": WITNESS.line(bytes(first.note).decode().partition("\n\n")[0] + "\n", time=1),
        "two lines": WITNESS.line(text, time=1) * 2,
        "no line end": WITNESS.line(text, time=1)[:-1],
        "nothing": "",
        "no line": "hello\n",
        "too long": "a" * 600 + "\n",
        "a log's": bytes(second.note).decode().rpartition("\n\n")[2],
    }
    found = {what: problem(Client().post(address, line, content_type="text/plain")) for what, line in refused.items()}
    assert {what: answer["status"] for what, answer in found.items()} == dict.fromkeys(refused, 422)
    assert {answer["problems"][0]["code"] for answer in found.values()} == {"request/cosignature"}
    assert problem(Client().post(address, "x", content_type="application/json"))["status"] == 415
    for wrong in (
        address.replace(str(second.size), "1"),
        address.replace("topogate/", "topogate/x"),
        f"{API}/logs/x%00/checkpoint",
    ):
        answer = Client().post(wrong, WITNESS.line(text, time=1), content_type="text/plain")
        assert answer.status_code in (404, 405)
    assert Cosignature.objects.count() == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("nonsense", "LOG_WITNESSES: key: expected", id="no key"),
        pytest.param(str(Signer("a", WITNESS.private, SIGNATURE).verifier), "of the log a", id="a log's key"),
    ],
)
def test_a_wrong_key_of_a_witness_is_named(
    text: str, said: str, two: tuple[Checkpoint, Checkpoint], people: Cast, settings: Any
) -> None:
    settings.LOG_WITNESSES = [text]
    with pytest.raises(ImproperlyConfigured, match=said):
        Client().post(f"{log(people)}/checkpoints/{two[1].size}/witnesses", "— a AAAAAAAA\n", content_type="text/plain")


def test_a_witness_fetches_signs_and_sends(
    transactional_db: None, live_server: LiveServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = cast()
    first = signed(people)
    (tmp_path / "key").write_text(WITNESS_PEM)
    asked = ["--log", first.key, "--key", str(tmp_path / "key"), "--state", str(tmp_path / "state")]
    asked += ["--name", "witness.example", "--url", f"{live_server.url}{log(people)}"]
    assert main(asked) == 0
    planned(people)
    second = signed(people)
    assert main(asked) == 0
    assert list(Cosignature.objects.values_list("checkpoint__size", flat=True)) == [first.size, second.size]
    kept = (tmp_path / "state").read_bytes()
    rewritten(people)
    assert main(asked) == 1
    assert "are not those of the last checkpoint" in capsys.readouterr().err
    assert (tmp_path / "state").read_bytes() == kept
    assert main([*asked[:-1], f"{live_server.url}{API}/logs/none"]) == 6
    assert main([*asked[:-1], "http://127.0.0.1:9/x"]) == 6
    with pytest.raises(SystemExit):
        main([*asked[:-1], "file:///etc/passwd"])


def rewritten(people: Cast) -> None:
    """Let the owner of database and key write another history of the same length, and more, and sign it."""
    with lifted():
        for table in (Cosignature, Checkpoint, LogTile):
            table.objects.all().delete()
        entry = AuditEntry.objects.get(seq=1)
        data = bytes(entry.data).replace(b"policy.set", b"policy.let")
        AuditEntry.objects.filter(seq=1).update(data=data, sha256=file_sha256(data))
    planned(people)
    signed(people)


def test_the_log_is_filtered_as_on_its_page(two: tuple[Checkpoint, Checkpoint], auditor: Caller) -> None:
    def actions(query: str) -> set[str]:
        return {row["action"] for row in auditor.get(f"audit?{query}").json()["audit"]}

    assert actions("actor=alice-lab") == {"revision.created"}
    assert actions("actor=system&revision=1") == {"revision.planned"}
    assert actions("since=2000-01-01&until=2000-01-02") == set()
    assert actions("text=POLICY.SET") == {"policy.set"}
    for day in ("20000101", "2000-W01-1", "2000-1-1", " 2000-01-01", "2000-01-01T00:00:00Z"):
        assert problem(auditor.get("audit", {"since": day}))["problems"][0]["expected"] == "a day as YYYY-MM-DD"
    refused = problem(auditor.get("audit?since=yesterday&revision=x"))
    assert [one["pointer"] for one in refused["problems"]] == ["revision", "since"]
