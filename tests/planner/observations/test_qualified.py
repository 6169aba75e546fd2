"""What can be observed of a topology: its ranks, serving groups, links and shapes."""

from planner.intake import read_contract, read_evidence
from planner.observations.qualified import qualified
from planner.records.base import stated
from tests.reviews.factories import example_pair


def test_ranks_groups_and_places_are_those_of_the_trial() -> None:
    pair = example_pair()
    contract = read_contract(pair.contract)
    evidence = read_evidence(pair.evidence, contract)
    name = next(iter(evidence.record.trials))
    trial = evidence.record.trials[name]
    found = qualified(contract, name, trial)
    assert found.slot == contract.record.slot
    assert found.ranks == len(trial.rank_map)
    assert sorted(rank for group in found.members for rank in group) == list(range(found.ranks))
    assert found.groups == len(found.members)
    assert found.places == {place.rank: (place.node, place.device) for place in trial.rank_map}
    assert found.links == frozenset(stated(contract.record.identity.hardware.links) or {})
    assert any(entry.metric == "device_used_bytes" and entry.rank == 0 for entry in found.entries)
