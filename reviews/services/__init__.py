"""Use cases: each function is one act, in one transaction: lock, rules, change, audit entry, wake-up after commit."""
