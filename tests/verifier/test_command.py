"""``topogate verify``: the same verdict as the file in the bundle, as text and as JSON."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from planner.command import main
from planner.verifier import verify
from planner.verifier.verify import main as standalone
from tests.verifier.making import KEY, STRANGE_KEY, UNCHECKED, checkpoint, content, sound_story, written


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A sound bundle as a file, with its key and an older checkpoint beside it."""
    made = content(sound_story())
    (tmp_path / "key.txt").write_text(f"{KEY}\n")
    (tmp_path / "old.checkpoint").write_bytes(checkpoint(made.lines[:9]))
    (tmp_path / "bundle.zip").write_bytes(written(made))
    return tmp_path / "bundle.zip"


def test_key_and_checkpoint_are_given_as_text_or_files(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = ["--checkpoint", str(bundle.parent / "old.checkpoint")]
    for key in (KEY, str(bundle.parent / "key.txt")):
        assert main(["verify", str(bundle), "--key", key, *kept]) == 0
        of_command = capsys.readouterr().out
        assert standalone([str(bundle), "--key", key, *kept]) == 0
        assert capsys.readouterr().out == of_command
        assert of_command.startswith(
            "VERIFIED: 27 entries of topogate/lab/0123456789abcdef, signed by keys that you gave"
        )


def test_any_of_several_keys_that_signed_is_enough(bundle: Path) -> None:
    assert main(["verify", str(bundle), "--key", STRANGE_KEY, "--key", KEY]) == 0
    assert main(["verify", str(bundle), "--key", STRANGE_KEY]) == 1


def test_what_is_broken_is_told_as_json(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = content(sound_story())
    made.payloads[0] = b"{}"
    bundle.write_bytes(written(made))
    assert main(["verify", str(bundle), "--key", KEY, "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["code"], told["entry"]) == ("BROKEN", 1, 1)
    assert told["headline"].startswith("BROKEN at seq 1: has not the payload that it names. Not checked: ")
    assert told["not_checked"] == UNCHECKED


@pytest.mark.parametrize(
    "arguments", [["none.zip"], ["bundle.zip", "--key", "none"], ["bundle.zip", "--checkpoint", "none"]]
)
def test_what_cannot_be_read_is_named(
    arguments: list[str], bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(bundle.parent)
    assert main(["verify", *arguments]) == 2
    assert f"topogate: {arguments[-1]}: expected a file that can be read, found no such file" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["a+b+c", "a+b", f"{KEY}A", KEY.replace("+a", "+b", 1), f"other{KEY}"])
def test_a_key_that_is_none_gives_no_verdict(key: str, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(bundle), "--key", key]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "expected a public key as `manage.py log_key` prints it, found something else" in printed.err


def test_a_stream_is_not_read_from_any_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Stream(b"PK")))
    assert main(["verify", "-"]) == 2
    assert "expected a file that can be read from any place, found a stream" in capsys.readouterr().err


def test_without_its_package_it_does_not_speak_of_the_bundle(bundle: Path) -> None:
    command = [sys.executable, "-I", "-S", verify.__file__, str(bundle)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (2, "INCOMPLETE: the package cryptography is not installed.\n")
