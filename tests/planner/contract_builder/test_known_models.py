"""The list of known models against the files that its figures were read from."""

import pytest

from planner.contract_builder.edits import merged
from planner.contract_builder.known_models import KNOWN_MODELS, KnownModel
from planner.contract_builder.rendered import judged
from planner.contract_builder.shapes import skeleton
from planner.hypotheses.config import File, read_config
from planner.strict_json import read
from tests.shared import shared_path

every_model = pytest.mark.parametrize("known", KNOWN_MODELS, ids=lambda known: known.name)


@every_model
def test_figures_are_those_of_the_published_file(known: KnownModel) -> None:
    path = shared_path(f"cases/files/hf_config/{known.name.replace('/', '--')}_config.json")
    found = read_config([File(name=path.name, reading=read(path.read_bytes()))])
    assert (dict(known.model), dict(known.precision)) == (found.model, found.precision)
    assert known.notes == tuple(note for note in found.notices if "not counted" in note)


@every_model
def test_a_known_model_leaves_open_only_what_its_file_does_not_say(known: KnownModel) -> None:
    tree = merged(skeleton(), known.fragment)
    found = [
        problem.pointer
        for problem in judged(tree).problems
        if problem.pointer.startswith(("/identity/model", "/identity/precision"))
    ]
    asked = ["/identity/model/revision", "/identity/precision/activations", "/identity/precision/kv_cache"]
    assert found == [pointer for pointer in asked if pointer.rpartition("/")[2] not in known.precision]


@every_model
def test_no_revision_is_made_up_and_the_source_is_named(known: KnownModel) -> None:
    assert "revision" not in known.model
    assert known.source.startswith(known.name)
    assert "095f58a51c4ca8e61b66ec108d86f223f8d559ce" in known.source
