"""Answers to questions about figures: values worked out by hand, what is assumed, what is refused and why."""

from typing import Any

import pytest

from planner.hypotheses.asks import QUANTITIES, Answerer

TINY: dict[str, Any] = {
    "kind": "dense",
    "L": 2,
    "h": 8,
    "i": 16,
    "nh": 4,
    "kv": 2,
    "d": 2,
    "V": 100,
    "tie": False,
}
TINY_LAYER = 2 * 8 * 8 + 2 * 8 * 4 + 3 * 8 * 16 + 2 * 8
"""Query and output, key and value, feed-forward, two norms."""
TINY_PARAMETERS = 2 * TINY_LAYER + 2 * 128 * 8 + 8
TINY_MOE: dict[str, Any] = {
    "kind": "moe",
    "L": 3,
    "h": 8,
    "mi": 4,
    "E": 6,
    "topk": 2,
    "nh": 4,
    "kv": 2,
    "d": 2,
    "V": 64,
    "tie": True,
    "shared": 1,
    "dense_layers": 1,
    "i": 16,
}
MOE_PARAMETERS = 3 * (2 * 64 + 2 * 32 + 16) + 3 * 8 * 16 + 2 * (6 * 8 + 7 * 3 * 8 * 4) + 64 * 8 + 8


FACTORS = (" * 2(n-1)/n", " * (n-1)/n", "")


def ask(quantity: str, inputs: object, **more: object) -> dict[str, Any]:
    return Answerer().answer({"quantity": quantity, "inputs": inputs, **more})


@pytest.mark.parametrize(
    ("quantity", "inputs", "value", "unit"),
    [
        ("parameters", TINY, TINY_PARAMETERS, "params"),
        ("parameters", {**TINY, "tie": True}, TINY_PARAMETERS - 128 * 8, "params"),
        ("parameters", {**TINY, "qk_norm": True}, TINY_PARAMETERS + 2 * 2 * 2, "params"),
        ("parameters", TINY_MOE, MOE_PARAMETERS, "params"),
        ("active_parameters", TINY_MOE, MOE_PARAMETERS - 2 * 4 * 3 * 8 * 4, "params"),
        ("weight_bytes", TINY, 2 * TINY_PARAMETERS, "bytes"),
        ("kv_bytes", {"L": 3, "kv": 4, "d": 8, "bytes": 2}, 3 * 2 * 4 * 8 * 2, "B/token"),
        ("kv_bytes", {"L": 3, "kv": 4, "d": 8, "bytes": 1, "tokens": 10, "tp": 2}, 3 * 2 * 2 * 8 * 10, "B"),
        ("kv_bytes", {"L": 3, "kv": 4, "d": 8, "bytes": 2, "tp": 16}, 3 * 2 * 8 * 2, "B/token"),
        ("kv_bytes", {"L": 3, "kv": 1, "d": 8, "bytes": 0.5}, 3 * 8, "B/token"),
        ("kv_bytes", {"L": 3, "hidden": 32, "bytes": 2}, 3 * 2 * 32 * 2, "B/token"),
        ("kv_bytes", {"L": 3, "kv_lora": 20, "rope": 4, "bytes": 2, "tp": 4}, 3 * 24 * 2, "B/token"),
        ("kv_tokens_that_fit", {"available_GiB": 0.5, "bytes_per_token": 2**20 + 1}, 511, "tokens"),
        ("handoff_rate", {"bytes": 1000, "rps": 2.5}, 2500, "B/s"),
        ("wire_time", {"S": 1000, "B": 500, "n": 4, "operation": "all_gather"}, 1.5, "s"),
        ("ring_time", {"S": 800, "alpha": 1, "beta": 0.5, "n": 4, "operation": "allreduce"}, 6 + 600, "s"),
        ("ring_time", {"S": 800, "alpha": 1, "beta": 0.5, "n": 4, "operation": "reduce-scatter"}, 3 + 300, "s"),
        ("ring_time", {"S": 800, "alpha": 1, "beta": 0.5, "n": 1, "operation": "allreduce"}, 0, "s"),
        (
            "expert_step_time",
            {"tokens": 10, "copies": 2, "hidden": 100, "disp_bytes": 1, "comb_bytes": 2, "bw": 1000},
            6,
            "s",
        ),
        ("expert_token_time", {"layers": 10, "micro_batches": 2, "comm_us": 50}, 0.001, "s"),
    ],
)
def test_one_figure(quantity: str, inputs: dict[str, Any], value: float, unit: str) -> None:
    answer = ask(quantity, inputs)

    assert (answer["valid"], answer["value"], answer["unit"]) == (True, value, unit)
    assert answer["quantity"] == quantity
    assert answer["formula"]
    assert "not_read" not in answer


