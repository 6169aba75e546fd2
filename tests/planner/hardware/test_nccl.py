"""NCCL and RCCL topologies: hosts, peer links, PCIe paths, rates."""

import pytest

from tests.planner.hardware.samples import codes, findings, islands, notes, read, sample

SWITCHED = sample("nccl_4gpu_switched.xml").decode()
TRAYS = sample("nccl_two_trays.xml").decode()


def system(*functions: str, numa: str = "0") -> str:
    """Return a topology with these elements below one CPU."""
    return f'<system version="1">\n<cpu numaid="{numa}">\n' + "\n".join(functions) + "\n</cpu>\n</system>"


def gpu(bus: int, *links: str, dev: int | None = None) -> str:
    inside = "".join(links)
    number = bus if dev is None else dev
    return f'<pci busid="0000:0{bus}:00.0" class="0x030200"><gpu dev="{number}" rank="{number}">{inside}</gpu></pci>'


def link(target: str, count: object = 4, tag: str = "nvlink", tclass: str = "0x030200") -> str:
    return f'<{tag} target="{target}" count="{count}" tclass="{tclass}"/>'


def test_devices_on_the_same_switches_are_an_island() -> None:
    hardware = read(SWITCHED)
    assert islands(hardware) == {"node-0-island-0": ("nvlink", ("node-0-gpu0", "node-0-gpu1", "node-0-gpu2"))}
    assert codes(hardware)["GPU0", "GPU1"] == "NV18"
    assert codes(hardware)["GPU0", "GPU2"] == "NV17"
    told = [sentence for _, sentence in notes(hardware)]
    assert "node-0-island-0: pairs have 17 and 18 links; the slowest pair bounds it." in told
    assert "Without a peer link, though others have some: node-0-gpu3. A fault, or hardware of another kind." in told


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("0000:a0:00.0", "0000:b0:00.0", id="two boards with switches of their own"),
        pytest.param("0000:a0:00.0", "fffffff:ff:ff.0", id="a device that does not see its switches"),
    ],
)
def test_all_switches_of_a_host_are_one(first: str, second: str) -> None:
    hardware = read(
        system(gpu(1, link(first, 6, tclass="0x068000")), gpu(2, link(second, 6, tclass="0x068000")), gpu(3))
    )
    assert islands(hardware) == {"node-0-island-0": ("nvlink-6", ("node-0-gpu1", "node-0-gpu2"))}


def test_an_island_goes_over_hosts_only_on_a_fabric_that_they_share() -> None:
    hardware = read(TRAYS)
    assert [node.id for node in hardware.nodes] == ["node-0", "node-1"]
    assert islands(hardware) == {"island-0": ("nvlink-18", ("node-0-gpu0", "node-0-gpu1", "node-1-gpu0"))}
    own_switches = TRAYS.replace("fffffff:ff:ff.0", "0000:a0:00.0")
    assert islands(read(own_switches)) == {"node-0-island-0": ("nvlink-18", ("node-0-gpu0", "node-0-gpu1"))}


def test_direct_links_join_pairs_not_neighbours() -> None:
    hardware = read(
        system(
            gpu(1, link("0000:03:00.0")),
            gpu(2, link("0000:04:00.0")),
            gpu(3, link("0000:01:00.0")),
            gpu(4, link("0000:02:00.0")),
        )
    )
    assert islands(hardware) == {
        "node-0-island-0": ("nvlink-4", ("node-0-gpu1", "node-0-gpu3")),
        "node-0-island-1": ("nvlink-4", ("node-0-gpu2", "node-0-gpu4")),
    }


def test_a_chain_of_links_is_one_island_and_says_which_pairs_it_does_not_join() -> None:
    hardware = read(
        system(
            gpu(1, link("0000:02:00.0", tag="xgmi")),
            gpu(2, link("0000:01:00.0", tag="xgmi"), link("0000:03:00.0", tag="xgmi")),
            gpu(3, link("0000:02:00.0", tag="xgmi")),
        )
    )
    assert islands(hardware) == {"node-0-island-0": ("xgmi-4", ("node-0-gpu1", "node-0-gpu2", "node-0-gpu3"))}
    sentence = "node-0-island-0: without a direct peer link: 1 of 3 pairs, first node-0-gpu1 and node-0-gpu3."
    assert (None, sentence) in notes(hardware)


