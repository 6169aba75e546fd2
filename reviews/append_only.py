"""Which tables only ever grow, and how to see that the database refuses anything else.

The triggers themselves are laid by migrations. They stop mistakes and ordinary accounts; the owner of a table can
switch them off, which is why the audit chain makes tampering detectable as well.
"""

from django.db.backends.base.base import BaseDatabaseWrapper

APPEND_ONLY_TABLES = (
    "reviews_activation",
    "reviews_activationfootprint",
    "reviews_attachment",
    "reviews_attachmentpiece",
    "reviews_auditentry",
    "reviews_blob",
    "reviews_checkpoint",
    "reviews_comment",
    "reviews_cosignature",
    "reviews_countedtrial",
    "reviews_countersignature",
    "reviews_delegation",
    "reviews_delegationend",
    "reviews_diagnosis",
    "reviews_diagnosisfile",
    "reviews_emergency",
    "reviews_identityreport",
    "reviews_intakereceipt",
    "reviews_itemopening",
    "reviews_logtile",
    "reviews_mention",
    "reviews_plan",
    "reviews_plannedrevision",
    "reviews_pointsettlement",
    "reviews_policy",
    "reviews_proposal",
    "reviews_proposallapse",
    "reviews_proposalwithdrawal",
    "reviews_reproduction",
    "reviews_rereview",
    "reviews_retraction",
    "reviews_reviewbasis",
    "reviews_revision",
    "reviews_signoff",
    "reviews_signoffcarry",
    "reviews_signoffpoint",
    "reviews_signoffwithdrawal",
    "reviews_storeddocument",
    "reviews_teamscope",
    "reviews_thread",
    "reviews_threadresolution",
    "reviews_waiver",
)

_GUARDED = {
    "postgresql": """
        SELECT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE t.tgname LIKE %s AND t.tgenabled = 'A'
        GROUP BY c.relname HAVING count(*) = 2
    """,
    "sqlite": """
        SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s
        GROUP BY tbl_name HAVING count(*) = 2
    """,
}


def guarded_tables(connection: BaseDatabaseWrapper) -> set[str]:
    """Return the tables whose rows the database protects.

    On PostgreSQL one trigger refuses UPDATE and DELETE row by row and one refuses TRUNCATE, both also for sessions in
    replica mode. SQLite has no TRUNCATE; one trigger refuses UPDATE, one DELETE.
    """
    with connection.cursor() as cursor:
        cursor.execute(_GUARDED[connection.vendor], ["append_only_%"])
        return {str(row[0]) for row in cursor.fetchall()}
