"""Fixtures and settings of the whole suite. Material of others is found by ``tests.shared``.

Property tests take the same examples in every run, so that a red run can be run again; `make fuzz` looks for new ones.
They are not failed for being slow: how long an example takes says more about the machine's other work than about it.
"""

from collections.abc import Iterator

import pytest
from django.conf import settings as shipped
from django.contrib.auth import hashers
from hypothesis import HealthCheck, settings
from pytest_django.fixtures import Settings

# After pytest-django, whose fixtures some of these take the place of.
pytest_plugins = ["tests.plugins.migrated_once", "tests.stage"]

settings.register_profile(
    "suite", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("suite")

SHIPPED_HASHERS = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session", autouse=True)
def quick_passwords(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hash passwords at once: half a second for every password in use is for attackers, not for tests."""
    with pytest.MonkeyPatch.context() as patch:
        request.config.stash[SHIPPED_HASHERS] = shipped.PASSWORD_HASHERS
        patch.setattr(shipped, "PASSWORD_HASHERS", ["django.contrib.auth.hashers.MD5PasswordHasher"])
        hashers.get_hashers.cache_clear()  # type: ignore[attr-defined] # a cached function, which the types do not say
        yield


@pytest.fixture
def slow_passwords(request: pytest.FixtureRequest, settings: Settings) -> None:
    """Hash passwords as a deployment does."""
    settings.PASSWORD_HASHERS = request.config.stash[SHIPPED_HASHERS]
