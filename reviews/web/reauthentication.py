"""Showing again who one is before an act that binds: what this session proved, and the way to prove it once more.

Proofs are the records that django-allauth keeps in the session of whoever logs in or confirms. What was typed in a
form on the way is kept in the session too, for the page that the confirmation leads back to, and given out once.
"""

import time
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from reviews.errors import ProofNeededError
from reviews.facts import Authentication
from reviews.selectors.proofs import recent_proof

TYPED_KEY = "topogate_typed"
TYPED_FOR_S = 1800
FACTOR, SECOND = "factor", "second"
"""Parameter of the confirmation and its one value: a password is not enough."""
TYPED_PLACES = 5
"""Forms that wait for a confirmation at once in one session; the oldest goes first."""


def recent_authentication(request: HttpRequest) -> Authentication:
    """Say how and how long ago the person proved who they are in this session; see ``recent_proof``."""
    return recent_proof(request)


def ask_again(request: HttpRequest, refused: ProofNeededError, *, back: str, typed: Mapping[str, str]) -> HttpResponse:
    """Keep what was typed, and lead to the confirmation, which leads to ``back``, a path of this server.

    Where a second factor is demanded, the confirmation takes no password, and leads whoever has none to set one up.
    """
    now = time.time()
    waiting = {
        path: kept for path, kept in request.session.get(TYPED_KEY, {}).items() if now - kept["at"] < TYPED_FOR_S
    }
    waiting.pop(urlsplit(back).path, None)
    newest = sorted(waiting.items(), key=lambda item: item[1]["at"])[-(TYPED_PLACES - 1) :]
    request.session[TYPED_KEY] = {**dict(newest), urlsplit(back).path: {"at": now, "typed": dict(typed)}}
    wanted = {"next": back, **({FACTOR: SECOND} if refused.second_factor else {})}
    return redirect(f"{reverse('account_reauthenticate')}?{urlencode(wanted)}")


def keeps_typed(request: HttpRequest, back: str) -> bool:
    """Say whether something that was typed waits for the page that a confirmation leads back to."""
    kept = request.session.get(TYPED_KEY, {}).get(urlsplit(back).path, {"typed": {}})
    return any(kept["typed"].values())


def typed_before(request: HttpRequest) -> dict[str, str]:
    """Give out, once, what was typed on this page before the confirmation; nothing when nothing was."""
    waiting = request.session.get(TYPED_KEY, {})
    kept = waiting.pop(request.path, None)
    if kept is None:
        return {}
    request.session[TYPED_KEY] = waiting
    return dict(kept["typed"]) if time.time() - kept["at"] < TYPED_FOR_S else {}
