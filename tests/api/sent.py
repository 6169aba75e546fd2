"""What is sent to every address of the API that takes something, as somebody who may would send it."""

from tests.api.asking import parts
from tests.reviews.factories import documents
from tests.reviews.late_ranks import TRACE

SENT = {
    "api-decisions": parts(),
    "api-revisions": {"evidence": documents(tokens=200000).evidence},
    "api-threads": {"comments": b'{"comments": [{"text": "Rerun?", "kind": "trial", "name": "t-1"}]}'},
    "api-thread-resolution": {"reason": "Rerun."},
    "api-exports": {},
    "api-log-witnesses": {},
    "api-verifications": {},
    "api-validate": parts(title=None),
    "api-requalification": {"contract": documents().contract},
    "api-check": {"slot": "own/one-device", "identity": b'{"model": {"name": "own/dense-8b"}}'},
    "api-observations": {"observations": b"{}"},
    "api-identity-reports": {"slot": "own/one-device", "identity": b'{"model": {"name": "own/dense-8b"}}'},
    "api-diagnoses": {"files": TRACE},
    "api-proposals": {"policy": b"{}", "reason": "Needed."},
    "api-decision-proposals": {"kind": "revocation", "reason": "Needed."},
    "api-proposal-confirmation": {},
    "api-proposal-decline": {"reason": "Needed."},
    "api-proposal-withdrawal": {"reason": "Needed."},
    "api-delegations": {
        "team": "serving",
        "taker": "carol-lab",
        "starts_at": "2026-09-20T00:00:00Z",
        "ends_at": "2026-09-21T00:00:00Z",
        "reason": "Needed.",
    },
    "api-delegation-end": {},
    "api-retractions": {"content_id": "sha256:" + "00" * 32, "reason": "Needed."},
    "api-signoffs": {"team": "serving", "meaning": "approve", "statement": "Needed."},
    "api-signoff-withdrawal": {"reason": "Needed."},
    "api-point-settlement": {"note": "Needed."},
    "api-activation": {"statement": "Needed.", "rollback": "none"},
    "api-rejection": {"reason": "Needed."},
    "api-closing": {"reason": "Needed."},
    "api-reproductions": {},
    "api-re-reviews": {"teams": "serving", "reason": "Needed."},
    "api-withdrawal": {"reason": "Needed."},
}
