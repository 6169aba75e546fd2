import pytest

from reviews.facts import Authentication
from reviews.policies.proof import is_recent_proof

ANY = "Confirm with a passkey or a code of your authenticator app or your password that it is you."
SECOND = "Confirm with a passkey or a code of your authenticator app that it is you."
AT_MOST = "Signing takes one of at most 5 minutes."


@pytest.mark.parametrize("method", ["passkey", "totp", "password"])
@pytest.mark.parametrize("age_s", [0, 299, 300])
def test_a_proof_of_at_most_five_minutes_is_enough(method: str, age_s: int) -> None:
    assert is_recent_proof(Authentication(method, age_s)).allowed


@pytest.mark.parametrize(
    ("method", "age_s", "reason"),
    [
        pytest.param("password", 301, f"{ANY} Your last proof was your password, 5 min ago. {AT_MOST}", id="too old"),
        pytest.param("passkey", None, f"{ANY} Your last proof was a passkey. {AT_MOST}", id="nobody knows how old"),
        pytest.param("none", None, f"{ANY} No proof is known of this session.", id="none"),
        pytest.param("recovery_code", 5, f"{ANY} Your last proof was a recovery code, just now.", id="recovery code"),
        pytest.param("oidc", 5, f"{ANY} Your last proof was your organisation's login, just now.", id="other login"),
        pytest.param("token", None, f"{ANY} Your last proof was an API token.", id="token"),
    ],
)
def test_anything_else_says_what_to_do(method: str, age_s: int | None, reason: str) -> None:
    verdict = is_recent_proof(Authentication(method, age_s))
    assert (verdict.allowed, verdict.reason) == (False, reason)


@pytest.mark.parametrize(("method", "allowed"), [("passkey", True), ("totp", True), ("password", False)])
def test_where_a_second_factor_is_demanded_a_password_is_not_enough(method: str, allowed: bool) -> None:
    assert is_recent_proof(Authentication(method, 0), second_factor=True).allowed == allowed


def test_the_demand_of_a_second_factor_is_said() -> None:
    reason = is_recent_proof(Authentication("password", 60), second_factor=True).reason
    assert reason == f"{SECOND} Your last proof was your password, 1 min ago."
