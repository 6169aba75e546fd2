"""The data half of ``bench.checks``: the worked example in force on its slot, and a token that may read.

Prints, as JSON, the cookie of somebody's session, a token, the address and the body of a check that matches. Runs in a
process of its own, against the database of ``DATABASE_URL``.
"""

import base64
import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Models can only be imported once Django is set up.
from bench.page_data import session_of  # noqa: E402 - after the setup
from reviews.models import Activation  # noqa: E402 - after the setup
from reviews.selectors.slot_check import slot_check  # noqa: E402 - after the setup
from reviews.services.activation import decision_activate  # noqa: E402 - after the setup
from reviews.services.people import Trace  # noqa: E402 - after the setup
from reviews.services.tokens import token_create  # noqa: E402 - after the setup
from tests.reviews.factories import PROVEN, Cast, Pair, cast, example_pair, planned, sign  # noqa: E402 - after the setup

BOUNDARY = "of-a-bench"


def main() -> int:
    """Fill the database."""
    people, pair = cast(), example_pair()
    activation = in_force(people, pair)
    identity = json.loads(pair.contract)["identity"] | {"placement": {"rank_map_digest": activation.rank_map_digest}}
    slot = activation.revision.decision.slot
    if not slot_check(actor=people.bob, workspace=people.workspace, slot=slot, live=identity).matches:
        raise SystemExit("the identity does not match")
    token = token_create(actor=people.bob, workspace=people.workspace, label="router", scope="read", days=7)
    said = {
        "cookie": session_of(people.bob),
        "token": token.secret,
        "api": f"/api/v1/workspaces/{people.workspace.slug}",
        "slot": slot,
        "content_type": f"multipart/form-data; boundary={BOUNDARY}",
        "body": base64.b64encode(body(slot, json.dumps(identity).encode())).decode(),
    }
    sys.stdout.write(json.dumps(said))
    return 0


def in_force(people: Cast, pair: Pair) -> Activation:
    """Plan, sign for both teams and put into force."""
    revision = planned(people, pair=pair)
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    return decision_activate(
        actor=people.dave,
        workspace=people.workspace,
        number=revision.decision.number,
        statement="For a bench.",
        seen_subject=revision.planned.subject,
        rollback="none",
        trace=Trace("bench", PROVEN),
    )


def body(slot: str, identity: bytes) -> bytes:
    """Return the parts of a check, as ``topogate check`` sends them."""
    line = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name="
    return (
        f'{line}"slot"\r\n\r\n{slot}\r\n{line}"identity"; filename="identity.json"\r\n'
        "Content-Type: application/json\r\n\r\n"
    ).encode() + (identity + f"\r\n--{BOUNDARY}--\r\n".encode())


if __name__ == "__main__":
    sys.exit(main())
