"""``topogate model``: a configuration in, the contract's sections and what is missing out."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.command import main
from tests.planner.hypotheses.configs import DENSE


def written(folder: Path, name: str, value: object) -> str:
    path = folder / name
    path.write_text(json.dumps(value))
    return str(path)


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = main(["model", *arguments, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_json_holds_sections_sources_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = written(tmp_path, "config.json", DENSE)
    code, found = run_json(capsys, config)

    assert code == 0
    assert found["model"]["layers"] == 4
    assert found["precision"] == {"weights": "bf16", "activations": "bf16"}
    source = {"field": "/identity/model/layers", "file": config, "pointers": ["/num_hidden_layers"], "rule": ""}
    assert source in found["sources"]
    assert {"field": "/identity/model/revision", "asked": "commit of the weights"} in found["missing"]
    kv = found["hypotheses"][-1]
    assert (kv["name"], kv["value"], kv["missing"]) == ("kv_elements_per_token", 2 * 4 * 2 * 4, [])


def test_text_names_what_was_read_and_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = written(tmp_path, "config.json", {**DENSE, "vocab_size": None})

    assert main(["model", config]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  /identity/model/vocab_size: entries of the vocabulary" in lines
    assert f"  /identity/model/layers: {config} /num_hidden_layers" in lines
    assert "  parameters: needs vocab_size (sum of all tensors of the text part)" in lines


def test_a_quantisers_file_and_stated_facts_are_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = written(tmp_path, "config.json", DENSE)
    quantiser = written(tmp_path, "hf_quant_config.json", {"quantization": {"quant_algo": "FP8"}})
    code, found = run_json(capsys, config, quantiser, "--scale-bytes", "4", "--left-alone", "lm_head")
    weights = next(figure for figure in found["hypotheses"] if figure["name"] == "weight_bytes")
    matrices = 4 * (32 * 32 * 2 + 32 * 8 * 2 + 3 * 32 * 96)

    assert code == 0
    assert found["precision"]["weights"] == "fp8"
    # one byte an element and one scale for each of 7 projections a layer; embedding, head and norms in bf16
    assert weights["value"] == matrices + 4 * 7 * 4 + 2 * (2 * 128 * 32 + 9 * 32)


def test_problems_are_listed_with_their_pointers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = written(tmp_path, "config.json", {**DENSE, "hidden_size": 0, "vocab_size": "x"})

    assert main(["model", config]) == 2
    problems = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in problems] == ["/hidden_size:", "/vocab_size:"]
    assert run_json(capsys, config)[1]["ok"] is False


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"[" * 100], ids=["empty", "cut off", "no UTF-8", "deep"])
def test_what_is_no_json_is_refused(raw: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(raw)

    assert main(["model", str(path)]) == 2
    assert "[json/" in capsys.readouterr().err


@pytest.mark.parametrize("width", ["0", "-1", "9", "x"])
def test_a_scale_has_one_to_eight_bytes(width: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", written(tmp_path, "config.json", DENSE), "--scale-bytes", width]) == 2
    assert "--scale-bytes" in capsys.readouterr().err


def test_problems_of_two_files_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = written(tmp_path, "config.json", {**DENSE, "hidden_size": 0})
    quantiser = written(tmp_path, "hf_quant_config.json", {"quantization": {"quant_algo": 8}})

    assert main(["model", config, quantiser]) == 2
    problems = capsys.readouterr().err.splitlines()
    assert [line.partition(": expected")[0] for line in problems] == [
        f"{config}: /hidden_size",
        f"{quantiser}: /quantization/quant_algo",
    ]


@pytest.mark.parametrize("text", ["{}", '{"schema": "topogate.contract/v1"}', '{"quantization": {}}'])
def test_a_file_of_another_kind_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config.json"
    file.write_text(text, encoding="utf-8")
    assert main(["model", str(file)]) == 2
    assert "document: expected a config.json of a model, found an" in capsys.readouterr().err
