"""``topogate evidence``: from files to a document, in a script."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.command import main
from planner.intake import read_evidence
from tests.planner.builder.kit import AS_OF, CONTRACT, FILES, contract
from tests.planner.importers.exporter_samples import vllm

Captured = pytest.CaptureFixture[str]

ANSWERS: dict[str, Any] = {
    "schema": "topogate.evidence-answers/v1",
    "by": "user-7",
    "answers": {
        "/provenance/collected_by": "bench-bot",
        "/identities/*/model/revision": "r1",
        "/trials/*/windows/*/load/longest_sequence_tokens": 2048,
    },
    "confirm": ["/provenance/**", "/trials/**", "/identities/**"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with contract, result files and answers."""
    for name, content in {**FILES, "contract.json": CONTRACT, "answers.json": ANSWERS}.items():
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return tmp_path


def run(folder: Path, capsys: Captured, *arguments: str, files: tuple[str, ...] = tuple(FILES)) -> tuple[int, Any, str]:
    """Run the command; returns exit code, what it printed (None for nothing) and its messages."""
    names = [str(folder / name) for name in files]
    options = [str(folder / one) if one.endswith(".json") else one for one in arguments]
    code = main(["evidence", str(folder / "contract.json"), *names, *options, "--as-of", AS_OF])
    shown = capsys.readouterr()
    return code, json.loads(shown.out) if shown.out else None, shown.err


def test_without_answers_everything_that_is_open_is_printed(folder: Path, capsys: Captured) -> None:
    code, told, messages = run(folder, capsys, "--output", "evidence.json")
    assert (code, told["complete"], told["content_id"]) == (4, False, None)
    assert sorted(told["trials"]) == ["tp2", "tp4"]
    assert {file["name"] for file in told["files"].values()} == set(FILES)
    assert messages.splitlines()[0] == (
        "/provenance/collected_by: Who or which program collected the evidence? [builder/unanswered]"
    )
    assert len(messages.splitlines()) == len(told["open"])
    assert not (folder / "evidence.json").exists()


def test_with_answers_the_document_is_written(folder: Path, capsys: Captured) -> None:
    code, told, messages = run(folder, capsys, "--answers", "answers.json", "--output", "evidence.json")
    assert (code, messages, told["complete"]) == (0, "", True)
    document = read_evidence((folder / "evidence.json").read_bytes(), contract())
    assert document.content_id == told["content_id"]
    assert sorted(path.name for path in folder.iterdir() if path.name.endswith(".part")) == []
    assert main(["plan", str(folder / "contract.json"), str(folder / "evidence.json"), "--as-of", AS_OF]) == 0


def test_a_draft_is_kept_and_continued(folder: Path, capsys: Captured) -> None:
    first = tuple(name for name in FILES if name.startswith("tp2"))
    code, _, _ = run(folder, capsys, "--draft", "draft.json", files=first)
    assert code == 4
    rest = tuple(name for name in FILES if name not in first)
    options = ("--continue", "draft.json", "--answers", "answers.json", "--output", "evidence.json")
    code, told, _ = run(folder, capsys, *options, files=rest)
    assert (code, sorted(told["trials"])) == (0, ["tp2", "tp4"])
    whole = run(folder, capsys, "--answers", "answers.json", "--output", "other.json")
    assert whole[1]["content_id"] == told["content_id"]


def test_everything_that_cannot_be_said_is_named_and_nothing_is_done(folder: Path, capsys: Captured) -> None:
    wrong = {
        **ANSWERS,
        "left_out": {"nothing.json": "Not there."},
        "moves": [{"run": "tp2.log", "trial": "tp9", "window": "w"}],
        "held": {"tp2.log": {"use": True, "because": "It is not held."}},
        "answers": {"/identities/*/model/layers": "many", "/speed": 1},
    }
    (folder / "answers.json").write_text(json.dumps(wrong))
    code, told, messages = run(folder, capsys, "--answers", "answers.json", "--draft", "draft.json")
    assert (code, told) == (2, None)
    assert not (folder / "draft.json").exists()
    places = [line.removeprefix(str(folder / "answers.json")) for line in messages.splitlines()]
    assert places == [
        ': /left_out/nothing.json: expected a run or file of the draft at /files, found "nothing.json" [builder/run]',
        ": /moves/0: expected a load point of the contract: saturated, single at /trials/tp9/windows/w/load_point, "
        'found "" [builder/load_point]',
        ": /held/tp2.log: expected a run that waits for a person at /held, found one that is usable [builder/held]",
        ": /answers/~1identities~1*~1model~1layers: expected an integer of at least 1 at /identities/*/model/layers, "
        'found "many" (text) [document/type]',
        ": /answers/~1speed: expected a field of the evidence document at /speed, found none of that name "
        "[builder/field]",
    ]


