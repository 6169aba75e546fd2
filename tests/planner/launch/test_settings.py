"""Decided settings: arguments where an engine has them, asked for where it has none, never dropped or guessed."""

import json
import subprocess
from typing import Any

import pytest
import yaml

from planner.launch import LaunchConfiguration, Target
from planner.launch.settings import ENGINES, settings_words
from planner.layouts import Degrees
from planner.matrix.words import command
from planner.records.evidence import LayoutName
from tests.planner.launch.launched import devices, documents, instance, launched
from tests.planner.matrix.arguments import SGLANG_SERVER, TRTLLM_SERVE, VLLM_SERVE
from tests.planner.matrix.contracts import DENSE_70B

SCHEDULER = "/identity/stack/scheduler"
FLAGS = "/identity/stack/flags"
BATCH = "/identity/workload/batch"
GIVEN = "-- ARGUMENT..."


def words(made: LaunchConfiguration, count: int) -> list[str]:
    """Return the last words of the first node's command."""
    return list(command(made.engines[0].starts[0].words).argv[-count:])


def one(target: Target, *changes: tuple[str, Any], dp: int = 1) -> LaunchConfiguration:
    return launched(target, *changes, instances=[instance(dp, dp=dp)], devices=devices("n0", dp))


@pytest.mark.parametrize(
    ("layout", "known"), [("vllm", VLLM_SERVE), ("sglang", SGLANG_SERVER), ("trtllm", TRTLLM_SERVE)]
)
def test_every_setting_is_an_argument_that_the_engine_has_or_is_left(layout: LayoutName, known: frozenset[str]) -> None:
    own = {name.removeprefix("--").replace("-", "_"): name for name in known}
    for key in {*own, *ENGINES[layout]}:
        found = set()
        for value in (1, 0.5, True, "fcfs"):
            contract, _ = documents((SCHEDULER, {key: value}), layout=layout, instances=[instance(1)], devices="n0-g0")
            said, left = settings_words(layout, contract.record, Degrees(tp=1), [])
            assert bool(said) != bool(left)
            found |= set(said[:1])
        assert found <= known
        assert bool(found) == (key in ENGINES[layout])
        if key in own:
            assert found <= {own[key]}


def test_settings_of_vllm_are_its_arguments() -> None:
    made = one(
        "vllm",
        (SCHEDULER, {"policy": "fcfs", "max_running_requests": 32}),
        (FLAGS, {"gpu_memory_utilization": 0.76, "enable_chunked_prefill": False, "enforce_eager": False}),
        (BATCH, {"max_num_batched_tokens": 4096}),
    )
    assert words(made, 9) == [
        "--max-num-seqs",
        "32",
        "--scheduling-policy",
        "fcfs",
        "--no-enable-chunked-prefill",
        "--gpu-memory-utilization",
        "0.76",
        "--max-num-batched-tokens",
        "4096",
    ]
    assert made.to_fill == {}


def test_settings_of_sglang_are_its_arguments() -> None:
    settings = {"policy": "lpm", "max_running_requests": 32, "chunked_prefill_tokens": 2048}
    made = one("sglang", (SCHEDULER, settings), (FLAGS, {"mem_fraction_static": 0.8}))
    expected = "--chunked-prefill-size 2048 --max-running-requests 32 --schedule-policy lpm --mem-fraction-static 0.8"
    assert words(made, 10)[:8] == expected.split()
    assert GIVEN not in made.to_fill


@pytest.mark.parametrize("policy", ["lpm", "random", "fcfs", "dfs-weight", "lof", "routing-key"])
@pytest.mark.parametrize(("path", "key"), [(SCHEDULER, "policy"), (FLAGS, "schedule_policy")])
def test_every_policy_that_sglang_has_is_its_argument(path: str, key: str, policy: str) -> None:
    assert words(one("sglang", (path, {key: policy})), 4)[:2] == ["--schedule-policy", policy]


def test_a_policy_that_sglang_lists_and_does_not_have_is_asked_for_with_the_reason() -> None:
    made = one("sglang", (SCHEDULER, {"policy": "priority"}))
    assert "--schedule-policy" not in made.engines[0].starts[0].words
    assert "stack.scheduler.policy priority (SGLang lists it, but has no policy of that name" in made.to_fill[GIVEN]
    assert "--enable-priority-scheduling" in made.to_fill[GIVEN]


def test_settings_of_tensorrt_are_its_arguments() -> None:
    made = one("trtllm", (SCHEDULER, {"max_running_requests": 32}), (FLAGS, {"enable_chunked_prefill": True}))
    assert words(made, 5)[:3] == ["--max_batch_size", "32", "--enable_chunked_prefill"]


def test_a_common_name_is_left_where_data_ranks_leave_its_meaning_open() -> None:
    made = one("vllm", (SCHEDULER, {"max_running_requests": 32}), dp=2)
    assert "--max-num-seqs" not in made.files[0].text
    assert made.to_fill[GIVEN] == (
        "words of the engine, after instance and node, that set stack.scheduler.max_running_requests 32 (with data "
        "ranks it is not said whether it counts for one of them or for all)"
    )


