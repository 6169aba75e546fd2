"""What to measure before anybody measures: candidate topologies, runs, commands, coverage (spec 2.6)."""

from planner.matrix.matrix import benchmark_matrix, matrix_bytes, matrix_of_stored

__all__ = ["benchmark_matrix", "matrix_bytes", "matrix_of_stored"]
