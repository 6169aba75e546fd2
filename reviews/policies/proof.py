"""Whether somebody proved recently enough who they are for an act that binds them, signing above all."""

from reviews.facts import Authentication
from reviews.policies.permissions import ALLOWED, Verdict

RECENT_S = 300
"""How old a proof may be, seconds: signing takes one of at most five minutes."""
PROOFS = {"passkey": "a passkey", "totp": "a code of your authenticator app", "password": "your password"}
"""Accepted methods, the strongest first. A recovery code gets people in, another service vouches for them; neither
is their own proof at the moment of signing."""
SECOND_FACTORS = frozenset({"passkey", "totp"})
OTHER_METHODS = {"recovery_code": "a recovery code", "oidc": "your organisation's login", "token": "an API token"}


def is_recent_proof(authentication: Authentication, *, second_factor: bool = False) -> Verdict:
    """Judge a proof; ``second_factor``: a password alone is not enough."""
    accepted = [method for method in PROOFS if not second_factor or method in SECOND_FACTORS]
    wanted = " or ".join(PROOFS[method] for method in accepted)
    ask = f"Confirm with {wanted} that it is you."
    if authentication.method not in accepted:
        return Verdict(False, f"{ask} {_last(authentication)}")
    if authentication.age_s is None or authentication.age_s > RECENT_S:
        return Verdict(False, f"{ask} {_last(authentication)} Signing takes one of at most {RECENT_S // 60} minutes.")
    return ALLOWED


def _last(authentication: Authentication) -> str:
    name = (PROOFS | OTHER_METHODS).get(authentication.method)
    if name is None:
        return "No proof is known of this session."
    if authentication.age_s is None:
        return f"Your last proof was {name}."
    minutes = authentication.age_s // 60
    return f"Your last proof was {name}, {f'{minutes} min ago' if minutes else 'just now'}."
