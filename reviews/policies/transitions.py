"""The one table of decision states and what leads from one to the next.

An act that is not listed for a state is impossible there. States without any act are final.
"""

TRANSITIONS: dict[str, dict[str, str]] = {
    "DRAFT": {"submit": "EVALUATING", "declare_emergency": "EMERGENCY"},
    "EVALUATING": {"plan": "IN_REVIEW", "fail": "EVALUATION_FAILED", "revise": "EVALUATING"},
    "EVALUATION_FAILED": {"reopen": "DRAFT", "revise": "EVALUATING"},
    "IN_REVIEW": {
        "revise": "EVALUATING",
        "withdraw": "WITHDRAWN",
        "reject": "REJECTED",
        "activate": "EFFECTIVE",
        "declare_emergency": "EMERGENCY",
    },
    "EFFECTIVE": {"differ": "STALE", "expire": "EXPIRED", "object": "CONTESTED", "supersede": "SUPERSEDED"},
    "CONTESTED": {"lift_objection": "EFFECTIVE", "revoke": "REVOKED"},
    "STALE": {"revise": "EVALUATING"},
    "EXPIRED": {"revise": "EVALUATING"},
    "EMERGENCY": {"complete_review": "EFFECTIVE", "run_out": "REVOKED"},
    "WITHDRAWN": {},
    "REJECTED": {},
    "SUPERSEDED": {},
    "REVOKED": {},
}


def next_state(state: str, act: str) -> str | None:
    """Return the state that the act leads to, or None where it is impossible."""
    return TRANSITIONS[state].get(act)
