"""Launches of trials without measurements: a contract on a small fleet, degrees, and where each rank sits."""

from typing import Any

from planner.canonical import content_id
from planner.intake import ContractDocument, EvidenceDocument, read_contract, read_evidence
from planner.launch import LaunchConfiguration, Target, launch_configuration
from tests.planner.documents import Change, raw
from tests.planner.matrix.contracts import a_tree

PLAN = "sha256:" + "a" * 64
WINDOW = {
    "purpose": "counted",
    "load_point": "saturated",
    "start": "2026-11-01T00:00:00Z",
    "end": "2026-11-01T01:00:00Z",
}
SLICES = {
    f"n0-g{at}": {"node": "n0", "type": "slice", "memory_bytes": 40 * 2**30, "slice_of": f"n0-gpu{at // 2}"}
    for at in range(8)
}
"""Two slices of each of four accelerators of ``n0``."""


def instance(ranks: int, role: str | None = None, engine_degrees: dict[str, Any] | None = None, **degrees: int) -> Any:
    """Return one engine instance; degrees left out are 1."""
    tree: dict[str, Any] = {"tp": 1, "pp": 1, "ep": 1, "dp": 1, **degrees, "world_size": ranks}
    if role is not None:
        tree["role"] = role
    if engine_degrees is not None:
        tree["engine_degrees"] = engine_degrees
    return tree


def documents(
    *changes: Change, layout: str, instances: list[Any], devices: str, **fleet: Any
) -> tuple[ContractDocument, EvidenceDocument]:
    """Return contract and evidence of one trial ``t``: rank r on the r-th of ``devices``, named ``NODE-gN``."""
    tree = a_tree(*changes, engine=fleet.pop("engine", layout), **fleet)
    evidence = {
        "schema": "topogate.evidence/v1",
        "contract_content_id": content_id(tree),
        "scope": tree["slot"],
        "provenance": {
            "collected_by": "tests",
            "collected_at": "2026-11-01T02:00:00Z",
            "tool": {"name": "tests", "version": "1"},
        },
        "identities": {"i": {}},
        "trials": {
            "t": {
                "topology": {"layout": layout, "instances": instances},
                "rank_map": [
                    {"rank": rank, "node": device.split("-")[0], "device": device}
                    for rank, device in enumerate(devices.split())
                ],
                "identity_id": "i",
                "windows": {"w": WINDOW},
            }
        },
    }
    contract = read_contract(raw(tree))
    return contract, read_evidence(raw(evidence), contract)


def launched(
    target: Target, *changes: Change, expires_at: str | None = "2999-12-01T00:00:00Z", **trial: Any
) -> LaunchConfiguration:
    """Return the launch of that trial, labelled with a decision."""
    layout = trial.pop("layout", target)
    return launch_configuration(
        *documents(*changes, layout=layout, **trial),
        "t",
        target,
        plan_id=PLAN,
        decision="D-0012 r3",
        subject="sha256:" + "b" * 64,
        expires_at=expires_at,
    )


def started(configuration: LaunchConfiguration) -> dict[str, str]:
    """Return the commands of the script by ``INSTANCE/NODE``, what they export before them.

    Words of the caller, which end each, are left out.
    """
    found: dict[str, str] = {}
    key: str = ""
    lines: list[str] = []
    for line in configuration.files[0].text.splitlines():
        text = line.strip()
        if line.startswith("  ") and text.endswith(")") and not text.startswith("*"):
            key, lines = text[:-1], []
        elif key and text.startswith(("export ", "exec ")):
            lines.append(text.replace(' "${@:4}"', ""))
        elif key and text == ";;":
            found[key], key = "\n".join(lines), ""
    return found


def devices(nodes: str, count: int) -> str:
    """Return the devices of nodes in order."""
    return " ".join(f"{node}-g{at}" for node in nodes.split() for at in range(count))