@pytest.mark.parametrize(
    ("quantity", "inputs", "value"),
    [
        (
            "rank_parameters",
            {**TINY, "tp": 4, "pp": 2, "moe_tp": 1, "ep": 1},
            {"params_by_stage": [4 * 8 + 32 + 96 + 16 + 256, 4 * 8 + 32 + 96 + 16 + 8 + 256]},
        ),
        (
            "kv_by_tensor_ranks",
            {"L": 1, "kv": 2, "d": 8, "tp": [1, 4]},
            {
                "1": {"bytes_per_token_per_rank": 64, "cluster_bytes_per_token": 64, "replication": 1},
                "4": {"bytes_per_token_per_rank": 32, "cluster_bytes_per_token": 128, "replication": 2},
            },
        ),
        ("handoff", {"L": 1, "kv": 1, "d": 4, "bytes": 2, "tokens": 2**26, "rps": 2}, {"bytes": 2**30, "GiB_per_s": 2}),
        ("bus_factors", {"n": 4}, {"allreduce": 1.5, "alltoall": 0.75, "broadcast": 1}),
        ("gathered", {"shard_MiB": 256, "n": 4}, {"output_MiB": 1024, "recv_MiB": 768, "busbw_factor": 0.75}),
        ("bubble", {"p": 4, "m": 3, "v": 2}, {"fraction_of_total": 1 / 3, "fraction_of_ideal": 0.5}),
        (
            "tensor_traffic",
            {"L": 3, "h": 8, "tokens": 10, "bytes": 2, "tp": 4},
            {"allreduce_payload": 160, "allreduces_per_forward": 7, "ring_bytes_sent_per_rank_forward": 1680},
        ),
        (
            "pipeline_traffic",
            {"h": 8, "tokens": 10, "bytes": 2, "tp": 4},
            {"generic": 160, "vllm": 320, "vllm_wire_per_tp_rank_tp4": 80},
        ),
        (
            "expert_traffic",
            {**TINY_MOE, "ep": 2},
            # of 15 pairs of experts 6 lie on one rank, 9 on both
            {"nodedup_dispatch_bf16": 32, "expected_distinct_ranks": 1.6, "expected_remote_ranks": 0.8},
        ),
    ],
)
def test_figures_of_several_values(quantity: str, inputs: dict[str, Any], value: dict[str, Any]) -> None:
    found = ask(quantity, inputs)["value"]

    assert {name: found[name] for name in value} == value


def test_experts_that_run_sequence_parallel_have_a_whole_shared_expert() -> None:
    split = {**TINY_MOE, "tp": 2, "pp": 1, "moe_tp": 1}
    one, two = (ask("rank_parameters", {**split, "ep": ep, "experts_per_rank": 3}) for ep in (2, 4))

    assert two["value"]["params_by_stage"][0] - one["value"]["params_by_stage"][0] == 2 * 3 * 8 * 4 // 2
    assert (one["also"], two["also"]) == ({"sequence_parallel_experts": 0}, {"sequence_parallel_experts": 1})


def test_a_quantity_is_known_by_its_formula_or_by_the_start_of_an_id() -> None:
    inputs = {"p": 3, "m": 1}
    by_formula = Answerer().answer({"formula": "(p-1)/(m+p-1) of total time", "inputs": inputs})
    by_id = Answerer().answer({"id": "bubble_p3_m1", "inputs": inputs})

    assert by_formula["quantity"] == by_id["quantity"] == "bubble"
    assert by_id["id"] == "bubble_p3_m1"


def test_numbers_of_the_formulas_text_stand_in_for_inputs() -> None:
    answerer = Answerer()
    step = answerer.answer({"formula": "(1B+2B)*10*2*100/1e3", "inputs": {}})
    token = answerer.answer({"formula": "10*2*comm (two micro-batches)", "inputs": {}})
    alone = Answerer().answer({"formula": "10*2*comm", "inputs": {}})

    assert (step["value"], token["value"]) == (6, 120)
    assert (alone["valid"], alone["constraint"]) == (False, "comm_us")


def test_models_that_were_given_are_known_by_name() -> None:
    answerer = Answerer()
    answerer.answer({"models": {"tiny": TINY}})

    assert answerer.answer({"quantity": "parameters", "inputs": {"model": "tiny"}})["value"] == TINY_PARAMETERS
    assert not Answerer().answer({"quantity": "parameters", "inputs": {"model": "tiny"}})["valid"]


def test_what_is_assumed_and_what_is_not_read_is_said() -> None:
    answer = ask("kv_bytes", {"L": 1, "kv": 1, "d": 1, "tpp": 8})

    assert (answer["assumed"], answer["not_read"]) == ({"bytes": 2}, ["tpp"])


