"""Damaged ``nvidia-smi topo -m``: refused, and the line is named."""

import pytest

from tests.planner.hardware.samples import PAIR, TWO, findings, problems_of, read

Finding = tuple[str, int | None, str, str]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        pytest.param(
            "\n".join(TWO.split("\n")[:2]),
            ("hardware/missing_row", 2, "a row of GPU1, which line 1 names", "none"),
            id="cut below a row",
        ),
        pytest.param(
            TWO.split("\n")[0],
            ("hardware/missing_row", 1, "a row of GPU0 after the header", "no row"),
            id="header only",
        ),
        pytest.param(
            TWO + "\nGPU0 GPU1\n",
            ("hardware/missing_row", 7, "a row of GPU0 after the header", "no row"),
            id="names only",
        ),
        pytest.param(
            TWO.replace("NV6      X      SYS", "NV6      X      S#S"),
            ("hardware/cell", 3, "4 cells in the row of GPU1", '2, then "S#S"'),
            id="cell that the tool does not print",
        ),
        pytest.param(
            PAIR.replace("GPU1    PHB      X ", "GPU1    PHB        "),
            ("hardware/cell", 3, "2 cells in the row of GPU1", '1, then "0-7"'),
            id="cell lost",
        ),
        pytest.param(
            PAIR.replace("      X      0-7             0\n", "\n"),
            ("hardware/cell", 3, "2 cells in the row of GPU1", "1"),
            id="row cut",
        ),
        pytest.param(
            "nothing but GPU0 X in prose\n",
            (
                "hardware/format",
                None,
                "a matrix as nvidia-smi topo -m prints it",
                "no line that starts with a row of it",
            ),
            id="prose",
        ),
        pytest.param(
            PAIR.replace("PHB     0-7", "PHB  PHB   0-7"),
            ("hardware/cell", 2, "2 cells in the row of GPU0", "at least 3"),
            id="cell too many",
        ),
        pytest.param(
            TWO.replace("GPU1    NV6      X ", "GPU1     X      NV6"),
            (
                "hardware/diagonal",
                3,
                "the sign of a name with itself where GPU1 meets GPU1, and only there",
                '"X" in the column of GPU0',
            ),
            id="cells in another order",
        ),
        pytest.param(
            TWO.replace("GPU1    NV6", "GPU1    NV4"),
            ("hardware/symmetry", 3, "NV6 between GPU1 and GPU0, as line 2 says", "NV4"),
            id="both ways differ",
        ),
        pytest.param(
            "GPU0 NIC0 NIC1 NIC2\nGPU0 X PIX PIX PIX\nNIC1 PIX PIX X PIX\nNIC2 PIX PIX SYS X\n",
            ("hardware/symmetry", 4, "PIX between NIC2 and NIC1, as line 3 says", "SYS"),
            id="both ways differ behind a lost row",
        ),
        pytest.param(
            TWO.replace("NIC1    SYS     NODE    SYS      X", "GPU1    NV6      X      SYS     NODE"),
            ("hardware/repeated", 5, "one row of GPU1", "another one"),
            id="row twice",
        ),
        pytest.param(
            TWO.replace("NIC0    NIC1    CPU", "NIC0    NIC0    CPU"),
            ("hardware/repeated", 1, "one column of NIC0", "2"),
            id="column twice",
        ),
        pytest.param(
            TWO.replace("NIC0    NIC1    CPU", "NIC0    NI?1    CPU"),
            (
                "hardware/header",
                1,
                "names of devices and NICs, then CPU Affinity, NUMA Affinity, GPU NUMA ID",
                '"NI?1 CPU Affinity NUMA Affinity GPU NUMA ID"',
            ),
            id="name damaged in the header",
        ),
        pytest.param(
            TWO.replace("NIC1    SYS     NODE", "        SYS     NODE"),
            ("hardware/row", 5, "a row that starts with its name", "4 cells without one"),
            id="name of a row lost",
        ),
        pytest.param(
            TWO.replace("N/A\nNIC0", "N/A NIC0"),
            ("hardware/row", 3, "the row of GPU1 to end before another one", '"NIC0"'),
            id="two rows on a line",
        ),
        pytest.param(
            "\n".join(TWO.split("\n")[2:]),
            (
                "hardware/header",
                1,
                "a header with the names of the columns, or two rows or more that are a full square",
                "3 rows, 4 cells in the row of GPU1",
            ),
            id="header and a row lost",
        ),
        pytest.param(
            TWO + "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC0: mlx5_3\n",
            ("hardware/repeated", 10, "one interface of NIC0", '"mlx5_3", and "mlx5_0" in line 9'),
            id="legend that contradicts itself",
        ),
        pytest.param(
            " GPU0 GPU1\nGPU0 X OK\nGPU1 OK X\n" + PAIR,
            ("hardware/row", 1, "a matrix of topo -m with the same devices before that of topo -p2p", "none"),
            id="peer access before the matrix",
        ),
    ],
)
def test_damage_is_refused_naming_the_line(text: str, finding: Finding) -> None:
    assert finding in findings(text)


