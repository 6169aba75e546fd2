"""in-toto Statement v1 and the DSSE envelope around it.

The signature is over DSSE's pre-authentication encoding, which no checkpoint can look like, so that one key may sign
both. ``keyid`` is a hint and decides nothing.
"""

import base64
from collections.abc import Sequence
from typing import Any

from planner.canonical import canonical_bytes
from reviews.transparency.notes import Signer

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"


def digest_of(sha256: str) -> dict[str, str]:
    """Return ``sha256:<hex>`` as in-toto writes a digest."""
    return {"sha256": sha256.removeprefix("sha256:")}


def named(name: str, sha256: str) -> dict[str, Any]:
    """Return a resource descriptor."""
    return {"name": name, "digest": digest_of(sha256)}


def statement(subject: Sequence[dict[str, Any]], predicate_type: str, predicate: dict[str, Any]) -> dict[str, Any]:
    """Return a statement about things that are named by digest."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": list(subject),
        "predicateType": predicate_type,
        "predicate": predicate,
    }


def envelope(tree: dict[str, Any], signer: Signer) -> bytes:
    """Return one line: the signed envelope of a statement, canonical within and without."""
    body = canonical_bytes(tree)
    signature = signer.private.sign(pre_authentication(PAYLOAD_TYPE, body))
    return canonical_bytes(
        {
            "payloadType": PAYLOAD_TYPE,
            "payload": base64.b64encode(body).decode(),
            "signatures": [{"keyid": signer.verifier.id.hex(), "sig": base64.b64encode(signature).decode()}],
        }
    )


def pre_authentication(payload_type: str, body: bytes) -> bytes:
    """Return the bytes that are signed (DSSE protocol, PAE)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)
