"""How gunicorn serves the application: ``gunicorn -c python:config.gunicorn config.wsgi``.

Threads, because a request waits for the database more than it computes. Preloading imports Django once instead of
once per worker, which halves the start and shares memory. Requests are logged by the application, with their id.
"""

import os
from pathlib import Path

bind = os.environ.get("WEB_BIND", "0.0.0.0:8000").split(",")
workers = int(os.environ.get("WEB_WORKERS", "2"))
worker_class = "gthread"
threads = int(os.environ.get("WEB_THREADS", "4"))
preload_app = True
timeout = 60
graceful_timeout = 10
keepalive = 5
control_socket_disable = True
# The heartbeat file must lie in memory: on a slow disk its touch blocks and gunicorn kills the worker.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None
