"""The example that names an engine can be launched, rank for rank as it was measured."""

import pytest

from planner.launch import TARGETS, LaunchConfiguration, LaunchRefusedError, Target, launch_configuration
from planner.matrix.words import command
from planner.plan import plan_parallelism
from tests.planner.corpus import AS_OF, shipped


def launched(target: Target) -> LaunchConfiguration:
    contract, evidence = shipped("dense-two-nodes")
    plan = plan_parallelism(contract, evidence, as_of=AS_OF)
    assert plan.selected is not None
    return launch_configuration(contract, evidence, plan.selected.trial, target, plan_id=str(plan.plan_id))


def test_vllm_is_started_on_both_nodes_where_it_was_measured() -> None:
    made = launched("vllm")
    assert made.is_exact
    assert [(start.node, start.ranks) for start in made.engines[0].starts] == [
        ("node-a", (0, 1, 2, 3)),
        ("node-b", (4, 5, 6, 7)),
    ]
    first = command(made.engines[0].starts[0].words).argv
    assert first[first.index("--tensor-parallel-size") : first.index("--max-model-len")] == (
        "--tensor-parallel-size",
        "4",
        "--pipeline-parallel-size",
        "2",
    )
    assert list(made.to_fill) == ["TOPOGATE_HEAD", "-- ARGUMENT..."]


def test_decided_settings_are_arguments_and_the_one_that_is_none_is_asked_for() -> None:
    made = launched("vllm")
    for start in made.engines[0].starts:
        assert command(start.words).argv[-6:] == (
            *("--max-num-seqs", "32", "--scheduling-policy", "fcfs"),
            *("--gpu-memory-utilization", "0.76"),
        )
    assert "stack.scheduler.chunked_prefill_tokens 2048" in made.to_fill["-- ARGUMENT..."]


def test_one_set_of_pods_holds_the_same_ranks() -> None:
    made = launched("lws")
    assert made.is_exact
    assert [file.name for file in made.files] == ["lws.yaml"]
    assert "size: 2\n" in made.files[0].text


@pytest.mark.parametrize("target", [target for target in TARGETS if target not in ("vllm", "lws")])
def test_no_other_engine_takes_what_was_measured_with_this_one(target: Target) -> None:
    with pytest.raises(LaunchRefusedError, match="was measured with vLLM"):
        launched(target)
