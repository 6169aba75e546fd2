"""What production said about a topology that was decided: receipts, roll-ups, and what is out of its envelope now.

Rows here are swept after a time that the settings name; what happened stays in the log. Nothing of a decision is
changed by any of them.
"""

from django.db import models
from django.db.models import F, Q

from reviews.models.decisions import Revision
from reviews.models.fields import DIGEST_LENGTH, SLUG_LENGTH
from reviews.models.people import Person

SOURCE_LENGTH = 256
ID_LENGTH = 64
METRIC_LENGTH = 32


class ObservationFeed(models.Model):
    """Everything observed of one topology of a revision. ``version`` grows with every write, so two writers notice.

    ``breaches`` and ``drifts`` count the open findings; ``ended_at`` is the end of the newest span.
    """

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="feeds")
    trial = models.CharField(max_length=ID_LENGTH)
    version = models.BigIntegerField(default=0)
    breaches = models.PositiveIntegerField(default=0)
    drifts = models.PositiveIntegerField(default=0)
    ended_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["revision", "trial"], name="observation_feed_once"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"observations of {self.revision} ({self.trial})"


class ObservationSource(models.Model):
    """A collector of one person: up to when it reported. It is kept while a replay could be taken for news."""

    feed = models.ForeignKey(ObservationFeed, on_delete=models.PROTECT, related_name="sources")
    name = models.CharField(max_length=SOURCE_LENGTH)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    received_at = models.DateTimeField()
    batches = models.PositiveBigIntegerField(default=0)
    last_sha256 = models.CharField(max_length=DIGEST_LENGTH)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["feed", "name", "person"], name="observation_source_once"),)
        indexes = (models.Index(fields=["ended_at"], name="observation_source_by_end"),)
        ordering = ("feed", "name", "person")

    def __str__(self) -> str:
        return self.name


class ObservationBatch(models.Model):
    """The receipt of a batch: its span, and the digest of exactly the bytes that came."""

    feed = models.ForeignKey(ObservationFeed, on_delete=models.PROTECT, related_name="batches")
    source = models.ForeignKey(ObservationSource, on_delete=models.PROTECT, related_name="receipts")
    sha256 = models.CharField(max_length=DIGEST_LENGTH)
    size_bytes = models.BigIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    segments = models.PositiveIntegerField()
    values_count = models.PositiveIntegerField()
    # What was out of its envelope among what the batch touched.
    breaches = models.PositiveIntegerField()
    drifts = models.PositiveIntegerField()
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    received_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["feed", "sha256"], name="observation_batch_once"),
            models.CheckConstraint(condition=Q(ended_at__gt=F("started_at")), name="observation_batch_span"),
        )
        indexes = (models.Index(fields=["received_at"], name="observation_batch_by_time"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return self.sha256


class ObservationFile(models.Model):
    """The bytes of a batch, compressed, for as long as they are kept."""

    batch = models.OneToOneField(ObservationBatch, on_delete=models.CASCADE, related_name="file")
    data = models.BinaryField()
    received_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=["received_at"], name="observation_file_by_time"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"bytes of {self.batch_id}"


class RollUpLevel(models.TextChoices):
    """How long the span of roll-ups is."""

    HOUR = "hour", "Hour"
    DAY = "day", "Day"


class ObservationSpan(models.Model):
    """An hour or a day, UTC. ``covered``: what of it was reported, as JSON pairs of seconds since 1970, in order.

    ``in_day`` says of an hour that its day has everything of it: it is kept beside the day for as long as hours are.
    """

    feed = models.ForeignKey(ObservationFeed, on_delete=models.PROTECT, related_name="spans")
    level = models.CharField(max_length=4, choices=RollUpLevel)
    starts_at = models.DateTimeField()
    covered = models.TextField()
    in_day = models.BooleanField(default=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["feed", "level", "starts_at"], name="observation_span_once"),
            models.CheckConstraint(condition=Q(level__in=RollUpLevel.values), name="observation_span_level_known"),
        )
        indexes = (models.Index(fields=["level", "starts_at"], name="observation_span_by_time"),)
        ordering = ("feed", "starts_at", "level")

    def __str__(self) -> str:
        return f"{self.level} from {self.starts_at:%Y-%m-%dT%H:%MZ}"


class ObservationRollUp(models.Model):
    """Roll-ups of one metric for a block of ranks, groups or links in a span, packed, every collector's by itself.

    One of links, and one that names neither rank nor group, is of block 0.
    """

    span = models.ForeignKey(ObservationSpan, on_delete=models.CASCADE, related_name="roll_ups")
    metric = models.CharField(max_length=METRIC_LENGTH)
    block = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["span", "metric", "block"], name="observation_roll_up_once"),)
        ordering = ("span", "metric", "block")

    def __str__(self) -> str:
        return f"{self.metric} {self.block}"


class FindingState(models.TextChoices):
    """How a value stands out: above a limit of the contract, or far above what was measured."""

    BREACH = "BREACH", "Breach"
    DRIFT = "DRIFT", "Drift"


class ObservationFinding(models.Model):
    """One statistic of one rank, group or link that is out of its envelope, from when until when (None: it still is).

    -1 and "" where it is of none. ``value`` is the nearer end of the range that it can be, ``used`` the farther end
    over the limit, or over what was measured; ``limit_at`` points into the contract, ``qualified_at`` into the
    evidence. ``calm_since`` is since when it is less than ``state`` says.
    """

    feed = models.ForeignKey(ObservationFeed, on_delete=models.PROTECT, related_name="findings")
    metric = models.CharField(max_length=METRIC_LENGTH)
    statistic = models.CharField(max_length=8)
    rank = models.IntegerField(default=-1)
    group = models.IntegerField(default=-1)
    link = models.CharField(max_length=ID_LENGTH, blank=True)
    shape = models.CharField(max_length=ID_LENGTH, blank=True)
    limit_at = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=6, choices=FindingState)
    team = models.CharField(max_length=SLUG_LENGTH)
    value = models.FloatField(null=True)
    limit = models.FloatField(null=True)
    qualified = models.FloatField(null=True)
    qualified_at = models.CharField(max_length=400, blank=True)
    used = models.FloatField(null=True)
    opened_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    calm_since = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["feed", "metric", "statistic", "rank", "group", "link", "shape", "limit_at"],
                condition=Q(closed_at=None),
                name="observation_finding_open_once",
            ),
            models.CheckConstraint(condition=Q(state__in=FindingState.values), name="observation_finding_state_known"),
        )
        indexes = (
            models.Index(fields=["feed", "closed_at"], name="observation_finding_by_feed"),
            models.Index(fields=["closed_at"], name="observation_finding_by_end"),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.state} of {self.metric} {self.statistic}"
