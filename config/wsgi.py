"""The WSGI callable. Refuses to serve without a secret key that all processes share."""

import os

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.body_size import measured_body
from config.content_type import readable_content_type

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = measured_body(readable_content_type(get_wsgi_application()))

# All views now, once and before the server forks; else the first request to every process waits half a second for them.
get_resolver().url_patterns  # noqa: B018 - a property that imports what it names

if settings.SECRET_KEY_IS_TEMPORARY:
    raise ImproperlyConfigured("SECRET_KEY is not set. Expected SECRET_KEY or SECRET_KEY_FILE in the environment.")
