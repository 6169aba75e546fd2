"""Who may do what, rule by rule."""

import pytest

from reviews.facts import Authentication, Standing
from reviews.policies.permissions import may_administer, may_sign, may_submit


def standing(role: str = "member", *, teams: frozenset[str] = frozenset({"serving"})) -> Standing:
    return Standing(person_id=7, token="sha256:aa", name="Bob", workspace_id=1, role=role, teams=teams)


@pytest.mark.parametrize(
    ("role", "submits", "administers"),
    [
        pytest.param(
            "member",
            "You are a team member of serving (role member). Submitting needs the role author.",
            False,
            id="member",
        ),
        pytest.param("author", "", False, id="author"),
        pytest.param("auditor", "Your role is auditor. Submitting needs the role author.", False, id="auditor"),
        pytest.param("admin", "", True, id="admin"),
    ],
)
def test_roles_submit_and_administer(role: str, submits: str, administers: bool) -> None:
    person = standing(role)
    assert (may_submit(person).allowed, may_submit(person).reason) == (not submits, submits)
    assert may_administer(person).allowed is administers


@pytest.mark.parametrize(
    ("person", "changes", "reason"),
    [
        pytest.param(standing(), {}, "", id="a member of the team"),
        pytest.param(standing("author"), {}, "", id="an author of other decisions"),
        pytest.param(
            standing("auditor"),
            {},
            "Your role is auditor. Members with the role auditor never sign.",
            id="an auditor with a seat",
        ),
        pytest.param(
            standing("admin"), {}, "Your role is admin. Members with the role admin never sign.", id="an admin"
        ),
        pytest.param(
            standing(),
            {"author_ids": {3, 7}},
            "You made a revision of this decision. Its authors never sign it.",
            id="author of any revision",
        ),
        pytest.param(
            standing(teams=frozenset({"kernel"})),
            {},
            "You are not a member of serving. Only its members sign for it.",
            id="another team",
        ),
        pytest.param(standing(), {"other_seats": {"serving"}}, "", id="signed for this team before"),
        pytest.param(
            standing(teams=frozenset({"serving", "kernel"})),
            {"other_seats": {"kernel"}},
            "You signed for kernel in this decision. One person fills one team's seat.",
            id="signed for another team",
        ),
        pytest.param(
            standing(),
            {"authentication": Authentication("token")},
            "An API token cannot sign. Sign on the page.",
            id="by API token",
        ),
    ],
)
def test_who_signs(person: Standing, changes: dict[str, object], reason: str) -> None:
    facts = {"team": "serving", "author_ids": set(), "other_seats": set(), "authentication": Authentication()}
    verdict = may_sign(person, **(facts | changes))  # type: ignore[arg-type] # a table of keyword arguments
    assert (verdict.allowed, verdict.reason) == (not reason, reason)
