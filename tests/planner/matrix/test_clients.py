"""Commands of load generators: only arguments that they have, the contract's lengths and arrival, and what is lost."""

import shlex
from fractions import Fraction
from typing import Any

import pytest

from planner.matrix.clients import CLIENTS, number_text
from planner.records.matrix import Matrix, Run
from tests.planner.matrix.arguments import (
    AIPERF,
    GUIDELLM,
    GUIDELLM_KEYS,
    GUIDELLM_KINDS,
    SGLANG_BENCH,
    SGLANG_DATASETS,
    VLLM_BENCH_SERVE,
    VLLM_DATASETS,
)
from tests.planner.matrix.contracts import BECAUSE, a_matrix

WORKLOAD = "/identity/workload"
KNOWN = {
    "vllm-bench-serve": VLLM_BENCH_SERVE,
    "sglang-bench-serving": SGLANG_BENCH,
    "guidellm": GUIDELLM,
    "aiperf": AIPERF,
}
WARM = (f"{WORKLOAD}/prefix_cache", {"policy": "on", "expected_hit_share": 0.5})
OPEN = (f"{WORKLOAD}/load_points/open", {"arrival": "open", "requests_per_s": 4, "burstiness": 0.5})
LENGTHS: dict[str, tuple[tuple[str, Any], ...]] = {
    "fixed": (),
    "mean": (
        (f"{WORKLOAD}/prompt_tokens", {"mean": 900.4, "p95": 3000, "max": 8000}),
        (f"{WORKLOAD}/output_tokens", {"mean": 200, "p95": 700}),
    ),
    "file": ((f"{WORKLOAD}/dataset_digest", "sha256:" + "ab" * 32),),
    "warm": (WARM,),
    "open": (OPEN,),
    "sampled": ((f"{WORKLOAD}/sampling", {"temperature": 0.7, "ignore_eos": True}),),
    "soak": (
        ("/gates/steady_state", {"settled": {"load_point": "saturated", "min_window_s": 600, "because": BECAUSE}}),
    ),
}


def loads(matrix: Matrix) -> list[Run]:
    return [run for run in matrix.runs.values() if run.clients]


def values(argv: tuple[str, ...], name: str) -> list[str]:
    return [argv[at + 1] for at, word in enumerate(argv) if word == name]


def options(argv: tuple[str, ...]) -> set[str]:
    return {word for word in argv if word.startswith("--")}


@pytest.mark.parametrize("kind", LENGTHS)
@pytest.mark.parametrize("client", KNOWN)
def test_only_arguments_that_the_client_has(client: str, kind: str) -> None:
    found = loads(a_matrix(*LENGTHS[kind]))
    assert found
    for run in found:
        argv = run.clients[client].argv
        assert options(argv) <= KNOWN[client]
        assert set(values(argv, "--dataset-name")) <= (
            VLLM_DATASETS if client == "vllm-bench-serve" else SGLANG_DATASETS
        )
        if client == "guidellm":
            for option, keys in GUIDELLM_KEYS.items():
                for value in values(argv, option):
                    pairs = dict(part.split("=", 1) for part in value.split(","))
                    assert set(pairs) <= keys
                    assert pairs["kind"] in GUIDELLM_KINDS[option]


def test_every_client_has_a_list() -> None:
    assert set(CLIENTS) == set(KNOWN)


def test_the_contract_s_load_in_the_words_of_each_client() -> None:
    run = a_matrix().runs["saturated"]
    vllm, sglang = run.clients["vllm-bench-serve"].argv, run.clients["sglang-bench-serving"].argv
    assert values(vllm, "--random-input-len") == values(sglang, "--random-input-len") == ["1024"]
    assert values(vllm, "--max-concurrency") == values(sglang, "--max-concurrency") == ["64"]
    assert values(vllm, "--num-prompts") == [str(run.requests)]
    assert values(vllm, "--num-warmups") == [str(run.warmup_requests)] == ["128"]
    assert "--ignore-eos" in vllm
    assert values(run.clients["guidellm"].argv, "--profile") == ["kind=concurrent,streams=64"]
    assert values(run.clients["aiperf"].argv, "--concurrency") == ["64"]


def test_one_request_at_a_time() -> None:
    run = a_matrix().runs["single"]
    assert values(run.clients["guidellm"].argv, "--profile") == ["kind=synchronous"]
    assert values(run.clients["vllm-bench-serve"].argv, "--max-concurrency") == ["1"]


def test_open_arrival_keeps_the_contract_s_burstiness_or_says_that_it_cannot() -> None:
    run = a_matrix(OPEN).runs["open"]
    argv = run.clients["vllm-bench-serve"].argv
    assert (values(argv, "--request-rate"), values(argv, "--burstiness")) == (["4"], ["0.5"])
    assert values(run.clients["aiperf"].argv, "--arrival-smoothness") == ["0.5"]
    assert values(run.clients["guidellm"].argv, "--profile") == ["kind=poisson,rate=4"]
    assert "Arrivals are Poisson: the contract's burstiness is not met." in run.unsaid["guidellm"]


def test_what_synthetic_lengths_lose_is_said() -> None:
    run = a_matrix(*LENGTHS["mean"]).runs["saturated"]
    assert values(run.clients["vllm-bench-serve"].argv, "--random-input-len") == ["900"]
    assert "Synthetic prompts are all of the mean length; p95, max of the contract are not met." in run.unsaid["aiperf"]


def test_a_length_that_is_not_stated_is_left_to_be_filled_in() -> None:
    matrix = a_matrix((f"{WORKLOAD}/prompt_tokens", {"p95": 3000}))
    run = matrix.runs["saturated"]
    assert "${TOPOGATE_PROMPT_TOKENS}" in run.clients["vllm-bench-serve"].argv
    assert "TOPOGATE_PROMPT_TOKENS" in matrix.variables
    assert "The contract states no prompt length to ask for: it has to be filled in." in run.unsaid["vllm-bench-serve"]


def test_requests_of_the_contract_s_file_are_not_synthetic() -> None:
    matrix = a_matrix(*LENGTHS["file"])
    for client in CLIENTS:
        argv = matrix.runs["saturated"].clients[client].argv
        assert any("${TOPOGATE_DATASET}" in word for word in argv)
        assert not any("random-input" in word or "synthetic" in word for word in argv)
    assert matrix.shared.dataset_digest == "sha256:" + "ab" * 32


def test_a_warm_cache_shares_its_share_of_every_prompt() -> None:
    runs = a_matrix(WARM).runs
    assert {"saturated/warm", "saturated/cold"} <= set(runs)
    argv = runs["saturated/warm"].clients["vllm-bench-serve"].argv
    assert values(argv, "--prefix-repetition-prefix-len") == ["512"]
    assert values(argv, "--prefix-repetition-suffix-len") == ["512"]
    assert values(runs["saturated/cold"].clients["vllm-bench-serve"].argv, "--random-input-len") == ["1024"]


def test_words_of_documents_are_quoted_and_no_secret_is_a_word() -> None:
    hostile = "a b; rm -rf $HOME `id` \"'"
    run = a_matrix(("/identity/model/name", hostile)).runs["saturated"]
    for command in run.clients.values():
        read = shlex.split(command.shell)
        assert any(hostile in word for word in read)
        assert "--api-key" not in read


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.00001, "0.00001"), (2.5, "2.5"), (1e22, "1" + "0" * 22), (Fraction(1, 4), "0.25"), (3, "3")],
)
def test_numbers_are_written_without_an_exponent(value: int | float | Fraction, written: str) -> None:
    assert number_text(value) == written