def test_all_problems_come_at_once() -> None:
    lines = (
        TWO.replace("NV6     PIX", "NV?     PIX").replace("NIC1    SYS     NODE", "NIC1    SYS     N0DE").split("\n")
    )
    problems = problems_of("\n".join([*lines[:4], lines[3], *lines[4:]]))
    assert [(problem.code, problem.line) for problem in problems] == [
        ("hardware/cell", 2),
        ("hardware/repeated", 5),
        ("hardware/cell", 6),
    ]


def test_the_output_of_two_tools_is_refused() -> None:
    rocm = "GPU[0]\t\t: (Topology) Numa Node: 0\n"
    found = "rocm-smi --showtopo and nvidia-smi topo -m"
    assert findings(TWO + rocm) == [("hardware/format", None, "the output of one tool", found)]


def test_a_byte_of_another_code_in_a_cell_is_refused() -> None:
    raw = TWO.encode().replace(b"NV6      X      SYS", b"NV6      X      S\xb0S")
    found = '2, then "S\N{REPLACEMENT CHARACTER}S"'
    assert findings(raw) == [("hardware/cell", 3, "4 cells in the row of GPU1", found)]


def test_a_cut_column_is_refused_or_read_alike() -> None:
    """Cut behind any column: what is read agrees with the whole, the rest is refused."""
    whole = {path for path in read(TWO).paths if "nic" not in path.b}
    for width in range(1, 80):
        text = "\n".join(line[:width] for line in TWO.split("\n"))
        if not problems_of(text):
            assert {path for path in read(text).paths if "nic" not in path.b} == whole


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        pytest.param(
            " ".join(f"GPU{number}" for number in range(257)) + "\nGPU0 X\n",
            ("hardware/size", 1, "at most 256 columns", "257"),
            id="columns",
        ),
        pytest.param(
            "GPU0 GPU1\n" + "CPU\n" * 300 + PAIR,
            ("hardware/size", 258, "at most 256 columns", "257"),
            id="wrapped columns",
        ),
        pytest.param(
            PAIR + "GPU0 X PHB\n" * 600, ("hardware/size", 514, "at most 512 rows", "513"), id="rows of a matrix"
        ),
        pytest.param(
            "GPU0 X PHB\n" + "PHB\n" * 2000,
            ("hardware/size", 1024, "at most 1,024 words of a row", "1,025"),
            id="words of a row",
        ),
        pytest.param(
            PAIR * 1025, ("hardware/size", 3074, "at most 2,048 devices and NICs", "2,050"), id="matrices of a file"
        ),
        pytest.param(
            "GPU0 X\n" * 2049,
            ("hardware/size", 2049, "at most 2,048 devices and NICs", "2,049"),
            id="rows without header",
        ),
    ],
)
def test_a_text_has_limits(text: str, finding: Finding) -> None:
    assert findings(text) == [finding]


def test_more_than_a_thousand_problems_are_counted() -> None:
    names = [f"GPU{number}" for number in range(60)]
    rows = [f"{a} {' '.join('X' if a == b else f'NV{number + 1}' for b in names)}" for number, a in enumerate(names)]
    problems = problems_of("\n".join([" ".join(names), *rows]))
    assert len(problems) == 1001
    assert (problems[-1].code, problems[-1].found) == ("document/more_problems", "at least 1,770")


def test_a_reader_stops_when_there_are_more() -> None:
    legend = "".join(f"NIC0: mlx5_{number}\n" for number in range(5000))
    assert len(problems_of(TWO + "\n" + legend)) == 1001
