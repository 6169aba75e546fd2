"""Commands of SGLang for decided rank maps: stages and context ranks, typed by hand from its list of arguments."""

from tests.planner.launch.launched import devices, instance, launched, started
from tests.planner.matrix.contracts import DENSE_70B, LATENT_MOE

START = "exec python3 -m sglang.launch_server --model-path {} --revision r1 "
ORDER = "export CUDA_DEVICE_ORDER=PCI_BUS_ID\nexport CUDA_VISIBLE_DEVICES="


def test_stages_over_two_nodes_begin_on_the_node_of_rank_0() -> None:
    made = launched(
        "sglang", model=DENSE_70B, instances=[instance(8, tp=4, pp=2)], devices=devices("n1 n0", 4), nodes=2
    )
    line = f"{ORDER}0,1,2,3\n{START.format('example/dense-70b')}--tp-size 4 --pp-size 2 --context-length 8192 "
    line += '--disable-radix-cache --nnodes 2 --node-rank {} --dist-init-addr "${{TOPOGATE_HEAD}}":20000 '
    line += '--host "${{TOPOGATE_LISTEN}}"'
    assert started(made) == {"0/n1": line.format(0), "0/n0": line.format(1)}


def test_layers_of_stages_stand_in_the_environment() -> None:
    one = instance(8, tp=4, pp=2, engine_degrees={"layer_partition": "31,30"})
    made = launched("sglang", model=LATENT_MOE, instances=[one], devices=devices("n0", 8))
    assert "\nexport SGLANG_PP_LAYER_PARTITION=31,30\nexec python3" in started(made)["0/n0"]


def test_context_ranks_of_attention_and_what_they_need_besides() -> None:
    made = launched("sglang", model=DENSE_70B, instances=[instance(8, tp=8, cp=2)], devices=devices("n0", 8))
    assert "--tp-size 8 --attn-cp-size 2 --context-length 8192 " in started(made)["0/n0"]
    needs = "Attention context parallelism also needs --enable-prefill-cp and a --cp-strategy for the model."
    assert needs in [each.sentence for each in made.unsaid]


def test_replicas_of_one_server_and_experts_in_data_groups() -> None:
    made = launched("sglang", model=DENSE_70B, instances=[instance(8, tp=4, dp=2)], devices=devices("n0", 8))
    assert "--tp-size 4 --dp-size 2 " in started(made)["0/n0"]
    one = instance(8, tp=8, ep=4, cp=2, engine_degrees={"moe_dp": 2})
    made = launched("sglang", model=LATENT_MOE, instances=[one], devices=devices("n0", 8))
    assert "--tp-size 8 --ep-size 4 --attn-cp-size 2 " in started(made)["0/n0"]
    assert "--moe-dp-size 2 " in started(made)["0/n0"]
