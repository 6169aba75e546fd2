"""Fixtures and settings of the whole suite. Material of others is found by ``tests.shared``.

Property tests take the same examples in every run, so that a red run can be run again; `make fuzz` looks for new ones.
They are not failed for being slow: how long an example takes says more about the machine's other work than about it.
"""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.stage"]

settings.register_profile(
    "suite", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("suite")
