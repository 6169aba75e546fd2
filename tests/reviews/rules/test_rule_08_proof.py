"""Rule 8: signing needs a proof of at most five minutes, never a token, and the subject that the signer saw."""

import pytest
from pytest_django.fixtures import Settings

from reviews.errors import ConflictError, NotAllowedError, ProofNeededError
from reviews.facts import Authentication
from reviews.models import SignOff
from tests.reviews.factories import POLICY, Cast, cast, documents, last_entry, planned, sign

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "proof",
    [
        pytest.param(Authentication("password", 301), id="a password of more than five minutes ago"),
        pytest.param(Authentication("passkey", 301), id="a passkey of more than five minutes ago"),
        pytest.param(Authentication("password", None), id="nobody knows when"),
        pytest.param(Authentication("recovery_code", 1), id="a recovery code"),
        pytest.param(Authentication("oidc", 1), id="another service"),
        pytest.param(Authentication("none", None), id="nothing at all"),
    ],
)
def test_an_old_or_weak_proof_is_refused_and_recorded(people: Cast, proof: Authentication) -> None:
    with pytest.raises(ProofNeededError):
        sign(people, planned(people), authentication=proof)
    entry = last_entry(people)
    assert (entry["action"], entry["auth_method"], entry["auth_age_s"]) == (
        "signoff.refused",
        proof.method,
        proof.age_s,
    )
    assert not SignOff.objects.exists()


@pytest.mark.parametrize("method", ["password", "totp", "passkey"])
def test_a_proof_of_five_minutes_is_taken(people: Cast, method: str) -> None:
    signoff = sign(people, planned(people), authentication=Authentication(method, 300))
    assert (signoff.auth_method, signoff.auth_age_s) == (method, 300)


def test_an_installation_may_ask_for_a_second_factor(people: Cast, settings: Settings) -> None:
    settings.SIGNING_SECOND_FACTOR = True
    revision = planned(people)
    with pytest.raises(ProofNeededError, match="Confirm with a passkey or a code of your authenticator app"):
        sign(people, revision, authentication=Authentication("password", 1))
    assert sign(people, revision, authentication=Authentication("totp", 1)).auth_method == "totp"


@pytest.mark.parametrize("is_everywhere", [False, True])
@pytest.mark.parametrize("is_in_policy", [False, True])
def test_a_policy_may_ask_for_a_second_factor_and_takes_back_none(
    db: None, settings: Settings, is_everywhere: bool, is_in_policy: bool
) -> None:
    settings.SIGNING_SECOND_FACTOR = is_everywhere
    people = cast(policy=POLICY | {"second_factor": is_in_policy})
    revision = planned(people)
    if is_everywhere or is_in_policy:
        with pytest.raises(ProofNeededError, match="a passkey or a code of your authenticator app") as asked:
            sign(people, revision, authentication=Authentication("password", 1))
        assert asked.value.second_factor
        assert sign(people, revision, authentication=Authentication("passkey", 1)).auth_method == "passkey"
    else:
        assert sign(people, revision, authentication=Authentication("password", 1)).auth_method == "password"


def test_the_policy_of_another_workspace_asks_nothing_here(people: Cast) -> None:
    cast(slug="strict", policy=POLICY | {"second_factor": True})
    assert sign(people, planned(people), authentication=Authentication("password", 1)).auth_method == "password"


def test_a_token_never_signs(people: Cast) -> None:
    with pytest.raises(NotAllowedError, match="An API token cannot sign"):
        sign(people, planned(people), authentication=Authentication("token", 1))


def test_a_subject_that_moved_is_a_conflict_that_names_what_moved(people: Cast) -> None:
    first = planned(people)
    planned(people, pair=documents(tokens=170000), decision=first.decision)
    with pytest.raises(ConflictError) as moved:
        sign(people, first)
    assert moved.value.message == ("D-0001 moved while you read it: r2 replaced r1. Changed: evidence, plan.")
    assert (moved.value.moved, moved.value.revision) == (("evidence", "plan"), 2)
