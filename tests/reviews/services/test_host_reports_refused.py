"""Reports that are wrong or hostile are refused by name, with one entry for each host and reason."""

import json
from datetime import datetime
from typing import Any

import pytest

from reviews.clock import when_exactly
from reviews.errors import ConflictError, InvalidRequestError, NotFoundError
from reviews.models import AuditEntry, Blob, Decision, HostReport
from reviews.policies import host_reports
from tests.reviews.factories import Cast, cast
from tests.reviews.hosts import RANKS, SLOT, post, report, running, stamp

pytestmark = pytest.mark.django_db

SECRET = "hf_" + "a" * 34


def deep(levels: int) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for _ in range(levels):
        tree = {"x": tree}
    return tree


HOSTILE: dict[str, tuple[dict[str, Any], str, str]] = {
    "in the future": ({"collected_at": "+90"}, "request/report_time", "identity/collected_at"),
    "too old": ({"collected_at": "-1000"}, "request/report_time", "identity/collected_at"),
    "no time": ({"collected_at": "2026-02-31T00:00:00Z"}, "request/report_time", "identity/collected_at"),
    "a host with a line break": ({"host": "gpu-17\nroot"}, "request/host_name", "identity/host"),
    "a host of letters that look like others": ({"host": "gpu-17\u0430"}, "request/host_name", "identity/host"),
    "a host that turns text around": ({"host": "gpu\u202e-17"}, "document/bidi_control", "identity/host"),
    "a node of letters that look like others": ({"node": "n\u043ede-a"}, "document/pattern", "identity/node"),
    "a secret by its name": (
        {"environment": {"VLLM_API_KEY": "shown"}},
        "request/environment",
        "identity/environment",
    ),
    "a secret by its value": (
        {"environment": {"VLLM_NOTE": SECRET}},
        "request/environment",
        "identity/environment",
    ),
    "a variable of something else": ({"environment": {"HOME": "/root"}}, "request/environment", "identity/environment"),
    "a rank at two places": (
        {"ranks_seen": {"world_size": 2, "ranks": [RANKS[0], RANKS[0] | {"device": "a9"}]}},
        "request/rank_twice",
        "identity",
    ),
    "its own ranks as the whole map": (
        {"placement": {"rank_map": RANKS[:1]}},
        "request/rank_map_part",
        "identity/placement/rank_map",
    ),
    "no rank as the whole map": (
        {"placement": {"rank_map": []}},
        "request/rank_map_part",
        "identity/placement/rank_map",
    ),
    "a value longer than any": (
        {"identity": {"model": {"name": "x" * 4097}}},
        "request/value_size",
        "identity/identity/model/name",
    ),
    "a list longer than any": (
        {"identity": {"stack": {"flags": ["x"] * 2000}}},
        "request/value_size",
        "identity/identity/stack/flags",
    ),
    "a variable longer than any": (
        {"environment": {"TOPOGATE_RANK_MAP": "x" * 4097}},
        "request/value_size",
        "identity/environment/TOPOGATE_RANK_MAP",
    ),
    "nested deeper than documents are": ({"identity": deep(80)}, "json/depth", "identity"),
    "a field that no report has": ({"decision": "D-0001"}, "document/unknown_field", "identity/decision"),
}


def timed(changes: dict[str, Any]) -> dict[str, Any]:
    at = changes.get("collected_at", "")
    return changes | {"collected_at": stamp(float(at))} if at[:1] in ("+", "-") else changes


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_report_is_refused_by_name_and_recorded(people: Cast, name: str) -> None:
    running(people)
    changes, code, pointer = HOSTILE[name]
    with pytest.raises(InvalidRequestError) as refused:
        post(people, report("node-a") | timed(changes))
    assert (code, pointer) in [(one.code, one.pointer) for one in refused.value.problems]
    assert AuditEntry.objects.get(action="identity.report_refused").decision_number is None
    assert (Decision.objects.get().state, HostReport.objects.exclude(sha256="").count()) == ("EFFECTIVE", 0)


