"""Tables of reviews in full: what teams own, carries, conditions, activations, acts of two persons, exceptions.

The database itself refuses a change of state that no act makes, and a sign-off on a revision that is not the newest.
SQLite rebuilds the tables that are altered here and drops their triggers with them; they are laid again.
"""

from importlib import import_module

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

append_only = import_module("reviews.migrations.0002_append_only")

NEW_TABLES = (
    "reviews_activation",
    "reviews_countersignature",
    "reviews_delegation",
    "reviews_delegationend",
    "reviews_emergency",
    "reviews_identityreport",
    "reviews_itemopening",
    "reviews_pointsettlement",
    "reviews_proposal",
    "reviews_proposalwithdrawal",
    "reviews_reproduction",
    "reviews_rereview",
    "reviews_retraction",
    "reviews_reviewbasis",
    "reviews_signoffcarry",
    "reviews_signoffpoint",
    "reviews_teamscope",
    "reviews_waiver",
)

STATE_CHANGES = (
    ("CONTESTED", "EFFECTIVE"),
    ("CONTESTED", "REVOKED"),
    ("CONTESTED", "SUPERSEDED"),
    ("DRAFT", "EVALUATING"),
    ("DRAFT", "WITHDRAWN"),
    ("EFFECTIVE", "CONTESTED"),
    ("EFFECTIVE", "EXPIRED"),
    ("EFFECTIVE", "STALE"),
    ("EFFECTIVE", "SUPERSEDED"),
    ("EMERGENCY", "EFFECTIVE"),
    ("EMERGENCY", "REVOKED"),
    ("EVALUATING", "EVALUATION_FAILED"),
    ("EVALUATING", "IN_REVIEW"),
    ("EVALUATION_FAILED", "DRAFT"),
    ("EXPIRED", "EVALUATING"),
    ("EXPIRED", "SUPERSEDED"),
    ("IN_REVIEW", "CLOSED"),
    ("IN_REVIEW", "EFFECTIVE"),
    ("IN_REVIEW", "EMERGENCY"),
    ("IN_REVIEW", "EVALUATING"),
    ("IN_REVIEW", "REJECTED"),
    ("IN_REVIEW", "WITHDRAWN"),
    ("STALE", "EVALUATING"),
    ("STALE", "SUPERSEDED"),
)
"""(from, to) as of this migration; ``tests/reviews/rules`` compares them with the table of transitions."""

