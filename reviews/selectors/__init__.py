"""Reads: each returns frozen rows with a number of queries that does not depend on how much there is."""
