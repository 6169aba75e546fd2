"""Taking a sign-off back."""

import pytest

from reviews.errors import InvalidRequestError, NotAllowedError, ReviewError
from reviews.facts import Authentication
from reviews.models import Membership, Revision, SignOffWithdrawal
from reviews.selectors.decision_page import decision_page
from reviews.services.withdrawals import signoff_withdraw
from tests.reviews.factories import Cast, last_entry, planned, sign, statuses

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def revision(people: Cast) -> Revision:
    """A planned first revision."""
    return planned(people)


def test_a_withdrawn_signoff_stays_visible_with_its_reason(people: Cast, revision: Revision) -> None:
    signoff = sign(people, revision)
    signoff_withdraw(actor=people.bob, workspace=people.workspace, signoff_id=signoff.pk, reason="Misread rank 5.")
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    assert [(row.status, row.withdrawn_reason) for row in page.signoffs] == [("WITHDRAWN", "Misread rank 5.")]
    assert (last_entry(people)["action"], last_entry(people)["reason"]) == ("signoff.withdrawn", "Misread rank 5.")


def test_withdrawing_twice_is_one_withdrawal(people: Cast, revision: Revision) -> None:
    signoff = sign(people, revision)
    first, second = (
        signoff_withdraw(actor=people.bob, workspace=people.workspace, signoff_id=signoff.pk, reason="Misread.")
        for _ in range(2)
    )
    assert (first, SignOffWithdrawal.objects.count()) == (second, 1)


def test_a_signer_who_only_reads_now_takes_nothing_back(people: Cast, revision: Revision) -> None:
    signoff = sign(people, revision)
    Membership.objects.filter(person=people.bob).update(role="auditor")
    with pytest.raises(NotAllowedError, match="Your role is auditor"):
        signoff_withdraw(actor=people.bob, workspace=people.workspace, signoff_id=signoff.pk, reason="Misread.")


def test_after_a_withdrawal_the_same_words_can_be_signed_again(people: Cast, revision: Revision) -> None:
    signoff = sign(people, revision)
    signoff_withdraw(actor=people.bob, workspace=people.workspace, signoff_id=signoff.pk, reason="Misread.")
    assert sign(people, revision).turn == 2
    assert [status for status, _, _ in statuses(people)] == ["CURRENT", "WITHDRAWN"]


@pytest.mark.parametrize(
    ("actor", "reason", "method", "error"),
    [
        pytest.param("dave", "Mine now.", "password", NotAllowedError, id="somebody else's"),
        pytest.param("bob", "By machine.", "token", NotAllowedError, id="by API token"),
        pytest.param("bob", " ", "password", InvalidRequestError, id="no reason"),
    ],
)
def test_a_refused_withdrawal_is_an_entry(
    people: Cast, revision: Revision, actor: str, reason: str, method: str, error: type[ReviewError]
) -> None:
    signoff = sign(people, revision)
    with pytest.raises(error):
        signoff_withdraw(
            actor=getattr(people, actor),
            workspace=people.workspace,
            signoff_id=signoff.pk,
            reason=reason,
            authentication=Authentication(method),
        )
    assert (SignOffWithdrawal.objects.count(), last_entry(people)["action"]) == (0, "signoff.withdrawal_refused")
