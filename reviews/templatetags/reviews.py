"""Formatting of small things: icons, verdicts, digests, margin bars, defined terms, the theme. No data is fetched."""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from django import template
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from reviews.policies.anchors import PART
from reviews.web.bars import Bar
from reviews.web.cells import ALWAYS
from reviews.web.formats import short_digest
from reviews.web.once import FIELD
from reviews.web.thread_rows import Count
from reviews.web.unbroken import unbroken
from reviews.web.words import TERMS, THEMES, Word

register = template.Library()

ICONS = 1024
"""Of small drawings that depend on their arguments alone, so many are kept."""


@register.simple_tag
@lru_cache(ICONS)
def icon(name: str, size: int = 16, css: str = "") -> SafeString:
    """Draw a symbol of the icon set; it says nothing by itself, a word stands beside it."""
    return format_html(
        '<svg width="{}" height="{}"{} aria-hidden="true"><use href="#i-{}"/></svg>',
        size,
        size,
        format_html(' class="{}"', css) if css else "",
        name,
    )


@register.simple_tag
@lru_cache(ICONS)
def verdict(word: Word, size: int = 14, css: str = "") -> SafeString:
    """Write a verdict: icon, word, colour."""
    return format_html('<span class="v v-{} {}">{}{}</span>', word.css, css, icon(word.icon, size), word.text)


@register.simple_tag
@lru_cache(ICONS)
def tag(word: Word) -> SafeString:
    """Write a state as a tag: icon, word, colour and border."""
    return format_html('<span class="tag tag-{}">{}{}</span>', word.css, icon(word.icon, 12), word.text)


@register.simple_tag
def bar(shape: Bar | None, css: str = "bar") -> SafeString | str:
    """Draw a margin bar; lengths are attributes of the SVG, because the policy refuses style attributes."""
    if shape is None:
        return ""
    return format_html(
        '<svg class="{}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bar-bg" y="2.5" width="100" height="1"/><rect class="bar-{}" x="{}" y="1" width="{}" height="4"/>'
        '<rect class="bar-limit" x="33.4" width="1.2" height="6"/></svg>',
        css,
        shape.css,
        shape.x,
        shape.width,
    )


@register.simple_tag(takes_context=True)
def digest(context: Context, value: str, *, stored: bool = True) -> SafeString | str:
    """Write a digest: short, linked to its permalink, with a button that copies all of it.

    ``stored`` False leaves the link out: nothing with this digest is in the workspace yet.
    """
    if not value:
        return ""
    workspace = context.get("workspace_slug", "")
    try:
        href = reverse("digest-detail", args=[workspace, value]) if stored else ""
    except NoReverseMatch:
        href = ""
    text = (
        format_html('<a class="digest-a" href="{}">{}</a>', href, short_digest(value)) if href else short_digest(value)
    )
    return format_html('<span class="digest">{}{}</span>', text, copy_button(value))


@register.simple_tag
def copy_button(value: str, what: str = "") -> SafeString:
    """A button that copies a text; a browser without script does not show it."""
    return format_html(
        '<button class="icon-btn needs-script" type="button" data-copy="{}" aria-label="Copy {}">{}</button>',
        value,
        what or short_digest(value),
        icon("copy", 12),
    )


@register.simple_tag(takes_context=True)
def thread_count(context: Context, *name: str) -> SafeString | str:
    """Count the open threads about one thing, with the way to them; nothing where there is none."""
    counts: Mapping[str, Count] = context.get("thread_counts") or {}
    found = counts.get(PART.join(part or ALWAYS for part in name))
    if found is None:
        return ""
    return format_html(
        '<a class="{}" href="{}" aria-label="{}" hx-boost="false">{}{}</a>',
        "mx-threads v-fail" if found.is_blocking else "mx-threads",
        found.href,
        found.label,
        icon("fail" if found.is_blocking else "wait", 12),
        found.text,
    )


@register.simple_tag
def once() -> SafeString:
    """Write what a form carries so that sending it twice does once what it says."""
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, secrets.token_urlsafe(16))


@register.filter
def coded(text: str) -> SafeString | str:
    """Write what a sentence of the planner has between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return text
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if at % 2 else part,) for at, part in enumerate(parts))
    )


@register.filter(is_safe=True)
def figures(html: SafeString) -> str:
    """Keep numbers and units of a rendered page in one piece; only spaces change, so what is safe stays safe."""
    return unbroken(html)


@register.filter
def named(values: Iterable[object], names: Iterable[object]) -> Iterator[tuple[object, object]]:
    """Put the name of its column before each value, for tables whose rows become cards on a phone."""
    return zip(names, values, strict=True)


@register.simple_tag
def term(name: str, text: str = "") -> SafeString:
    """Write a term with its definition, for its first use on a page."""
    return format_html('<abbr title="{}">{}</abbr>', TERMS[name], text or name)


def chosen_theme(context: Context) -> str:
    """Return the theme that this browser chose, or an empty text for the system's."""
    request = context.get("request")
    chosen: str = request.COOKIES.get("theme", "") if request else ""
    return chosen if chosen in THEMES else ""


@register.simple_tag(takes_context=True)
def theme(context: Context) -> SafeString | str:
    """Return the attribute of the chosen theme; nothing when the choice is the system's."""
    chosen = chosen_theme(context)
    return format_html(' data-theme="{}"', chosen) if chosen else ""


@register.simple_tag(takes_context=True)
def other_theme(context: Context) -> str:
    """Return the theme that the button switches to."""
    return "light" if chosen_theme(context) == "dark" else "dark"
