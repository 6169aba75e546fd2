"""LeaderWorkerSet objects: pods on the decided nodes, words that follow the worker's index, what cannot be promised."""

from typing import Any

import yaml

from planner.launch import LaunchConfiguration
from tests.planner.launch.launched import SLICES, devices, instance, launched
from tests.planner.matrix.contracts import DENSE_70B, LATENT_MOE


def objects(made: LaunchConfiguration) -> list[Any]:
    return list(yaml.safe_load_all(made.files[0].text))


def pods(tree: Any) -> tuple[Any, Any]:
    template = tree["spec"]["leaderWorkerTemplate"]
    return template["leaderTemplate"]["spec"], template["workerTemplate"]["spec"]


def hosts(pod: Any) -> list[str]:
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (wanted,) = term["matchExpressions"]
    assert (wanted["key"], wanted["operator"]) == ("kubernetes.io/hostname", "In")
    return list(wanted["values"])


def test_two_nodes_are_a_leader_and_a_worker() -> None:
    one = instance(16, tp=8, pp=2)
    made = launched("lws", layout="vllm", model=DENSE_70B, instances=[one], devices=devices("n1 n0", 8), nodes=2)
    assert made.is_exact
    (tree,) = objects(made)
    label = {
        "topogate/slot": "demo/matrix",
        "topogate/decision": "D-0012 r3",
        "topogate/subject": "sha256:" + "b" * 64,
        "topogate/expires_at": "2999-12-01T00:00:00Z",
        "topogate/plan": "sha256:" + "a" * 64,
        "topogate/rank_map": made.label.rank_map_digest,
    }
    assert (tree["apiVersion"], tree["kind"]) == ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    assert tree["metadata"] == {"name": "demo-matrix-d84b9dfd-serve-0", "annotations": label}
    spec = tree["spec"]["leaderWorkerTemplate"]
    assert (tree["spec"]["replicas"], spec["size"], spec["restartPolicy"]) == (1, 2, "RecreateGroupOnPodRestart")
    assert spec["workerTemplate"]["metadata"]["annotations"] == label
    leader, worker = pods(tree)
    assert (hosts(leader), hosts(worker)) == (["${TOPOGATE_HOST_N1}"], ["${TOPOGATE_HOST_N0}"])
    words = "vllm serve example/dense-70b --revision r1 --tensor-parallel-size 8 --pipeline-parallel-size 2 "
    words += "--max-model-len 8192 --no-enable-prefix-caching --nnodes 2 --node-rank {} "
    words += "--master-addr $(LWS_LEADER_ADDRESS) --master-port 29501"
    assert leader["containers"][0]["command"] == words.format(0).split()
    assert worker["containers"][0]["command"] == f"{words.format(1)} --headless".split()
    container = worker["containers"][0]
    assert container["resources"] == {"limits": {"${TOPOGATE_DEVICE_RESOURCE}": "8"}}
    environment = {entry["name"]: entry["value"] for entry in container["env"]}
    assert environment["CUDA_VISIBLE_DEVICES"] == "0,1,2,3,4,5,6,7"
    assert environment["TOPOGATE_SUBJECT"] == "sha256:" + "b" * 64
    assert list(made.to_fill) == [
        "TOPOGATE_HOST_N1",
        "TOPOGATE_IMAGE",
        "TOPOGATE_DEVICE_RESOURCE",
        "TOPOGATE_HOST_N0",
    ]


def test_workers_of_more_nodes_reckon_their_first_rank_and_their_order_is_not_promised() -> None:
    one = instance(24, dp=24, ep=24)
    made = launched("lws", layout="vllm", model=LATENT_MOE, instances=[one], devices=devices("n0 n1 n2", 8), nodes=3)
    _, worker = pods(objects(made)[0])
    shell, dash, script, *words = worker["containers"][0]["command"]
    assert (shell, dash) == ("sh", "-c")
    assert script == 'exec "$@" --data-parallel-start-rank "$$((LWS_WORKER_INDEX * 8))"'
    assert words[:3] == ["vllm", "vllm", "serve"]
    assert "--headless" in words
    assert "--data-parallel-start-rank" not in words
    assert hosts(worker) == ["${TOPOGATE_HOST_N1}", "${TOPOGATE_HOST_N2}"]
    assert not made.is_exact
    assert made.unsaid[0].sentence == (
        "Which worker takes which of n1, n2 is the scheduler's choice, and with it the order of ranks."
    )


