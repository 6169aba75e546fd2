"""Print how much longer a check of a slot takes than a bare answer of the same server: p95 as a multiple, in one run.

This is what routers ask. Server, middleware and clients are those of ``bench.pages``; the check is asked with a token
that may read and an identity that matches the decision in force. What mirrors and dashboards read stands beside it.

``python -m bench.checks [--clients 2] [--rounds 300]``; exit code 1 where an address is not answered.
"""

import argparse
import base64
import sys
from typing import Any

from bench.pages import BARE, Client, filled, measured, report, served

CHECK, VALIDITY, METRICS = "check", "validity of the slot", "metrics"
AIMS = {CHECK: 2}
"""Multiples of the bare answer's p95."""


def main() -> int:
    """Fill a database, serve it, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=300)
    chosen = parser.parse_args()
    with filled("bench.check_data") as (environment, found), served(environment) as port:
        taken = measured(Router(port, found, seed=seed, rounds=chosen.rounds) for seed in range(chosen.clients))
    if taken is None:
        return 1
    report(taken, AIMS)
    return 0


class Router(Client):
    """Asks for the bare answer as a browser that is logged in, for a slot as a router with a token."""

    def __init__(self, port: int, found: dict[str, Any], *, seed: int, rounds: int) -> None:
        paths = {
            BARE: "/health/live",
            CHECK: f"{found['api']}/check",
            VALIDITY: f"{found['api']}/validity?slot={found['slot']}",
            METRICS: f"{found['api']}/metrics",
        }
        super().__init__(port, found["cookie"], paths, seed=seed, rounds=rounds)
        self.body = base64.b64decode(found["body"])
        self.token = {"Host": "localhost", "Authorization": f"Bearer {found['token']}"}
        self.content_type = {"Content-Type": found["content_type"]}

    def send(self, name: str) -> None:
        """Send one request."""
        if name == BARE:
            super().send(name)
        elif name == CHECK:
            self.connection.request("POST", self.paths[name], self.body, {**self.token, **self.content_type})
        else:
            self.connection.request("GET", self.paths[name], headers=self.token)


if __name__ == "__main__":
    sys.exit(main())
