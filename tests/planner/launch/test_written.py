"""A launch as an archive and as JSON: the same bytes each time, every file as it is alone."""

import io
import zipfile

from planner.launch.written import launch_archive, launch_tree
from planner.matrix.trtllm_settings import setting_line
from tests.planner.launch.launched import devices, instance, launched
from tests.planner.matrix.contracts import LATENT_MOE, a_matrix

FP8 = ("/identity/precision", {"weights": "fp8", "activations": "fp8", "kv_cache": "fp8"})


def test_an_archive_holds_every_file_and_is_the_same_each_time() -> None:
    made = launched("trtllm", model=LATENT_MOE, instances=[instance(8, tp=8)], devices=devices("n0", 8))
    data = launch_archive(made)
    assert data == launch_archive(made)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {name: archive.read(name).decode() for name in archive.namelist()} == {
            file.name: file.text for file in made.files
        }
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
    assert modes == {"launch.sh": 0o755, "engine-0.yaml": 0o644}


def test_json_has_the_words_of_each_node_beside_the_files() -> None:
    made = launched("vllm", model=LATENT_MOE, instances=[instance(8, tp=8)], devices=devices("n0", 8))
    tree = launch_tree(made)
    (start,) = tree["engines"][0]["starts"]
    assert (start["node"], start["ranks"][0], start["devices"][-1]) == ("n0", 0, "n0-g7")
    assert start["argv"][:2] == ("vllm", "serve")
    assert [file["name"] for file in tree["files"]] == ["launch.sh"]


def test_the_matrix_tells_the_settings_that_a_launch_writes() -> None:
    one = instance(4, tp=2, cp=2, engine_degrees={"cp_type": "HELIX"})
    made = launched("trtllm", FP8, model=LATENT_MOE, instances=[one], devices=devices("n0", 4))
    lines = {setting_line(name, value) for name, value in made.engines[0].settings.items()}
    assert lines == {"cp_config: {cp_type: HELIX}", "kv_cache_config: {enable_block_reuse: false, dtype: fp8}"}
    told = {
        text
        for candidate in a_matrix(FP8, model=LATENT_MOE, engine="tensorrt-llm").candidates.values()
        for text in candidate.launch.unsaid
    }
    assert {f"Goes into the YAML file of --config: {line}." for line in lines} <= told