def test_workers_of_more_nodes_take_their_number_from_their_index() -> None:
    one = instance(32, tp=32)
    made = launched(
        "lws", layout="sglang", model=DENSE_70B, instances=[one], devices=devices("n0 n1 n2 n3", 8), nodes=4
    )
    _, worker = pods(objects(made)[0])
    words = worker["containers"][0]["command"]
    assert words[words.index("--node-rank") + 1] == "$(LWS_WORKER_INDEX)"


def test_a_part_of_a_node_cannot_be_asked_for() -> None:
    made = launched("lws", layout="vllm", instances=[instance(2, tp=2)], devices="n0-g2 n0-g3")
    (tree,) = objects(made)
    template = tree["spec"]["leaderWorkerTemplate"]
    assert template["size"] == 1
    assert "leaderTemplate" not in template
    container = template["workerTemplate"]["spec"]["containers"][0]
    assert container["resources"]["limits"] == {"${TOPOGATE_DEVICE_RESOURCE}": "2"}
    assert "CUDA_VISIBLE_DEVICES" not in {entry["name"] for entry in container["env"]}
    assert not made.is_exact
    assert made.unsaid[0].sentence == "Devices n0-g2, n0-g3 of n0 cannot be asked for: the device plugin chooses."


def test_mpirun_of_tensorrt_runs_in_the_leader_with_its_settings_mounted() -> None:
    one = instance(16, tp=16)
    made = launched("lws", layout="trtllm", model=DENSE_70B, instances=[one], devices=devices("n0 n1", 8), nodes=2)
    settings, tree = objects(made)
    assert settings["kind"] == "ConfigMap"
    assert settings["data"] == {"engine-0.yaml": "kv_cache_config:\n  enable_block_reuse: false\n"}
    leader, worker = pods(tree)
    words = leader["containers"][0]["command"]
    assert words[:5] == ["mpirun", "-n", "8", "--host", "demo-matrix-d84b9dfd-serve-0-0.demo-matrix-d84b9dfd-serve-0:8"]
    assert words[words.index(":") + 4] == "demo-matrix-d84b9dfd-serve-0-0-1.demo-matrix-d84b9dfd-serve-0:8"
    assert words[words.index("--config") + 1] == "/topogate/engine-0.yaml"
    assert leader["containers"][0]["volumeMounts"] == [{"name": "settings", "mountPath": "/topogate"}]
    assert leader["volumes"] == [{"name": "settings", "configMap": {"name": settings["metadata"]["name"]}}]
    assert worker["containers"][0]["command"] == ["sh", "-c", "${TOPOGATE_WORKER_COMMAND}"]
    assert "mpirun needs a way into every pod, such as SSH, that the image has to offer." in [
        each.sentence for each in made.unsaid
    ]


