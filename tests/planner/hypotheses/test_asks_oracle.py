"""Every shared record of a figure, many of them checked against published numbers, comes out of the answers."""

import json
from typing import Any

import pytest

from planner.hypotheses.asks import Answerer
from tests.shared import shared_files, shared_path

RECORDS = "cases/formulas"


def equal(found: Any, wanted: Any) -> bool:
    """Compare figures: integers exactly, doubles to the last places."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(equal(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(equal, found, wanted))
    if isinstance(wanted, int):
        return bool(found == wanted)
    return bool(found == pytest.approx(wanted, rel=1e-14))


@pytest.mark.parametrize("models_given", [True, False], ids=["shapes given", "shapes published"])
def test_every_record_has_its_value(models_given: bool) -> None:
    records = json.loads(shared_path(f"{RECORDS}/formulas.json").read_bytes())
    answerer = Answerer()
    if models_given:
        assert answerer.answer({"models": records["models"]})["valid"]

    answers = {record["id"]: answerer.answer(record) for record in records["goldens"]}

    wrong = [
        record["id"]
        for record in records["goldens"]
        if not answers[record["id"]]["valid"] or not equal(answers[record["id"]]["value"], record["value"])
    ]
    assert wrong == []
    assert len(answers) == len(records["goldens"]) > 80


def test_inputs_of_every_record_are_all_read() -> None:
    records = [
        record for path in shared_files(RECORDS, "*.json") for record in json.loads(path.read_bytes())["goldens"]
    ]
    if not records:
        shared_path(RECORDS)
    answerer = Answerer()

    assert [found for found in map(answerer.answer, records) if "not_read" in found] == []


@pytest.mark.parametrize("wrong", [0, -1, 2**53, 1.5, True, "8", None, [], {}], ids=repr)
def test_every_number_of_every_record_is_refused_by_name_when_wrong(wrong: object) -> None:
    """A record of each kind, each of its numbers spoilt in turn."""
    records = json.loads(shared_path(f"{RECORDS}/formulas.json").read_bytes())["goldens"]
    kinds = {record["formula"]: record for record in records}
    taken = []
    for record in kinds.values():
        for name, value in record["inputs"].items():
            spoilt = {**record, "inputs": {**record["inputs"], name: wrong}}
            if type(value) is int and not allowed(name, value, wrong):
                answer = Answerer().answer(spoilt)
                if answer["valid"] or name not in answer["inputs"]:
                    taken.append((record["id"], name, answer))
    assert taken == []


def allowed(name: str, value: int, wrong: object) -> bool:
    """Say whether the wrong value is right for this input: 0 for what may be absent, anything else that is a rate."""
    if wrong == 0 and type(wrong) is int:
        return name in {"experts_per_rank", "shared", "dense_layers", "q_lora"} and value < 10_000
    rates = {"rps", "bytes", "disp_bytes", "comb_bytes", "shard_MiB", "bw"}
    return name in rates and (wrong == 1.5 or (wrong == 2**53 and name != "bytes"))
