"""Fixtures of the whole suite. Material of others is found by ``tests.shared``."""
