"""The data half of ``bench.pages``: the demo with its examples planned, the worked one signed off, one in force.

Prints, as JSON, the cookie of somebody's session and the addresses that are measured. Runs in a process of its own,
against the database of ``DATABASE_URL``.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import urlencode

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Models can only be imported once Django is set up.
from django.conf import settings  # noqa: E402 - after the setup
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402 - after the setup

from reviews.facts import Authentication  # noqa: E402 - after the setup
from reviews.models import Decision, Person, PlanJob, Workspace  # noqa: E402 - after the setup
from reviews.services.demo import WORKSPACE, demo_logins, demo_submit  # noqa: E402 - after the setup
from reviews.services.demo_launch import EXAMPLE, demo_launch  # noqa: E402 - after the setup
from reviews.services.jobs import job_run  # noqa: E402 - after the setup
from reviews.services.signoffs import signoff_give  # noqa: E402 - after the setup

READER = "reviewer-networking"
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def session_of(person: Person) -> str:
    """Log somebody in and return the cookie."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.create()
    return f"{settings.SESSION_COOKIE_NAME}={session.session_key}"


def main() -> int:
    """Fill the database."""
    demo_logins()
    submitted = demo_submit(EXAMPLES)
    for job in PlanJob.objects.order_by("pk"):
        job_run(job.pk)
    worked = Decision.objects.get(title="Worked example")
    signoff_give(
        actor=Person.objects.get(login="reviewer-serving"),
        workspace=Workspace.objects.get(slug=WORKSPACE),
        decision_number=worked.number,
        team="serving",
        meaning="request_changes",
        statement="Measure the tail once more.",
        seen_subject=worked.revisions.get().planned.subject,
        authentication=Authentication("password", 1),
    )
    launched = submitted.revisions[EXAMPLE]
    if because := demo_launch(launched):
        raise SystemExit(f"{EXAMPLE} is not in force: {because}")
    here, api = f"/w/{WORKSPACE}", f"/api/v1/workspaces/{WORKSPACE}/decisions"
    reviewed, in_force = (f"{here}/decisions/{number}" for number in (worked.number, launched.decision.number))
    paths = {
        "bare answer": "/health/live",
        "decision page": f"{reviewed}/",
        "inbox": f"{here}/",
        "API: decision": f"{api}/{worked.number}",
        "API: decisions": api,
        "history": f"{reviewed}/history/",
        "rank map": f"{reviewed}/map/",
        "memory": f"{reviewed}/memory/",
        "what-if": f"{reviewed}/what-if/",
        "slots": f"{here}/slots/",
        "slot": f"{here}/slots/one?{urlencode({'slot': launched.decision.slot})}",
        "live identity": f"{in_force}/identity/",
        "observations": f"{in_force}/observations/",
        "launch": f"{in_force}/launch/",
        "audit log": f"{here}/audit/",
    }
    sys.stdout.write(json.dumps({"cookie": session_of(Person.objects.get(login=READER)), "paths": paths}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
