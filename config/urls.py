"""Mounts what the applications serve."""

from django.urls import include, path

from config.health import live, ready

urlpatterns = [
    path("health/live", live, name="health-live"),
    path("health/ready", ready, name="health-ready"),
    path("", include("reviews.web.urls")),
]
