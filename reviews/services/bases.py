"""Works out, once a revision has its plan, what each team owns in it and how long its evidence holds."""

from planner.canonical import canonical_bytes
from reviews.blobs import blob_keep, blob_read
from reviews.models import PlannedRevision, ReviewBasis, TeamScope
from reviews.planning import identity_tree, plan_tree
from reviews.policies.document import read_policy
from reviews.policies.scope import evidence_until, team_scopes


def basis_create(planned: PlannedRevision) -> ReviewBasis:
    """Store the limits of a planned revision and the scope of every team of its policy.

    Raises:
        TamperedError: a document, the plan or the policy is not what was stored.
    """
    revision = planned.revision
    raw = blob_read(planned.plan.blob_id, "plan")
    plan = plan_tree(raw)
    selected = plan["selected"]
    basis = ReviewBasis.objects.create(
        planned=planned,
        evidence_until=evidence_until(plan),
        rank_map_digest=selected["rank_map_digest"] if selected else "",
    )
    scopes = team_scopes(
        document=read_policy(blob_read(revision.policy.blob_id, "policy")),
        policy_id=revision.policy.content_id,
        identity=identity_tree(blob_read(revision.contract.blob_id, "contract")),
        plan=raw,
    )
    TeamScope.objects.bulk_create(
        TeamScope(
            basis=basis,
            team=scope.team,
            digest=scope.digest,
            is_touched=scope.is_touched,
            identity_keys=scope.identity_keys,
            gates=scope.gates,
            items_id=blob_keep(canonical_bytes(dict(scope.items))).sha256,
        )
        for scope in scopes
    )
    return basis
