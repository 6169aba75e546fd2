"""Two answers for whoever runs the service: the process is alive; it can reach its database."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Answer 200 while the process serves requests."""
    return HttpResponse("alive\n", content_type="text/plain; charset=utf-8")


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database answers, else 503. Says nothing about versions or places."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("database not reached\n", status=503, content_type="text/plain; charset=utf-8")
    return HttpResponse("ready\n", content_type="text/plain; charset=utf-8")
