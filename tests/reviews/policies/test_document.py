"""The policy document: what it takes, who owns what."""

import copy
from typing import Any

import msgspec
import pytest

from reviews.policies.document import DEFAULT_POLICY, gate_owner, identity_owner, quorums, read_policy, releasing_teams
from tests.reviews.factories import POLICY


def raw(changes: dict[str, Any] | None = None) -> bytes:
    return msgspec.json.encode({**copy.deepcopy(POLICY), **(changes or {})})


def test_the_default_policy_asks_six_teams_and_two_of_capacity() -> None:
    document = read_policy(msgspec.json.encode(DEFAULT_POLICY))
    assert quorums(document) == {
        "capacity": 2,
        "incident-response": 1,
        "kernel": 1,
        "model": 1,
        "networking": 1,
        "serving": 1,
    }


def test_every_team_releases_unless_the_policy_names_some() -> None:
    assert releasing_teams(read_policy(raw())) == {"serving", "networking"}
    assert releasing_teams(read_policy(raw({"duties": {"release": ["serving"]}}))) == {"serving"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"schema": "topogate.policy/v2"}, "not a policy", id="another schema"),
        pytest.param({"extra": 1}, "not a policy", id="unknown field"),
        pytest.param({"teams": {"Serving": {"title": "S", "quorum": 1}}}, "not a policy", id="team in capitals"),
        pytest.param({"teams": {"serving": {"title": "S", "quorum": -1}}}, "not a policy", id="negative quorum"),
        pytest.param(
            {"duties": {"release": ["kernel"]}}, "owners that are no team of the policy: kernel", id="no such releasers"
        ),
        pytest.param({"max_age_s": 0}, "not a policy", id="no time at all"),
        pytest.param({"identity_owners": {"stack": "serving"}}, "not a policy", id="owner of no pointer"),
        pytest.param(
            {"fallback_owner": "kernel", "gate_owners": {"slo": "model"}},
            "owners that are no team of the policy: kernel, model",
            id="owners without a team",
        ),
    ],
)
def test_a_wrong_policy_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_policy(raw(changes))


@pytest.mark.parametrize(
    ("pointer", "owner"),
    [
        pytest.param("/stack/engine/version", "serving", id="longest pointer wins"),
        pytest.param("/stack/driver/digest", "kernel", id="section"),
        pytest.param("/stack", "kernel", id="the section itself"),
        pytest.param("/stackable", "serving", id="no prefix of a name"),
        pytest.param("/unheard/of", "serving", id="fallback"),
    ],
)
def test_identity_keys_have_an_owner(pointer: str, owner: str) -> None:
    assert identity_owner(read_policy(msgspec.json.encode(DEFAULT_POLICY)), pointer) == owner


def test_gate_families_have_an_owner() -> None:
    document = read_policy(msgspec.json.encode(DEFAULT_POLICY))
    assert (gate_owner(document, "failure"), gate_owner(document, "unheard")) == ("incident-response", "serving")