def test_runs_are_named_by_their_files(folder: Path, capsys: Captured) -> None:
    arranged = {
        **ANSWERS,
        "left_out": {"tp4_single.json": "Measured on the old driver."},
        "moves": [
            {"run": "tp2_single.json#1", "trial": "idle", "window": "one", "load_point": "single"},
            {"run": "tp2.log", "trial": "idle", "copy": True},
            {"run": "config.json", "trial": "idle", "copy": True},
        ],
    }
    (folder / "answers.json").write_text(json.dumps(arranged))
    _, told, _ = run(folder, capsys, "--answers", "answers.json")
    assert {name: sorted(trial["windows"]) for name, trial in told["trials"].items()} == {
        "idle": ["one"],
        "tp2": ["saturated"],
        "tp4": ["saturated"],
    }
    assert len(told["trials"]["idle"]["runs"]) == 2
    assert [note["sentence"] for note in told["unused"]] == ["left out: Measured on the old driver."]


def test_contract_answers_draft_and_files_are_refused_together(folder: Path, capsys: Captured) -> None:
    (folder / "contract.json").write_text("{}")
    (folder / "answers.json").write_text('{"schema": "topogate.evidence-answers/v1", "by": "A name", "x": 1}')
    code, told, messages = run(folder, capsys, "--answers", "answers.json", files=("missing.json",))
    assert (code, told) == (2, None)
    assert [line.rpartition("[")[2] for line in messages.splitlines()] == [
        "document/schema]",
        "document/pattern]",
        "document/unknown_field]",
        "file/unreadable]",
    ]


def test_a_file_that_nothing_reads_is_told_of(folder: Path, capsys: Captured) -> None:
    (folder / "notes.txt").write_text("what we did today")
    code, told, _ = run(folder, capsys, files=(*FILES, "notes.txt"))
    (notes,) = [file for file in told["files"].values() if file["name"] == "notes.txt"]
    assert (code, notes["recognised"], notes["problems"][0]["code"]) == (4, False, "import/format")


def test_the_same_files_under_any_name_and_order_print_the_same(folder: Path, capsys: Captured) -> None:
    told = run(folder, capsys)[1]
    assert run(folder, capsys, files=tuple(reversed(FILES)))[1] == told


def test_two_scrapes_are_read_as_the_window_between_them(folder: Path, capsys: Captured) -> None:
    (folder / "early.prom").write_text(vllm(stamp=" 1772360051000"))
    (folder / "late.prom").write_text(vllm(50, stamp=" 1772360100000", scale=2))
    scrapes = ("--scrapes", str(folder / "early.prom"), str(folder / "late.prom"))
    _, told, _ = run(folder, capsys, *scrapes)
    assert {note["file"]: note["sentence"] for note in told["unused"]} == {
        "early.prom": "it is the scrape before late.prom, whose counters were read against it",
        "late.prom": "several trials fit, or none: move it where it belongs",
    }
    assert told["held"] == []


def test_a_place_that_cannot_be_written_leaves_what_was_there(folder: Path, capsys: Captured) -> None:
    (folder / "evidence.json").mkdir()
    code, _, messages = run(folder, capsys, "--answers", "answers.json", "--output", "evidence.json")
    assert code == 2
    assert messages.endswith("evidence.json: expected a file that can be written, found is a directory\n")
    assert not (folder / "evidence.json.part").exists()
