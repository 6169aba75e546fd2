"""The kinds of acts that take two persons, by name."""

from reviews.services.emergencies import EMERGENCY
from reviews.services.liftings import LIFTING
from reviews.services.policy_changes import POLICY_CHANGE
from reviews.services.revocations import REVOCATION
from reviews.services.rollbacks import ROLLBACK
from reviews.services.two_persons import Handler
from reviews.services.waivers import WAIVER

HANDLERS: dict[str, Handler] = {
    str(handler.kind): handler for handler in (POLICY_CHANGE, LIFTING, WAIVER, EMERGENCY, REVOCATION, ROLLBACK)
}
