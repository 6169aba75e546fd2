"""Mutation tests for a contract: faults in a copy of the evidence, and which limit of the contract sees each."""

from planner.stress.injections import INJECTIONS
from planner.stress.matrix import stress_bytes, stress_matrix, stress_of_stored

__all__ = ["INJECTIONS", "stress_bytes", "stress_matrix", "stress_of_stored"]