_ALLOWED = " OR ".join(f"(OLD.state = '{source}' AND NEW.state = '{target}')" for source, target in STATE_CHANGES)
_NEWER = (
    "EXISTS (SELECT 1 FROM reviews_revision newer JOIN reviews_revision own ON own.decision_id = newer.decision_id "
    "WHERE own.id = NEW.revision_id AND newer.number > own.number)"
)
POSTGRESQL = (
    f"""
CREATE FUNCTION decision_transition_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> NEW.state AND NOT ({_ALLOWED}) THEN
        RAISE EXCEPTION 'no act leads a decision to this state: % to %', OLD.state, NEW.state
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$
""",
    "CREATE TRIGGER decision_transition BEFORE UPDATE OF state ON reviews_decision "
    "FOR EACH ROW EXECUTE FUNCTION decision_transition_refuse()",
    f"""
CREATE FUNCTION signoff_newest_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF {_NEWER} THEN
        RAISE EXCEPTION 'a sign-off is given on the newest revision only'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$
""",
    "CREATE TRIGGER signoff_newest BEFORE INSERT ON reviews_signoff "
    "FOR EACH ROW EXECUTE FUNCTION signoff_newest_refuse()",
)
SQLITE = (
    "CREATE TRIGGER decision_transition BEFORE UPDATE OF state ON reviews_decision "
    f"WHEN OLD.state <> NEW.state AND NOT ({_ALLOWED}) "
    "BEGIN SELECT RAISE(ABORT, 'no act leads a decision to this state'); END",
    f"CREATE TRIGGER signoff_newest BEFORE INSERT ON reviews_signoff WHEN {_NEWER} "
    "BEGIN SELECT RAISE(ABORT, 'a sign-off is given on the newest revision only'); END",
)


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Protect the new tables, and let the database refuse what no act makes."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    statements = append_only.POSTGRESQL if on_postgresql else append_only.SQLITE
    rebuilt = () if on_postgresql else ("reviews_signoff",)
    for table in (*NEW_TABLES, *rebuilt):
        for statement in statements:
            schema_editor.execute(statement.format(table=table), params=None)
    for statement in POSTGRESQL if on_postgresql else SQLITE:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0005_draft"),
    ]

    operations = [
        migrations.CreateModel(
            name="Activation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("review", "Review"), ("emergency", "Emergency"), ("rollback", "Rollback")],
                        max_length=12,
                    ),
                ),
                ("statement", models.TextField()),
                ("subject", models.CharField(max_length=71)),
                ("trial", models.CharField(max_length=64)),
                ("topology", models.CharField(max_length=512)),
                ("rank_map_digest", models.CharField(max_length=71)),
                ("rollback", models.CharField(blank=True, max_length=512)),
                ("activated_at", models.DateTimeField()),
                ("valid_until", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Countersignature",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("team", models.CharField(blank=True, max_length=40)),
                ("signed_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Delegation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("reason", models.TextField()),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="DelegationEnd",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ended_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Emergency",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("incident", models.CharField(max_length=120)),
                ("failing_gates", models.TextField()),
            ],
            options={
                "verbose_name_plural": "emergencies",
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="IdentityReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slot", models.CharField(max_length=128)),
                ("matches", models.BooleanField()),
                ("differences", models.TextField(blank=True)),
                ("reported_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="ItemOpening",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.CharField(max_length=320)),
                ("opened_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="PointSettlement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("note", models.TextField()),
                ("settled_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Proposal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("policy", "Change of policy"),
                            ("lift_objection", "Lifting an objection"),
                            ("waiver", "Waiver"),
                            ("emergency", "Emergency"),
                            ("revocation", "Revocation"),
                            ("rollback", "Rollback"),
                        ],
                        max_length=24,
                    ),
                ),
                ("reason", models.TextField()),
                ("team", models.CharField(blank=True, max_length=40)),
                ("proposed_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="ProposalWithdrawal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField()),
                ("withdrawn_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Reproduction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("plan_id", models.CharField(max_length=71)),
                ("is_same", models.BooleanField()),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="ReReview",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField()),
                ("up_to", models.BigIntegerField()),
                ("asked_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Retraction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content_id", models.CharField(max_length=71)),
                ("is_trial", models.BooleanField()),
                ("reason", models.TextField()),
                ("retracted_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="ReviewBasis",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("evidence_until", models.DateTimeField(null=True)),
                ("rank_map_digest", models.CharField(blank=True, max_length=71)),
            ],
            options={
                "verbose_name_plural": "review bases",
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="SignOffCarry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", models.CharField(max_length=71)),
                ("entry", models.BigIntegerField()),
                ("carried_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "sign-off carries",
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="SignOffPoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "kind",
                    models.CharField(choices=[("condition", "Condition"), ("follow_up", "Follow-up")], max_length=12),
                ),
                ("text", models.TextField()),
            ],
            options={
                "ordering": ("signoff", "number"),
            },
        ),
        migrations.CreateModel(
            name="TeamScope",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("team", models.CharField(max_length=40)),
                ("digest", models.CharField(max_length=71)),
                ("is_touched", models.BooleanField()),
                ("identity_keys", models.PositiveIntegerField()),
                ("gates", models.PositiveIntegerField()),
            ],
            options={
                "ordering": ("basis", "team"),
            },
        ),
        migrations.CreateModel(
            name="Waiver",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("trial", models.CharField(max_length=64)),
                ("gate", models.CharField(max_length=64)),
                ("reason", models.TextField()),
                ("granted_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.RemoveConstraint(
            model_name="decision",
            name="decision_state_known",
        ),
        migrations.RemoveConstraint(
            model_name="signoff",
            name="signoff_meaning_known",
        ),
        migrations.AddField(
            model_name="signoff",
            name="opened",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.blob"
            ),
        ),
        migrations.AddField(
            model_name="signoff",
            name="rollback",
            field=models.CharField(blank=True, default="", max_length=512),
        ),
        migrations.AddField(
            model_name="signoff",
            name="waivers",
            field=models.CharField(blank=True, default="", max_length=71),
        ),
        migrations.AlterField(
            model_name="decision",
            name="state",
            field=models.CharField(
                choices=[
                    ("DRAFT", "Draft"),
                    ("EVALUATING", "Evaluating"),
                    ("EVALUATION_FAILED", "Evaluation failed"),
                    ("IN_REVIEW", "In review"),
                    ("EFFECTIVE", "Effective"),
                    ("STALE", "Stale"),
                    ("EXPIRED", "Expired"),
                    ("CONTESTED", "Contested"),
                    ("EMERGENCY", "Emergency"),
                    ("WITHDRAWN", "Withdrawn"),
                    ("REJECTED", "Rejected"),
                    ("SUPERSEDED", "Superseded"),
                    ("REVOKED", "Revoked"),
                    ("CLOSED", "Closed without a selection"),
                ],
                max_length=24,
            ),
        ),
        migrations.AlterField(
            model_name="signoff",
            name="meaning",
            field=models.CharField(
                choices=[
                    ("approve", "Approve"),
                    ("approve_with_conditions", "Approve with conditions"),
                    ("accept_risk", "Accept the risk"),
                    ("request_changes", "Request changes"),
                    ("object", "Object"),
                    ("reject", "Reject"),
                ],
                max_length=24,
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        [
                            "DRAFT",
                            "EVALUATING",
                            "EVALUATION_FAILED",
                            "IN_REVIEW",
                            "EFFECTIVE",
                            "STALE",
                            "EXPIRED",
                            "CONTESTED",
                            "EMERGENCY",
                            "WITHDRAWN",
                            "REJECTED",
                            "SUPERSEDED",
                            "REVOKED",
                            "CLOSED",
                        ],
                    )
                ),
                name="decision_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "EFFECTIVE")),
                fields=("workspace", "slot"),
                name="decision_one_effective_per_slot",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "EMERGENCY")),
                fields=("workspace", "slot"),
                name="decision_one_emergency_per_slot",
            ),
        ),
        migrations.AddField(
            model_name="activation",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="activations", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="activation",
            name="requirements",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.blob"),
        ),
        migrations.AddField(
            model_name="activation",
            name="revision",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="activations", to="reviews.revision"
            ),
        ),
        migrations.AddField(
            model_name="countersignature",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="delegation",
            name="giver",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="delegations_given",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="delegation",
            name="taker",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="delegations_taken",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="delegation",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="delegations", to="reviews.team"
            ),
        ),
        migrations.AddField(
            model_name="delegation",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="delegations", to="reviews.workspace"
            ),
        ),
        migrations.AddField(
            model_name="signoff",
            name="delegation",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="signoffs", to="reviews.delegation"
            ),
        ),
        migrations.AddConstraint(
            model_name="signoff",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "meaning__in",
                        ["approve", "approve_with_conditions", "accept_risk", "request_changes", "object", "reject"],
                    )
                ),
                name="signoff_meaning_known",
            ),
        ),
        migrations.AddField(
            model_name="delegationend",
            name="delegation",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="end", to="reviews.delegation"
            ),
        ),
        migrations.AddField(
            model_name="delegationend",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="emergency",
            name="activation",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="emergency", to="reviews.activation"
            ),
        ),
        migrations.AddField(
            model_name="identityreport",
            name="decision",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="identity_reports",
                to="reviews.decision",
            ),
        ),
        migrations.AddField(
            model_name="identityreport",
            name="identity",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.blob"),
        ),
        migrations.AddField(
            model_name="identityreport",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="identityreport",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="identity_reports", to="reviews.workspace"
            ),
        ),
        migrations.AddField(
            model_name="itemopening",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="itemopening",
            name="revision",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="openings", to="reviews.revision"
            ),
        ),
        migrations.AddField(
            model_name="pointsettlement",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="proposal",
            name="body",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.blob"),
        ),
        migrations.AddField(
            model_name="proposal",
            name="decision",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="proposals", to="reviews.decision"
            ),
        ),
        migrations.AddField(
            model_name="proposal",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="proposals", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="proposal",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="proposals", to="reviews.workspace"
            ),
        ),
        migrations.AddField(
            model_name="emergency",
            name="proposal",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.proposal"
            ),
        ),
        migrations.AddField(
            model_name="countersignature",
            name="proposal",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="countersignature", to="reviews.proposal"
            ),
        ),
        migrations.AddField(
            model_name="proposalwithdrawal",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="proposalwithdrawal",
            name="proposal",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="withdrawal", to="reviews.proposal"
            ),
        ),
        migrations.AddField(
            model_name="reproduction",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="reproduction",
            name="revision",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="reproductions", to="reviews.revision"
            ),
        ),
        migrations.AddField(
            model_name="rereview",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="rereview",
            name="revision",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="re_reviews", to="reviews.revision"
            ),
        ),
        migrations.AddField(
            model_name="rereview",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="re_reviews", to="reviews.team"
            ),
        ),
        migrations.AddField(
            model_name="retraction",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="retraction",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="retractions", to="reviews.workspace"
            ),
        ),
        migrations.AddField(
            model_name="reviewbasis",
            name="planned",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="basis", to="reviews.plannedrevision"
            ),
        ),
        migrations.AddField(
            model_name="signoffcarry",
            name="revision",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="carried_signoffs", to="reviews.revision"
            ),
        ),
        migrations.AddField(
            model_name="signoffcarry",
            name="signoff",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="carries", to="reviews.signoff"
            ),
        ),
        migrations.AddField(
            model_name="signoffpoint",
            name="signoff",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="points", to="reviews.signoff"
            ),
        ),
        migrations.AddField(
            model_name="pointsettlement",
            name="point",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="settlement", to="reviews.signoffpoint"
            ),
        ),
        migrations.AddField(
            model_name="teamscope",
            name="basis",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="scopes", to="reviews.reviewbasis"
            ),
        ),
        migrations.AddField(
            model_name="teamscope",
            name="items",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.blob"),
        ),
        migrations.AddField(
            model_name="waiver",
            name="decision",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="waivers", to="reviews.decision"
            ),
        ),
        migrations.AddField(
            model_name="waiver",
            name="owner",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="waiver",
            name="proposal",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.proposal"
            ),
        ),
        migrations.AddConstraint(
            model_name="activation",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["review", "emergency", "rollback"])), name="activation_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="activation",
            constraint=models.CheckConstraint(
                condition=models.Q(("statement", ""), _negated=True), name="activation_statement_given"
            ),
        ),
        migrations.AddConstraint(
            model_name="activation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("valid_until__isnull", True), ("valid_until__gt", models.F("activated_at")), _connector="OR"
                ),
                name="activation_ends_after_start",
            ),
        ),
        migrations.AddConstraint(
            model_name="delegation",
            constraint=models.CheckConstraint(
                condition=models.Q(("ends_at__gt", models.F("starts_at"))), name="delegation_ends_after_start"
            ),
        ),
        migrations.AddConstraint(
            model_name="delegation",
            constraint=models.CheckConstraint(
                condition=models.Q(("giver", models.F("taker")), _negated=True), name="delegation_to_somebody_else"
            ),
        ),
        migrations.AddConstraint(
            model_name="delegation",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="delegation_reason_given"
            ),
        ),
        migrations.AddConstraint(
            model_name="itemopening",
            constraint=models.UniqueConstraint(fields=("revision", "person", "item"), name="opening_once"),
        ),
        migrations.AddConstraint(
            model_name="proposal",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind__in", ["policy", "lift_objection", "waiver", "emergency", "revocation", "rollback"])
                ),
                name="proposal_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="proposal",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="proposal_reason_given"
            ),
        ),
        migrations.AddConstraint(
            model_name="emergency",
            constraint=models.CheckConstraint(
                condition=models.Q(("incident", ""), _negated=True), name="emergency_incident_given"
            ),
        ),
        migrations.AddConstraint(
            model_name="rereview",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="re_review_reason_given"
            ),
        ),
        migrations.AddConstraint(
            model_name="retraction",
            constraint=models.UniqueConstraint(fields=("workspace", "content_id"), name="retraction_once"),
        ),
        migrations.AddConstraint(
            model_name="retraction",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="retraction_reason_given"
            ),
        ),
        migrations.AddConstraint(
            model_name="signoffcarry",
            constraint=models.UniqueConstraint(fields=("signoff", "revision"), name="carry_once"),
        ),
        migrations.AddConstraint(
            model_name="signoffpoint",
            constraint=models.UniqueConstraint(fields=("signoff", "number"), name="point_number_once"),
        ),
        migrations.AddConstraint(
            model_name="signoffpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["condition", "follow_up"])), name="point_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="signoffpoint",
            constraint=models.CheckConstraint(condition=models.Q(("text", ""), _negated=True), name="point_text_given"),
        ),
        migrations.AddConstraint(
            model_name="pointsettlement",
            constraint=models.CheckConstraint(
                condition=models.Q(("note", ""), _negated=True), name="settlement_note_given"
            ),
        ),
        migrations.AddConstraint(
            model_name="teamscope",
            constraint=models.UniqueConstraint(fields=("basis", "team"), name="team_scope_once"),
        ),
        migrations.AddConstraint(
            model_name="waiver",
            constraint=models.CheckConstraint(
                condition=models.Q(("ends_at__gt", models.F("granted_at"))), name="waiver_ends_after_grant"
            ),
        ),
        migrations.AddConstraint(
            model_name="waiver",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="waiver_reason_given"
            ),
        ),
        migrations.RunPython(lay_triggers, migrations.RunPython.noop),
    ]