@pytest.mark.parametrize(
    ("target", "tclass"),
    [
        pytest.param("0000:09:00.0", "0x030200", id="a device that is not in the file"),
        pytest.param("0000:09:00.0", "0x068001", id="a CPU"),
        pytest.param("0000:09:00.0", "", id="nobody knows what"),
    ],
)
def test_a_link_to_something_else_joins_nothing_and_is_said(target: str, tclass: str) -> None:
    hardware = read(system(gpu(1, link(target, tclass=tclass)), gpu(2, link(target, tclass=tclass))))
    assert islands(hardware) == {}
    assert (3, "GPU1: 4 links to 0000:09:00.0, which is no device or switch.") in notes(hardware)


def test_a_file_and_a_host_have_limits() -> None:
    nics = '<nic><net name="a" dev="0"/></nic>'
    many = "".join(f'<pci busid="0000:{n // 32:02x}:{n % 32:02x}.0"><gpu dev="{n}"/>{nics}</pci>' for n in range(200))
    assert findings(system(many)) == [("hardware/size", None, "at most 256 devices and NICs of a host", "200 and 200")]
    hosts = "".join(f'<cpu host_hash="{host}">{many}</cpu>' for host in range(6))
    found = findings(f"<system>{hosts}</system>")
    assert found == [("hardware/size", None, "at most 2,048 devices and NICs", "2,400")]


def test_paths_over_pcie_follow_from_the_tree() -> None:
    found = codes(read(SWITCHED))
    assert found["GPU0", "NIC0"] == "PIX"
    assert found["GPU1", "NIC0"] == "PHB"
    assert found["GPU2", "NIC0"] == "SYS"
    assert found["GPU0", "GPU3"] == "SYS"


NESTED = system(
    '<pci busid="0000:10:00.0" class="0x060400">',
    f'<pci busid="0000:11:00.0" class="0x060400">{gpu(1)}',
    '<pci busid="0000:12:00.0" class="0x020700"><nic><net name="a" dev="0" speed="200000"/></nic></pci></pci>',
    '<pci busid="0000:13:00.0" class="0x020700"><nic><net name="b" dev="1" speed="200000"/></nic></pci></pci>',
)


def test_the_nearest_nic_is_over_the_fewest_bridges() -> None:
    hardware = read(NESTED)
    assert codes(hardware)["GPU1", "NIC1"] == "PXB"
    assert (hardware.devices[0].nearest_path, hardware.devices[0].nearest_nics) == ("PIX", ("node-0-nic0",))


def test_rates_are_bytes_per_second_where_the_file_knows_them() -> None:
    hardware = read(SWITCHED)
    assert [(link.id, link.bytes_per_s_one_way) for link in hardware.links] == [
        ("node-0-nic0-up", 50_000_000_000),
        ("node-0-nic1-up", None),
    ]
    assert any(
        line == 25 and "also written where the rate is not known" in sentence for line, sentence in notes(hardware)
    )


def test_a_socket_interface_below_every_cpu_is_one_nic_at_no_place() -> None:
    hardware = read(SWITCHED)
    assert [(nic.interface, nic.numa) for nic in hardware.nics] == [("mlx5_0", "0"), ("eth0", None)]
    assert not [pair for pair in codes(hardware) if "NIC1" in pair]


def test_a_numa_node_that_is_not_known_stays_open() -> None:
    assert [device.numa for device in read(system(gpu(1), numa="-1")).devices] == [None]