def test_every_map_of_one_node_is_named_with_what_says_it_instead(people: Cast) -> None:
    running(people)
    with pytest.raises(InvalidRequestError) as refused:
        post(
            people, *(report(node, placement={"rank_map": [RANKS[at]]}) for at, node in enumerate(("node-a", "node-b")))
        )
    wanted = "all 2 ranks; of one host its own in `ranks_seen`, with `world_size`"
    assert [(one.pointer, one.expected, one.found) for one in refused.value.problems] == [
        ("identity[0]/placement/rank_map", wanted, "1, all on node-a"),
        ("identity[1]/placement/rank_map", wanted, "1, all on node-b"),
    ]


def test_a_smaller_world_that_a_log_shows_ends_the_decision(people: Cast) -> None:
    running(people)
    small = report("node-a", placement={"rank_map": RANKS[:1]}, sources={"/placement": "engine.log"})
    found = post(people, small).check
    assert [(one.key, one.expected, one.found) for one in found.differences] == [("/placement/world_size", 2, 1)]
    assert Decision.objects.get().state == "STALE"


def test_a_later_rank_alone_is_no_whole_map_whatever_says_so(people: Cast) -> None:
    running(people)
    with pytest.raises(InvalidRequestError, match="all on node-b"):
        post(people, report("node-b", placement={"rank_map": RANKS[1:]}, sources={"/placement": "engine.log"}))


def test_nothing_of_a_secret_is_kept(people: Cast) -> None:
    running(people)
    with pytest.raises(InvalidRequestError) as refused:
        post(people, report("node-a", environment={"VLLM_NOTE": SECRET}))
    entry = AuditEntry.objects.get(action="identity.report_refused")
    texts = [refused.value.message, bytes(entry.data).decode(), HostReport.objects.get().refused_because]
    assert not [text for text in texts if SECRET in text]
    assert not [row for row in Blob.objects.all() if SECRET.encode() in bytes(row.data)]