@pytest.mark.parametrize(
    ("path", "settings", "reason"),
    [
        (FLAGS, {"gpu_memory_utilization": 1.5}, "no value that its argument takes"),
        (FLAGS, {"max_num_seqs": True}, "no value that its argument takes"),
        (FLAGS, {"scheduling_policy": "--api-key"}, "no value that its argument takes"),
        (FLAGS, {"policy": "fcfs"}, "no argument is known to be the same"),
        (FLAGS, {"mem_fraction_static": 0.8}, "no argument is known to be the same"),
        (FLAGS, {"max_model_len": 4096}, "--max-model-len has another value already"),
        (FLAGS, {"compilation": {"level": 3}}, "no argument is known to be the same"),
        (SCHEDULER, {"chunked_prefill_tokens": 2048}, "--max-num-batched-tokens bounds a whole step"),
    ],
    ids=lambda value: value if isinstance(value, str) else json.dumps(value),
)
def test_what_is_no_argument_is_asked_for_with_its_value_and_the_reason(
    path: str, settings: dict[str, Any], reason: str
) -> None:
    made = one("vllm", (path, settings))
    ((key, value),) = settings.items()
    text = value if isinstance(value, str) else json.dumps(value)
    assert f"{path.removeprefix('/identity/').replace('/', '.')}.{key} {text} ({reason}" in made.to_fill[GIVEN]
    assert made.engines[0].starts[0].words == one("vllm").engines[0].starts[0].words


def test_a_setting_that_the_command_has_already_is_written_once() -> None:
    made = one("vllm", (FLAGS, {"max_model_len": 8192}))
    assert made.files[0].text.count("--max-model-len 8192") == 1
    assert made.to_fill == {}


def ran(made: LaunchConfiguration, *given: str) -> subprocess.CompletedProcess[str]:
    text = made.files[0].text.replace("exec vllm", "printf '%s\\n' vllm")
    return subprocess.run(
        ["/bin/bash", "-s", "0", "n0", *given], input=text, capture_output=True, text=True, check=False
    )


def test_a_script_starts_nothing_until_it_is_told_what_sets_what_is_left() -> None:
    hostile = "x'; touch /tmp/no $(id) `id` \\\nexec vllm"
    made = one("vllm", (FLAGS, {"attention": hostile}))
    stopped = ran(made)
    assert (stopped.returncode, stopped.stdout) == (2, "")
    assert stopped.stderr.startswith(
        "give what sets these after INSTANCE NODE --, or -- alone: stack.flags.attention x';"
    )
    given = ["--attention", "a b", "*", "$(id)"]
    assert ran(made, "--", *given).stdout.splitlines()[-4:] == given
    assert ran(made, "--").stdout.splitlines()[-1] == "--no-enable-prefix-caching"
    assert ran(made, *given).returncode == 2


def test_words_are_passed_on_where_nothing_is_left_too() -> None:
    assert ran(one("vllm"), "--", "--seed", "7").stdout.splitlines()[-2:] == ["--seed", "7"]
    wrong = ran(one("vllm"), "--seed", "7")
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (2, "", "words for the engine come after --\n")


def test_every_context_of_mpirun_ends_with_the_words_that_are_passed_on() -> None:
    made = launched("trtllm", model=DENSE_70B, instances=[instance(8, tp=8)], devices=devices("n0 n1", 4), nodes=2)
    assert made.files[0].text.count(' "${@:4}"') == 2


def test_pods_take_a_json_list_as_their_arguments() -> None:
    change = (SCHEDULER, {"chunked_prefill_tokens": 2048})
    made = launched(
        "lws",
        change,
        layout="vllm",
        model=DENSE_70B,
        instances=[instance(8, tp=8)],
        devices=devices("n0 n1", 4),
        nodes=2,
    )
    assert "stack.scheduler.chunked_prefill_tokens 2048" in made.to_fill["TOPOGATE_ENGINE_ARGUMENTS"]
    text = made.files[0].text.replace("args: ${TOPOGATE_ENGINE_ARGUMENTS}", 'args: ["--a", "b: {c} #d"]')
    template = yaml.safe_load(text)["spec"]["leaderWorkerTemplate"]
    for pod in ("leaderTemplate", "workerTemplate"):
        assert template[pod]["spec"]["containers"][0]["args"] == ["--a", "b: {c} #d"]


def test_what_pods_under_mpirun_are_not_given_is_said() -> None:
    change = (SCHEDULER, {"policy": "fcfs"})
    made = launched("lws", change, layout="trtllm", instances=[instance(8, tp=8)], devices=devices("n0 n1", 4), nodes=2)
    assert "TOPOGATE_ENGINE_ARGUMENTS" not in made.files[0].text
    (said,) = [each.sentence for each in made.unsaid if "by hand" in each.sentence]
    left = "stack.scheduler.policy fcfs (no argument is known to be the same)"
    assert said == f"To be added to the words of every node by hand: {left}."
