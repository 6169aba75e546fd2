"""What hosts say of a decided identity, each for itself and together."""

from typing import Any

import pytest

from planner.identity_live import Decided, Said, Seen, places_of, said_by_whole, said_of, together

IDENTITY: dict[str, Any] = {
    "stack": {"driver": {"version": "590"}},
    "hardware": {"nodes": {"node-a": {}, "node-b": {}}, "devices": {"b0": {"node": "node-b"}}},
}
RANKS = [
    {"rank": 0, "node": "node-a", "device": "a0", "nic": "n0"},
    {"rank": 1, "node": "node-b", "device": "b0"},
]
DECIDED = Decided.of(IDENTITY, RANKS, rank_map_digest="sha256:map")
OF_A: dict[str, Any] = {"stack": {"driver": {"version": "590"}}, "hardware": {"nodes": {"node-a": {}}}}
OF_B: dict[str, Any] = {"hardware": {"nodes": {"node-b": {}}, "devices": {"b0": {"node": "node-b"}}}}


def seen(*ranks: dict[str, Any]) -> Seen:
    return Seen(2, ranks)


def test_hosts_match_together_where_each_says_its_own() -> None:
    said = {"node-a": said_of(DECIDED, OF_A, seen(RANKS[0])), "node-b": said_of(DECIDED, OF_B, seen(RANKS[1]))}
    assert together(DECIDED, said).matches


def test_what_a_silent_host_would_have_said_is_waited_for() -> None:
    whole = together(DECIDED, {"node-a": said_of(DECIDED, OF_A, seen(RANKS[0]))})
    assert (whole.matches, whole.awaited, whole.open_ranks) == (False, ("node-b",), (1,))
    assert whole.open_keys == ("/hardware/nodes/node-b", "/hardware/devices/b0/node")


@pytest.mark.parametrize(
    ("identity", "found"),
    [
        pytest.param({"stack": {"driver": {"version": "unknown"}}}, Said(unknown=1), id="unknown"),
        pytest.param({"stack": {"driver": {"version": {"a": 1}}}}, Said(), id="an object in the place of a value"),
        pytest.param({"stack": "none"}, Said(), id="a value in the place of an object"),
        pytest.param({"extra": {"key": 1}}, Said(), id="a key that is not bound"),
    ],
)
def test_what_is_neither_said_nor_denied(identity: dict[str, Any], found: Said) -> None:
    assert said_of(DECIDED, identity, Seen()) == found


def test_a_rank_without_its_decided_nic_is_not_said_and_its_nic_is_waited_for() -> None:
    place = {"rank": 0, "node": "node-a", "device": "a0"}
    said = said_of(DECIDED, {}, seen(place))
    assert said == Said(nics=1)
    whole = together(DECIDED, {"node-a": said})
    assert (whole.open_ranks, whole.open_nics, whole.open_places) == ((0, 1), (0,), (1,))


def test_a_rank_on_another_device_is_not_said_to_lack_its_nic() -> None:
    assert said_of(DECIDED, {}, seen({"rank": 0, "node": "node-a", "device": "a7"})).nics == 0


def test_a_whole_machine_that_does_not_say_a_key_differs() -> None:
    said = said_by_whole(DECIDED, OF_A, Seen())
    assert [(one.key, one.how) for one in said.differs] == [
        ("/hardware/nodes/node-b", "missing"),
        ("/hardware/devices/b0/node", "missing"),
        ("/placement/rank_map_digest", "missing"),
    ]


def test_the_places_of_bits_are_told_in_order() -> None:
    assert (places_of(0), places_of(0b101001), places_of(1 << 9999)) == ([], [0, 3, 5], [9999])