def test_what_is_too_large_or_has_too_many_ranks_is_refused(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    running(people)
    monkeypatch.setattr(host_reports, "MAX_RANKS", 0)
    with pytest.raises(InvalidRequestError, match="at most 0 ranks"):
        post(people, report("node-a"))
    monkeypatch.setattr(host_reports, "MAX_REPORT_BYTES", 100)
    with pytest.raises(InvalidRequestError, match="at most 100 bytes"):
        post(people, report("node-a"))


@pytest.mark.parametrize(
    ("tree", "code", "found"),
    [
        ({"model": {"name": "x" * 4097}}, "request/value_size", "4,097"),
        ({"placement": {"rank_map": [{"rank": 0, "node": "x" * 5000}]}}, "request/value_size", "5,000"),
        ({"model": {"name": deep(500)}}, "request/identity", "deeper nesting"),
        ({"model": {"layers": 10**30}}, "request/identity", "an integer beyond 2^53 - 1 has no canonical form"),
    ],
    ids=["a long value", "a long place of a rank", "nested", "a huge number"],
)
def test_a_hostile_identity_of_the_whole_slot_is_refused_by_name(
    people: Cast, tree: dict[str, Any], code: str, found: str
) -> None:
    running(people)
    with pytest.raises(InvalidRequestError) as refused:
        post(people, tree)
    assert [(one.code, one.found) for one in refused.value.problems] == [(code, found)]
    assert Decision.objects.get().state == "EFFECTIVE"


def test_a_slot_without_a_decision_is_refused_and_so_is_one_of_another_workspace(people: Cast) -> None:
    running(people)
    other = cast(slug="other")
    for workspace, slot in ((people, "own/none"), (other, SLOT)):
        for tree in (report("node-a"), {"model": {"name": "x"}}):
            with pytest.raises(InvalidRequestError) as refused:
                post(workspace, tree, slot=slot)
            assert [one.code for one in refused.value.problems] == ["request/unknown_slot"]
    # Once in each workspace, however many hosts call the slot by a name that it does not have.
    assert AuditEntry.objects.filter(action="identity.report_refused").count() == 2
    assert HostReport.objects.count() == 0


def test_a_stranger_learns_nothing_and_writes_nothing(people: Cast) -> None:
    running(people)
    with pytest.raises(NotFoundError):
        post(people, report("node-a"), actor=people.charlie)
    assert not AuditEntry.objects.filter(action__startswith="identity.").exists()


def test_an_older_report_of_the_same_host_is_refused(people: Cast) -> None:
    running(people)
    later, earlier = stamp(20), stamp(10)
    post(people, report("node-a", collected_at=later))
    with pytest.raises(ConflictError) as refused:
        post(people, report("node-a", collected_at=earlier))
    after, found = (when_exactly(datetime.fromisoformat(at)) for at in (later, earlier))
    said = f"expected a report after {after} UTC, which is there already, found one of {found} UTC."
    assert refused.value.message == f"node-a: {said}"


def test_another_report_of_the_same_second_is_refused(people: Cast) -> None:
    running(people)
    at = stamp(20)
    post(people, report("node-a", collected_at=at))
    with pytest.raises(ConflictError):
        post(people, report("node-a", collected_at=at, host="gpu-99"))


def test_what_was_launched_under_another_decision_is_refused_by_its_name(people: Cast) -> None:
    revision = running(people)
    label = {"TOPOGATE_SUBJECT": revision.planned.subject}
    assert post(people, report("node-a", environment=label)).check.because
    with pytest.raises(ConflictError) as refused:
        post(people, report("node-b", environment={"TOPOGATE_SUBJECT": "sha256:" + "0" * 64}))
    assert refused.value.message.startswith("node-b: it runs what was launched under sha256:000")
    assert "which is not in force for own/two-nodes: D-0001 r1 (tp2-pp1-ep1-dp1) is." in refused.value.message


def test_a_rank_map_label_of_something_else_differs(people: Cast) -> None:
    running(people)
    found = post(people, report("node-a", environment={"TOPOGATE_RANK_MAP": "sha256:" + "0" * 64}))
    assert [one.key for one in found.check.differences] == ["/placement/rank_map_digest"]


def test_a_host_that_is_refused_every_minute_is_one_entry_for_each_reason(people: Cast) -> None:
    running(people)
    for seconds in (90, 91, 92, -2000):
        with pytest.raises(InvalidRequestError):
            post(people, report("node-a", collected_at=stamp(seconds)))
    with pytest.raises(InvalidRequestError):
        post(people, report("node-a", environment={"HOME": "/root"}))
    assert AuditEntry.objects.filter(action="identity.report_refused").count() == 2
    post(people, report("node-a"))
    assert HostReport.objects.get().refused_because == ""


def test_every_fault_of_every_report_is_named_at_once(people: Cast) -> None:
    running(people)
    with pytest.raises(InvalidRequestError) as refused:
        post(people, report("node-a", host="?"), report("node-b", collected_at=stamp(90)), report("node-b"))
    assert [one.pointer for one in refused.value.problems] == ["identity[0]/host", "identity[1]/collected_at"]


def test_two_reports_of_one_node_in_a_request_are_refused(people: Cast) -> None:
    running(people)
    with pytest.raises(InvalidRequestError, match="expected one report of each node or host, found node-a"):
        post(people, report("node-a"), report("node-a", host="gpu-99"))


def test_bytes_that_are_no_report_are_refused(people: Cast) -> None:
    running(people)
    with pytest.raises(InvalidRequestError):
        post(people, b'{"schema": "topogate.identity/v1", ')
    with pytest.raises(InvalidRequestError):
        post(people, json.dumps(report("node-a")).encode() + b"{}")
