"""What a view answers in: its one renderer, whatever the Accept header says, which is therefore never parsed."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class OneRenderer(DefaultContentNegotiation):
    """Chooses the parser by content type, the renderer not at all."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the view's renderer."""
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)
