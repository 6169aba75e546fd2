"""The Celery app. The broker only wakes workers; the job rows in the database are the queue of record."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("topogate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["reviews"])
