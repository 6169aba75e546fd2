"""What is taken out of a file before it is kept, and what stays as it is."""

import io
import json
from pathlib import Path

import pytest

from planner.errors import DocumentRefusedError
from planner.importers import Source, import_file, redaction
from planner.importers.redaction import Redactor, Removed, host_names, host_stand_in
from tests.shared import shared_cases

KEY = b"sk-abcdefghijklmnop1234"


def kept(raw: bytes, *, stand_ins: dict[bytes, bytes] | None = None, block: int = 2**16) -> tuple[bytes, Redactor]:
    redactor = Redactor(stand_ins or {})
    blocks = [raw[start : start + block] for start in range(0, len(raw), block)]
    return b"".join(redactor.copy(blocks)), redactor


@pytest.mark.parametrize(
    ("raw", "copy"),
    [
        pytest.param(b'{"api_key": "abcdefgh12"}', b'{"api_key": "[removed]"}', id="a key of JSON"),
        pytest.param(b"args: {'api_key': ['abcdefgh12']}", b"args: {'api_key': ['[removed]']}", id="Python's own form"),
        pytest.param(b"--api-key abcdefgh12 --tp 2", b"--api-key [removed] --tp 2", id="an argument"),
        pytest.param(b"HF_TOKEN=abcdefgh12 vllm", b"HF_TOKEN=[removed] vllm", id="a shell's setting"),
        pytest.param(b"password: correct-horse", b"password: [removed]", id="YAML"),
        pytest.param(b'"Authorization": "Bearer abcdefgh12"', b'"Authorization": "Bearer [removed]"', id="a header"),
        pytest.param(b'["' + KEY + b'"]', b'["[removed]"]', id="a form of key, named nowhere"),
        pytest.param(b'"http://u:p@h:8000/v1"', b'"http://[removed]@h:8000/v1"', id="an address"),
        pytest.param(b"AKIAABCDEFGHIJKLMNOP", b"[removed]", id="a cloud's key"),
    ],
)
def test_credentials_are_taken_out(raw: bytes, copy: bytes) -> None:
    found, redactor = kept(raw + b"\n")
    assert found == copy + b"\n"
    assert redactor.removed == [Removed(1, "credential")]


def test_the_account_in_the_path_of_a_folder_is_taken_out() -> None:
    found, redactor = kept(b'"/home/somebody/m", 1')
    assert (found, redactor.removed) == (b'"/home/[removed]/m", 1', [Removed(1, "account")])


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'{"total_token": 123456789, "max_tokens": 131072}', id="counts"),
        pytest.param(b'{"time_to_first_token": {"units": "ms"}}', id="a latency"),
        pytest.param(b"time_to_first_token:\n  mean: 0.12345678\n", id="a latency in YAML"),
        pytest.param(b'{"inter_token_latency": 12.3456789012}', id="a rate"),
        pytest.param(b'{"token": null, "hf_token": "None", "tokenizer_id": "own/dense-8b"}', id="nothing there"),
        pytest.param(b'{"key": "prefill_throughput", "secretary": "somebody-else"}', id="words alike"),
        pytest.param(b'{"output": {"mean": 12}, "prompt": {"tokens": "128"}, "response": 3}', id="figures of lengths"),
        pytest.param(b"Output Token Throughput (tokens/sec),80.69\n--max-token 1234567890", id="words of a table"),
        pytest.param(b'{"api_key": "[removed]", "prompt": ""}', id="a copy itself"),
    ],
)
def test_figures_and_words_alike_stay(raw: bytes) -> None:
    found, redactor = kept(raw)
    assert (found, redactor.removed) == (raw, [])


def test_prompts_and_answers_are_taken_out_and_json_stays_json() -> None:
    tree = {
        "prompt": 'say "hello"',
        "generated_texts": ["one", "two\nlines", ""],
        "ttfts": [0.1, 0.2],
        "requests": [{"messages": [{"role": "user", "content": "hello"}], "output": "hi", "prompt_token_ids": [1, 2]}],
    }
    found, redactor = kept(json.dumps(tree, indent=1).encode(), block=7)
    assert json.loads(found) == {
        "prompt": "[removed]",
        "generated_texts": ["[removed]", "[removed]", ""],
        "ttfts": [0.1, 0.2],
        "requests": [
            {
                "messages": [{"role": "[removed]", "content": "[removed]"}],
                "output": "[removed]",
                "prompt_token_ids": [],
            }
        ],
    }
    assert redactor.counts == {"prompt": 7}
    assert found.count(b"\n") == json.dumps(tree, indent=1).count("\n")


def test_the_prompt_of_a_logged_request_is_taken_out() -> None:
    raw = b"INFO Received request cmpl-1: prompt: 'Tell me, it\\'s late', params: SamplingParams(n=1)\n"
    found, _ = kept(raw)
    assert found == b"INFO Received request cmpl-1: prompt: '[removed]', params: SamplingParams(n=1)\n"


def test_what_a_script_prints_of_prompt_and_answer_is_taken_out() -> None:
    found, redactor = kept(b"Prompt: 'Hello, my name is', Generated text: \" it's Joe\"\n")
    assert found == b"Prompt: '[removed]', Generated text: '[removed]'\n"
    assert redactor.counts == {"prompt": 2}


def test_what_is_removed_is_named_by_line() -> None:
    raw = b"one\nHF_TOKEN=abcdefgh12\n" + b"x\n" * 10 + b'{"prompt": "a"}\n'
    _, redactor = kept(raw, block=5)
    assert redactor.removed == [Removed(2, "credential"), Removed(13, "prompt")]


def test_the_list_of_removals_is_bounded_and_the_count_is_not() -> None:
    _, redactor = kept(b"HF_TOKEN=abcdefgh12\n" * 250)
    assert (len(redactor.removed), redactor.counts["credential"]) == (100, 250)


def test_hosts_get_the_same_stand_in_in_every_file() -> None:
    ranks = b"#  Rank  0 Group  0 Pid  77 on gpu-a17 device  0 [0x18] Own\n"
    other = b'{"hostname": "gpu-a17", "url": "http://192.0.2.7:8000/v1"}\n# gpu-a171 is another\n'
    names = host_names([ranks]) | host_names([other])
    assert names == {b"gpu-a17", b"192.0.2.7"}
    stand_ins = {name: host_stand_in(name, b"salt") for name in names}
    first, second = kept(ranks, stand_ins=stand_ins)[0], kept(other, stand_ins=stand_ins)[0]
    stand_in = stand_ins[b"gpu-a17"]
    assert stand_in in first
    assert json.loads(second.splitlines()[0])["hostname"] == stand_in.decode()
    assert b"gpu-a171 is another" in second
    assert b"192.0.2.7" not in second
    assert host_stand_in(b"gpu-a17", b"pepper") != stand_in


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "MAX_LINE_BYTES", 100)
    with pytest.raises(DocumentRefusedError) as refused:
        kept(b"x" * 200, block=64)
    assert [problem.code for problem in refused.value.problems] == ["import/line_length"]


@pytest.mark.parametrize("path", shared_cases("cases/files", "*/*"))
def test_a_copy_of_a_real_file_gives_the_same_figures(path: Path) -> None:
    raw = path.read_bytes()
    copy, _ = kept(raw)
    assert copy.count(b"\n") == raw.count(b"\n")
    assert figures(path.name, copy) == figures(path.name, raw)


def figures(name: str, raw: bytes) -> list[object]:
    runs = import_file(Source(name, io.BytesIO(raw))).runs
    return [(run.status, [(v.name, v.value) for v in run.values if not isinstance(v.value, str)]) for run in runs]
