"""Bytes at boundaries: a measurement stands beside the estimate of the same boundary and phase, or beside none."""

from typing import Any

import pytest

from reviews.web.boundary_rows import Boundaries, BoundaryRow, boundaries_of
from reviews.web.memory_facts import window_of
from tests.web.traces import TRIAL, traced_view, traced_window, trees, view_of


def boundaries_with(collectives: dict[str, Any], **sections: Any) -> Boundaries:
    """The boundaries of the traced window with other operations."""
    contract, evidence = trees()
    window = {**traced_window(), "collectives": collectives, **sections}
    evidence["trials"][TRIAL]["windows"]["trace"] = window
    view = view_of(contract, evidence)
    return boundaries_of(view, window_of(view, "trace"))


def row_of(found: Boundaries, name: str, phase: str) -> BoundaryRow:
    return next(row for row in found.rows if (row.name, row.phase) == (name, phase))


def test_a_message_is_compared_with_the_estimate_of_its_boundary_and_phase() -> None:
    view = traced_view()
    row = row_of(boundaries_of(view, window_of(view, "trace")), "Pipeline", "decode")
    assert (row.estimate, row.measured, row.difference, row.share) == ("320.0 KiB", "640.0 KiB", "+320.0 KiB", "+100 %")


def test_a_message_of_mixed_phases_is_compared_with_nothing() -> None:
    found = boundaries_with({"m": {"operation": "all_reduce", "group_kind": "tp", "message_bytes": 5}})
    row = row_of(found, "Tensor", "mixed")
    assert (row.estimate, row.measured, row.difference) == ("", "5 B", "")
    assert row_of(found, "Tensor", "decode").measured == ""


@pytest.mark.parametrize(
    ("name", "operation", "group_kind", "boundary"),
    [
        pytest.param("a", "all_reduce", None, "Tensor", id="by operation"),
        pytest.param("a", "send_recv", None, "Pipeline", id="a send without a group"),
        pytest.param("a", "all_gather", "ep", "Expert", id="by group before operation"),
        pytest.param("moe-dispatch", "all_to_all", "ep", "Expert dispatch", id="dispatch by its id"),
        pytest.param("moe-combine", "all_to_all", None, "Expert combine", id="combine by its id"),
        pytest.param("a", "all_reduce", "dp", "Other", id="data groups are no boundary of the request"),
        pytest.param("a", "broadcast", None, "Other", id="an operation of no boundary"),
    ],
)
def test_an_operation_is_put_at_its_boundary(name: str, operation: str, group_kind: str | None, boundary: str) -> None:
    recorded: dict[str, Any] = {"operation": operation, "message_bytes": 7}
    if group_kind:
        recorded["group_kind"] = group_kind
    row = next(row for row in boundaries_with({name: recorded}).rows if row.measured_id)
    assert (row.name, row.measured) == (boundary, "7 B")


@pytest.mark.parametrize(
    ("handoff", "measured"),
    [
        pytest.param({"bytes_total": 4096, "transfers": 4, "counted_per": "request"}, "1.0 KiB", id="by request"),
        pytest.param(
            {"bytes_total": 4096, "transfers": 8, "counted_per": "rank", "transfers_per_request": 4},
            "2.0 KiB",
            id="by rank",
        ),
        pytest.param({"bytes_total": 4096, "transfers": 8, "counted_per": "rank"}, "", id="parts not counted"),
        pytest.param({"bytes_total": 4096}, "", id="transfers not counted"),
    ],
)
def test_the_hand_off_is_bytes_of_a_request(handoff: dict[str, Any], measured: str) -> None:
    row = next(row for row in boundaries_with({}, handoff=handoff).rows if row.measured_id == "handoff")
    assert (row.name, row.measured) == ("Hand-off to decode", measured)


def test_the_slowest_rank_of_an_operation_is_named() -> None:
    rates = [5 * 2**30, 3 * 2**30, None, 3 * 2**30]
    found = boundaries_with({"a": {"operation": "all_reduce", "bus_bytes_per_s_by_rank": rates}})
    row = next(row for row in found.rows if row.measured_id == "a")
    assert ("Slowest rank", "rank 1, 3.2 GB/s") in row.facts


def test_a_boundary_that_cannot_be_estimated_names_the_fields() -> None:
    contract, evidence = trees()
    for model in (contract["identity"]["model"], *(found["model"] for found in evidence["identities"].values())):
        del model["hidden_size"]
    view = view_of(contract, evidence)
    assert boundaries_of(view, window_of(view, "sat-1")).missing == ("/identity/model/hidden_size",)


def test_a_refused_layout_has_no_estimate_and_says_why() -> None:
    contract, evidence = trees()
    evidence["trials"][TRIAL]["topology"]["instances"][0]["pp"] = 5
    view = view_of(contract, evidence)
    assert "48" in boundaries_of(view, window_of(view, "sat-1")).refusal