@pytest.mark.parametrize(
    ("quantity", "inputs", "names"),
    [
        pytest.param("bubble", {"p": 0, "m": -1}, ["p", "m"], id="zero and negative"),
        pytest.param("bubble", {"p": 65_537, "m": 2**53}, ["p", "m"], id="huge"),
        pytest.param("bubble", {"p": True, "m": "4"}, ["p", "m"], id="of another type"),
        pytest.param("bubble", {"p": 2.0, "m": None}, ["p", "m"], id="decimal and null"),
        pytest.param("bubble", {}, ["p", "m"], id="missing"),
        pytest.param("bubble", None, ["inputs"], id="no inputs"),
        pytest.param("bubble", [4, 8], ["inputs"], id="inputs in an array"),
        pytest.param("bubbles", {}, ["quantity"], id="unknown quantity"),
        pytest.param("parameters", {"model": "nobody"}, ["model"], id="unknown model"),
        pytest.param("parameters", {**TINY, "kind": "sparse"}, ["kind"], id="unknown kind"),
        pytest.param("parameters", {**TINY, "tie": 0}, ["tie"], id="number for a switch"),
        pytest.param("parameters", {**TINY_MOE, "topk": 7}, ["topk"], id="more than all experts"),
        pytest.param("parameters", {**TINY_MOE, "dense_layers": 4}, ["dense_layers"], id="more than all layers"),
        pytest.param(
            "parameters",
            {**TINY, **dict.fromkeys(("L",), 10_000), **dict.fromkeys(("h", "i"), 2**24)},
            ["inputs"],
            id="a figure beyond exact numbers",
        ),
        pytest.param("kv_bytes", {"L": 1, "kv": 4, "d": 1, "tp": 3}, ["kv_heads"], id="heads that do not split"),
        pytest.param("kv_bytes", {"L": 1, "kv": 1, "d": 1, "bytes": 17}, ["bytes"], id="an element of 17 bytes"),
        pytest.param("kv_bytes", {"model": "L=0, kv=1, d=1"}, ["L"], id="no layers in the text"),
        pytest.param("kv_by_tensor_ranks", {"L": 1, "kv": 1, "d": 1, "tp": []}, ["tp"], id="no ranks"),
        pytest.param("kv_by_tensor_ranks", {"L": 1, "kv": 1, "d": 1, "tp": [1, 0]}, ["tp"], id="no ranks among some"),
        pytest.param("rank_parameters", {**TINY, "tp": 3, "pp": 1, "moe_tp": 1, "ep": 1}, ["vocab_size"], id="tp"),
        pytest.param("rank_parameters", {**TINY, "tp": 1, "pp": 3, "moe_tp": 1, "ep": 1}, ["pp"], id="empty stages"),
        pytest.param(
            "rank_parameters", {**TINY_MOE, "tp": 1, "pp": 1, "moe_tp": 1, "ep": 4}, ["experts_per_rank"], id="experts"
        ),
        pytest.param("expert_traffic", {**TINY_MOE, "ep": 4}, ["ep"], id="experts that do not split"),
        pytest.param("expert_traffic", {**TINY, "ep": 2}, ["E", "topk"], id="a dense model"),
        pytest.param("expert_traffic", {**TINY_MOE, "ep": 2, "topk": 7}, ["topk"], id="more visits than experts"),
        pytest.param("wire_time", {"S": 1, "B": 1e-30, "n": 1, "operation": "reduce"}, ["B"], id="no bandwidth"),
        pytest.param("wire_time", {"S": 1, "B": 1, "n": 1}, ["operation"], id="which collective"),
        pytest.param(
            "ring_time",
            {"S": 1, "alpha": 0, "beta": 1, "n": 2, "operation": "broadcast"},
            ["alpha", "operation"],
            id="ring",
        ),
    ],
)
def test_what_cannot_be_answered_names_every_input_at_fault(quantity: str, inputs: object, names: list[str]) -> None:
    answer = ask(quantity, inputs)

    assert (answer["valid"], answer["constraint"], answer["inputs"]) == (False, names[0], names)
    assert answer["error"]


@pytest.mark.parametrize("name", ["id", "formula", "unit", "quantity"])
@pytest.mark.parametrize("value", [7, None, [], "x" * 5000], ids=["number", "null", "array", "long"])
def test_texts_of_a_question_are_texts(name: str, value: object) -> None:
    answer = Answerer().answer({"quantity": "bubble", "inputs": {"p": 1, "m": 1}, name: value})

    assert (answer["valid"], answer["constraint"]) == (False, name)


def test_shapes_that_are_wrong_are_all_named() -> None:
    answer = Answerer().answer({"models": {"a": {**TINY, "L": 0}, "b": {**TINY, "h": "8"}, "c": 3}})

    assert answer["inputs"] == ["models.a.L", "models.b.h", "models.c.inputs"]
    assert Answerer().answer({"models": []})["constraint"] == "models"


def test_a_formula_names_its_collective_by_the_factor() -> None:
    inputs = {"S": 800, "B": 100, "n": 4}
    asked = [Answerer().answer({"formula": f"t = S/B{factor}", "inputs": inputs}) for factor in FACTORS]

    assert [found["value"] for found in asked] == [12, 6, 8]


def test_a_question_that_asks_for_nothing_names_what_can_be_asked() -> None:
    answer = Answerer().answer({"formula": "e = m c^2", "inputs": {}})

    assert answer["constraint"] == "formula"
    assert "bubble" in answer["error"]


def test_a_formula_of_another_algorithm_is_not_taken_for_a_ring() -> None:
    ask = {"formula": "T = log2(n) * (alpha + S * beta)", "inputs": {"n": 8, "alpha": 1, "S": 8, "beta": 1}}

    assert Answerer().answer({"id": "tree_allreduce", **ask})["constraint"] == "formula"


def test_ids_of_quantities_are_unique_words() -> None:
    assert len({quantity.id for quantity in QUANTITIES}) == len(QUANTITIES) == 20
