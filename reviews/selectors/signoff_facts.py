"""Fetches sign-offs with everything that happened to them, as the rules see them; a fixed number of queries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reviews.facts import SignOffFact
from reviews.models import PointKind, ReReview, Revision, SignOff, SignOffCarry, SignOffPoint
from reviews.selectors.revisions import revision_row, row_parts


@dataclass(frozen=True, slots=True)
class StoredSignOffs:
    """The sign-offs of some decisions. ``rows`` is decision id -> sign-offs, newest first.

    ``carries`` is sign-off id -> its carries in order of their revisions, ``points`` sign-off id -> its conditions and
    follow-ups, ``voided`` (decision id, team id) -> the last sign-off id that a request to review again voids.
    """

    rows: Mapping[int, Sequence[SignOff]]
    carries: Mapping[int, Sequence[SignOffCarry]]
    points: Mapping[int, Sequence[SignOffPoint]]
    voided: Mapping[tuple[int, int], int]


def stored_signoffs(revisions: Iterable[Revision]) -> StoredSignOffs:
    """Return the sign-offs of decisions; ``revisions`` are all of theirs, fetched by ``with_digests``.

    Rows are put in order here: with an order to keep, Django compares every column of these wide queries.
    """
    given_on = {revision.pk: revision for revision in revisions}
    rows = SignOff.objects.filter(revision_id__in=given_on).order_by()
    by_decision: dict[int, list[SignOff]] = defaultdict(list)
    told = rows.select_related("team", "person", "withdrawal", "delegation__giver")
    for row in sorted(told, key=lambda row: -row.pk):
        row.revision = given_on[row.revision_id]
        by_decision[row.revision.decision_id].append(row)
    carries: dict[int, list[SignOffCarry]] = defaultdict(list)
    for carry in SignOffCarry.objects.filter(revision_id__in=given_on).order_by("pk"):
        carries[carry.signoff_id].append(carry)
    points: dict[int, list[SignOffPoint]] = defaultdict(list)
    asked = SignOffPoint.objects.filter(signoff__revision_id__in=given_on).order_by()
    for point in sorted(asked.select_related("settlement__person"), key=lambda point: point.number):
        points[point.signoff_id].append(point)
    voided: dict[tuple[int, int], int] = defaultdict(int)
    asked_anew = ReReview.objects.filter(revision_id__in=given_on).order_by()
    for revision_id, team_id, up_to in asked_anew.values_list("revision_id", "team_id", "up_to"):
        key = given_on[revision_id].decision_id, team_id
        voided[key] = max(voided[key], up_to)
    return StoredSignOffs(by_decision, carries, points, voided)


def signoff_facts(stored: StoredSignOffs, newest: Revision, signers: Collection[int]) -> list[SignOffFact]:
    """Return a decision's sign-offs as the rules see them from its newest revision, newest first.

    ``signers`` are the people of the workspace who may sign at all (``Roster.signers``).
    """
    rows = stored.rows.get(newest.decision_id, ())
    last_turns: dict[tuple[int, int, int], int] = {}
    last_revisions: dict[tuple[int, int], int] = {}
    for row in rows:
        seat = (row.team_id, row.person_id)
        last_turns[row.revision_id, *seat] = max(last_turns.get((row.revision_id, *seat), 0), row.turn)
        last_revisions[seat] = max(last_revisions.get(seat, 0), row.revision.number)
    return [_fact(row, stored, newest, signers, last_turns, last_revisions) for row in rows]


def _fact(
    row: SignOff,
    stored: StoredSignOffs,
    newest: Revision,
    signers: Collection[int],
    last_turns: Mapping[tuple[int, int, int], int],
    last_revisions: Mapping[tuple[int, int], int],
) -> SignOffFact:
    carry = next((carry for carry in stored.carries.get(row.pk, ()) if carry.revision_id == newest.pk), None)
    return SignOffFact(
        id=row.pk,
        revision=row.revision.number,
        team=row.team.slug,
        person_id=row.person_id,
        person=printed_name(row),
        meaning=row.meaning,
        signed=row_parts(revision_row(row.revision)),
        signed_at=row.signed_at,
        is_latest=row.turn == last_turns[row.revision_id, row.team_id, row.person_id],
        is_withdrawn=hasattr(row, "withdrawal"),
        is_signer_able=row.person_id in signers,
        is_replaced=last_revisions[row.team_id, row.person_id] > row.revision.number,
        is_re_review_asked=stored.voided.get((newest.decision_id, row.team_id), 0) >= row.pk,
        carried_scope=carry.scope if carry else None,
        carried_at=carry.carried_at if carry else None,
        giver_id=row.delegation.giver_id if row.delegation else None,
        waivers=row.waivers,
        open_conditions=tuple(
            point.text
            for point in stored.points.get(row.pk, ())
            if point.kind == PointKind.CONDITION and not hasattr(point, "settlement")
        ),
    )


def printed_name(row: SignOff) -> str:
    """Return who signed; under a delegation both names."""
    name: str = row.person.display_name
    return f"{name} for {row.delegation.giver.display_name}" if row.delegation else name
