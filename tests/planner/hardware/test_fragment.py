"""What a contract gets from a file, and what it still has to ask for."""

from typing import Any

from planner.hardware import Hardware, fragment, missing
from planner.intake import read_contract
from tests.planner.documents import example, raw
from tests.planner.hardware.samples import PAIR, TWO, read, sample

AT = "/identity/hardware"


def asked(hardware: Hardware) -> dict[str, tuple[bool, tuple[str, ...]]]:
    return {entry.pointer: (entry.always, entry.ids) for entry in missing(hardware)}


def test_the_fragment_has_the_names_of_the_contract_and_nothing_guessed() -> None:
    assert fragment(read(TWO)) == {
        "identity": {
            "hardware": {
                "nodes": {"node-0": {}},
                "devices": {"node-0-gpu0": {"node": "node-0"}, "node-0-gpu1": {"node": "node-0"}},
                "nics": {"node-0-nic0": {"node": "node-0"}, "node-0-nic1": {"node": "node-0"}},
                "islands": {"node-0-island-0": {"devices": ["node-0-gpu0", "node-0-gpu1"], "kind": "nvlink-6"}},
                "links": {"node-0-nic0-up": {"nic": "node-0-nic0"}, "node-0-nic1-up": {"nic": "node-0-nic1"}},
            }
        }
    }


def test_what_the_file_does_not_say_is_listed_by_field() -> None:
    devices, nics = ("node-0-gpu0", "node-0-gpu1"), ("node-0-nic0", "node-0-nic1")
    links = ("node-0-nic0-up", "node-0-nic1-up")
    assert asked(read(TWO)) == {
        f"{AT}/nodes/<id>/sockets": (False, ("node-0",)),
        f"{AT}/devices/<id>/type": (True, devices),
        f"{AT}/devices/<id>/memory_bytes": (True, devices),
        f"{AT}/nics/<id>/use": (True, nics),
        f"{AT}/links/<id>/class": (True, links),
        f"{AT}/links/<id>/bytes_per_s_one_way": (True, links),
        f"{AT}/links/<id>/kind": (False, links),
        f"{AT}/links/<id>/contention_domain": (False, links),
        f"{AT}/islands/<id>/devices": (False, ("node-0-island-0",)),
        f"{AT}/islands/<id>/bytes_per_s_one_way": (False, ("node-0-island-0",)),
        "/fleet/failure_domains/rack": (False, ("node-0",)),
    }


def test_a_rate_that_the_file_says_is_not_asked_for() -> None:
    hardware = read(sample("nccl_4gpu_switched.xml"))
    links: dict[str, Any] = fragment(hardware)["identity"]["hardware"]["links"]
    assert links["node-0-nic0-up"] == {"nic": "node-0-nic0", "bytes_per_s_one_way": 50_000_000_000}
    assert asked(hardware)[f"{AT}/links/<id>/bytes_per_s_one_way"] == (True, ("node-0-nic1-up",))


def test_no_peer_link_leaves_no_question_of_islands_but_no_file_of_them_does() -> None:
    assert not [pointer for pointer in asked(read(PAIR)) if "islands" in pointer]
    assert "islands" not in fragment(read(PAIR))["identity"]["hardware"]
    assert asked(read("GPU[0]\t\t: (Topology) Numa Node: 0\n"))[f"{AT}/islands"] == (False, ())


def test_nics_that_the_file_does_not_show_are_asked_for() -> None:
    assert asked(read(PAIR))[f"{AT}/nics"] == (False, ())


def test_only_an_nvlink_island_inside_a_node_may_go_on_elsewhere() -> None:
    assert f"{AT}/islands/<id>/devices" not in asked(read(sample("rocm_4gpu_two_islands.txt")))
    assert f"{AT}/islands/<id>/devices" not in asked(read(sample("nccl_two_trays.xml")))


def _filled(section: dict[str, Any], answers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        part: {name: {**entry, **answers.get(part, {})} for name, entry in entries.items()}
        for part, entries in section.items()
    }


def test_the_fragment_with_all_that_is_always_asked_is_accepted_in_a_contract() -> None:
    answers: dict[str, dict[str, Any]] = {
        "devices": {"type": "accel-80g", "memory_bytes": 85899345920},
        "nics": {"use": "fabric"},
        "links": {"class": "inter_node", "bytes_per_s_one_way": 12_500_000_000},
    }
    for name in (
        "nvidia_6gpu_bridged.txt",
        "nccl_4gpu_switched.xml",
        "rocm_4gpu_two_islands.txt",
        "nccl_two_trays.xml",
    ):
        contract = example("worked", "contract")
        contract["fleet"] = {}
        del contract["gates"]["link_utilization"]  # a tool that shows no NICs says nothing of links
        contract["identity"]["hardware"] = _filled(fragment(read(sample(name)))["identity"]["hardware"], answers)
        assert read_contract(raw(contract)).record.identity.hardware.devices
