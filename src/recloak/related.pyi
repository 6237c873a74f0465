"""The names of ``recloak.related``, listed once: for type checkers, and for ``related.py``."""

from recloak._attacks.passive import CurvePoint as CurvePoint
from recloak._attacks.passive import PassiveCurve as PassiveCurve
from recloak._attacks.yields import BeliefCheck as BeliefCheck
from recloak._attacks.yields import Observation as Observation
from recloak._attacks.yields import YieldAt as YieldAt
from recloak._evaluation.list_advice import AdvisedSetting as AdvisedSetting
from recloak._evaluation.list_advice import ListAdvice as ListAdvice
from recloak._library.related_advice import advise as advise
from recloak._library.related_attack import ObserverResult as ObserverResult
from recloak._library.related_attack import PassiveAttack as PassiveAttack
from recloak._library.related_attack import attack as attack
from recloak._library.related_checks import verify as verify
from recloak._library.related_lists import build as build
from recloak._library.related_lists import export as export
from recloak._library.related_lists import publish as publish
from recloak._library.related_report import report as report
from recloak._library.related_trials import simulate as simulate
from recloak._library.related_upkeep import forget as forget
from recloak._library.related_upkeep import prune as prune
from recloak._library.related_upkeep import readmit as readmit
from recloak._related.history import History as History
from recloak._related.history import ListChanges as ListChanges
from recloak._related.history import ReleaseRecord as ReleaseRecord
from recloak._related.history_checks import Forgotten as Forgotten
from recloak._related.history_checks import Pruned as Pruned
from recloak._related.lists import RelatedLists as RelatedLists
from recloak._related.measures import Cost as Cost
from recloak._related.methods import METHODS as METHODS
from recloak._related.model import Residual as Residual
from recloak._related.operator_view import OperatorView as OperatorView
from recloak._related.publish_lists import PublishedRelease as PublishedRelease
from recloak._related.simulation import SimulatedRelease as SimulatedRelease
from recloak._related.simulation import Simulation as Simulation
from recloak._related.verifier import Coverage as Coverage
from recloak._related.verifier import Finding as Finding
from recloak._related.verifier import HistoryVerdict as HistoryVerdict
from recloak._related.verifier import Unsupported as Unsupported

__all__: list[str]
