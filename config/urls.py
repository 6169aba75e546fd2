"""Mounts what the applications serve."""

from django.urls import include, path

from config.health import live, ready

handler400 = "config.bad_requests.turned_away"
handler500 = "config.bad_requests.failed"
# Looked up by the limits of django-allauth.
handler429 = "reviews.web.accounts.too_many"

urlpatterns = [
    path("health/live", live, name="health-live"),
    path("health/ready", ready, name="health-ready"),
    path("api/v1/", include("reviews.api.urls")),
    path("", include("reviews.web.accounts_urls")),
    path("", include("reviews.web.people_urls")),
    path("", include("reviews.web.urls")),
]