def test_slices_of_one_device_are_devices_of_their_own() -> None:
    pci = '<pci busid="0000:01:00.0"><gpu dev="0" rank="0" mlopart="0"/><gpu dev="0" rank="1" mlopart="1"/></pci>'
    hardware = read(system(pci))
    assert [device.id for device in hardware.devices] == ["node-0-gpu0", "node-0-gpu1"]
    assert codes(hardware) == {("GPU0", "GPU1"): "PIX"}


def test_devices_that_share_a_number_are_named_by_position() -> None:
    hardware = read(system(gpu(1, dev=0), gpu(2, dev=0)))
    assert [(device.id, device.bus_id) for device in hardware.devices] == [
        ("node-0-gpu0", "0000:01:00.0"),
        ("node-0-gpu1", "0000:02:00.0"),
    ]


STATIC = system(
    '<pci busid="0001:00:00.0" class="0x060400">',
    '<pci busid="0001:01:00.0" class="0x030200"/>',
    '<pci busid="0001:02:00.0" class="0x020700"/></pci>',
)


def test_a_static_file_shows_functions_by_class_and_no_peers() -> None:
    hardware = read(STATIC)
    assert [(device.id, device.nearest_nics) for device in hardware.devices] == [("node-0-gpu0", ("node-0-nic0",))]
    assert islands(hardware) is None
    assert (None, "Without <gpu>, a static file: what it shows is by PCI class.") in notes(hardware)


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        pytest.param(
            system('<pci busid="0000:01:00.0"/>'),
            ("hardware/no_device", 1, "a <gpu>, as a dump has, or a <pci> of a device's class", "none"),
            id="no device",
        ),
        pytest.param(
            '<graphs version="1"/>',
            ("hardware/format", 1, "a <system> element", "<graphs>"),
            id="a graph of the library",
        ),
        pytest.param(
            system(gpu(1), gpu(1)),
            ("hardware/repeated", 4, "one <gpu> at 0000:01:00.0, which line 3 has", "another one"),
            id="device twice",
        ),
        pytest.param(
            system(gpu(1, link("0000:02:00.0", 4)), gpu(2, link("0000:01:00.0", 3))),
            ("hardware/symmetry", 4, "4 links from GPU2 to GPU1, as line 3 has from GPU1 to GPU2", "3"),
            id="links counted otherwise at the other end",
        ),
        pytest.param(
            system(gpu(1, link("0000:02:00.0")), gpu(2)),
            ("hardware/symmetry", 3, "4 links from GPU2 to GPU1, as line 3 has from GPU1 to GPU2", "none"),
            id="links at one end only",
        ),
        pytest.param(
            system(gpu(1, link("0000:02:00.0"), link("0000:02:00.0")), gpu(2, link("0000:01:00.0"))),
            ("hardware/repeated", 3, "the links from GPU1 to GPU2 once, as line 3 has", "once more"),
            id="links twice",
        ),
        pytest.param(
            system(gpu(1, link("switch"))),
            ("hardware/attribute", 3, "target of <nvlink>, a PCI address", '"switch"'),
            id="target",
        ),
        pytest.param(
            system(gpu(1, link("0000:02:00.0", 0, tag="xgmi"))),
            ("hardware/attribute", 3, "count of <xgmi>, at least 1", '"0"'),
            id="count",
        ),
        pytest.param(
            system('<pci busid="1:0"/>', gpu(1)),
            ("hardware/attribute", 3, 'busid as "0000:3b:00.0"', '"1:0"'),
            id="address",
        ),
        pytest.param(
            system(gpu(1), '<nic><net name="a" dev="0" speed="fast"/></nic>'),
            ("hardware/attribute", 4, "speed of <net>, an integer in Mb/s", '"fast"'),
            id="rate",
        ),
        pytest.param(
            system(gpu(1), '<nic><net name="a&#10;b" dev="0"/></nic>'),
            ("hardware/attribute", 4, "name of <net>, 1 to 128 printable characters", '"a\\nb"'),
            id="name",
        ),
    ],
)
def test_damage_is_refused_naming_the_line(text: str, finding: tuple[str, int, str, str]) -> None:
    assert finding in findings(text)