def test_pools_are_a_set_each_and_text_of_documents_is_not_expanded() -> None:
    pools = [instance(4, "prefill", tp=4), instance(4, "decode", tp=4)]
    changes = (("/identity/model/name", "m $(HOME) $$(HOME) $5"), ("/slot", "7/ünd"))
    made = launched("lws", *changes, layout="vllm", instances=pools, devices=devices("n0", 8))
    first, second = objects(made)
    assert [tree["metadata"]["name"] for tree in (first, second)] == [
        "slot-7-nd-f196b983-prefill-0",
        "slot-7-nd-f196b983-decode-1",
    ]
    words = second["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["command"]
    assert words[2] == "m $$(HOME) $$$$(HOME) $$5"
    assert '{"kv_connector": "${TOPOGATE_KV_CONNECTOR}", "kv_role": "kv_consumer"}' in words


def test_what_follows_a_lost_pod_is_said_where_it_is_not_what_was_decided() -> None:
    recovery = {
        "timeout_s": 30,
        "on_rank_loss": "reject",
        "in_flight_requests": "reject",
        "drain": "drain",
        "admission_control": "gateway",
        "load_shedding": "gateway",
    }
    made = launched(
        "lws", ("/recovery", recovery), layout="vllm", instances=[instance(8, tp=8)], devices=devices("n0", 8)
    )
    assert "On the loss of a pod its group is made anew; decided: reject." in [each.sentence for each in made.unsaid]


def test_a_set_that_outlives_its_decision_is_said() -> None:
    trial: Any = {"layout": "vllm", "instances": [instance(1)], "devices": "n0-g0"}
    (said,) = [each.sentence for each in launched("lws", **trial).unsaid if each.at == "expiry"]
    assert said == "Pods are labelled with 2999-12-01T00:00:00Z, and start after it too: a set does not end by itself."
    assert "expiry" not in {each.at for each in launched("lws", expires_at=None, **trial).unsaid}


def test_workers_with_other_orders_of_devices_have_none() -> None:
    order = f"{devices('n0', 8)} n1-g1 n1-g0 {' '.join(f'n1-g{at}' for at in range(2, 8))} {devices('n2', 8)} "
    order += devices("n3", 8)
    made = launched("lws", layout="vllm", model=DENSE_70B, instances=[instance(32, tp=32)], devices=order, nodes=4)
    leader, worker = pods(objects(made)[0])
    named = [{entry["name"] for entry in pod["containers"][0]["env"]} for pod in (leader, worker)]
    assert ["CUDA_VISIBLE_DEVICES" in names for names in named] == [True, False]
    assert made.unsaid[1].sentence == "Workers take their devices in different orders; one template has one order."


def test_a_slice_is_asked_for_by_number_alone() -> None:
    change = ("/identity/hardware/devices", SLICES)
    made = launched("lws", change, layout="vllm", instances=[instance(1), instance(1)], devices="n0-g0 n0-g1")
    containers = [
        tree["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0] for tree in objects(made)
    ]
    assert [one["resources"]["limits"] for one in containers] == [{"${TOPOGATE_DEVICE_RESOURCE}": "1"}] * 2
    assert all("CUDA_VISIBLE_DEVICES" not in {entry["name"] for entry in one["env"]} for one in containers)
    assert made.unsaid[1].sentence == "Devices n0-g1 of n0 cannot be asked for: the device plugin chooses."


def test_context_ranks_of_sglang_in_pods() -> None:
    one = instance(16, tp=16, cp=2)
    made = launched("lws", layout="sglang", model=DENSE_70B, instances=[one], devices=devices("n0 n1", 8), nodes=2)
    leader, _ = pods(objects(made)[0])
    words = " ".join(leader["containers"][0]["command"])
    assert "--tp-size 16 --attn-cp-size 2 --context-length 8192" in words
    assert words.endswith("--node-rank 0 --dist-init-addr $(LWS_LEADER_ADDRESS):20000 --host ${TOPOGATE_LISTEN}")


def test_sets_of_slots_that_are_spelled_alike_do_not_replace_one_another() -> None:
    long = "demo-" + "x" * 60
    slots = ("demo/a", "demo-a", "demo.a", "Demo-a", "ä", "ö", f"{long}1", f"{long}2")
    names = [
        objects(launched("lws", ("/slot", slot), layout="vllm", instances=[instance(1)], devices="n0-g0"))[0][
            "metadata"
        ]["name"]
        for slot in slots
    ]
    assert names[1] == "demo-a-serve-0"
    assert len(set(names)) == len(slots)
    assert max(map(len, names)) <= 40 + len("-serve-0")
