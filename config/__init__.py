"""Wiring only; no rule lives here. Importing it makes the Celery app current for web and worker alike."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
