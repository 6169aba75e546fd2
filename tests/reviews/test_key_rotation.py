"""The drill of another key: what the old one signed stays good, and nobody takes one key for the other."""

import io
from typing import Any

import pytest
from django.core.management import call_command

from planner.verifier.verify import BROKEN, CONSISTENT, VERIFIED
from planner.verifier.verify import verify as verify_bundle
from reviews.models import Checkpoint
from reviews.services.checkpoints import checkpoint_sign
from reviews.services.exports import write_bundle
from reviews.transparency.keys import new_key
from reviews.verification import verify
from tests.reviews.factories import Cast, planned

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def signed(people: Cast) -> Checkpoint:
    made = checkpoint_sign(people.workspace)
    assert made is not None
    return made


def test_a_log_is_verified_across_another_key(people: Cast, settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    settings.LOG_SIGNING_KEY = new_key()
    old = signed(people)
    planned(people)
    settings.LOG_SIGNING_KEY = new_key()
    file = io.BytesIO()
    write_bundle(people.workspace, file)
    new = Checkpoint.objects.latest("size")
    call_command("log_key")
    assert capsys.readouterr().out.split() == [old.key, new.key]
    assert verify(people.workspace).reason == ""
    kept = bytes(old.note)
    tried = {
        "both keys and a checkpoint of the old one": ([old.key, new.key], [kept], VERIFIED),
        "the new key": ([new.key], [], VERIFIED),
        "no key": ([], [], CONSISTENT),
        "the old key alone": ([old.key], [], BROKEN),
        "the new key and a checkpoint of the old one": ([new.key], [kept], BROKEN),
    }
    found = {what: verify_bundle(file, keys, olds) for what, (keys, olds, _) in tried.items()}
    assert {what: code for what, (code, *_) in found.items()} == {what: code for what, (*_, code) in tried.items()}
    assert "none of the keys (after a change of keys give old and new)" in found["the old key alone"][1]
