"""Ask the web server of this container whether it is ready; the exit code is the answer. Standard library only."""

import os
import sys
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

# The server answers to its own name only, so the question has to carry it.
host = urlsplit(os.environ.get("PUBLIC_URL", "http://localhost:8000")).netloc
connection = HTTPConnection("127.0.0.1", int(os.environ.get("HEALTHCHECK_PORT", "8000")), timeout=4)
try:
    connection.request("GET", "/health/ready", headers={"Host": host})
    answer = connection.getresponse()
    sys.exit(0 if answer.status == 200 else f"not ready: {answer.read(200).decode(errors='replace').strip()}")
except (OSError, HTTPException) as error:
    sys.exit(f"no answer: {error}")
