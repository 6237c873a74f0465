"""The public names, listed once: type checkers read this file, and so does ``__init__.py`` when it looks a name up."""

from recloak import contest as contest
from recloak import mentions as mentions
from recloak import related as related
from recloak._attacks.attack import Attack as Attack
from recloak._attacks.audit_result import Audit as Audit
from recloak._attacks.gate import Gate as Gate
from recloak._attacks.model import Outcome as Outcome
from recloak._core.errors import InputError as InputError
from recloak._core.errors import InternalError as InternalError
from recloak._core.errors import MissingExtraError as MissingExtraError
from recloak._core.errors import OptionError as OptionError
from recloak._core.errors import RecloakError as RecloakError
from recloak._core.errors import RefusedError as RefusedError
from recloak._core.errors import SourceError as SourceError
from recloak._core.intervals import Share as Share
from recloak._core.progress import progress as progress
from recloak._evaluation.fidelity.model import Fidelity as Fidelity
from recloak._evaluation.frontier import Frontier as Frontier
from recloak._evaluation.model import Evaluation as Evaluation
from recloak._library.audit_release import audit as audit
from recloak._library.compare_leaderboards import fidelity as fidelity
from recloak._library.compare_releases import frontier as frontier
from recloak._library.evaluate_release import evaluate as evaluate
from recloak._library.expand_release import expand as expand
from recloak._library.inspect_source import Inspection as Inspection
from recloak._library.inspect_source import inspect as inspect
from recloak._library.load_release import LoadedRelease as LoadedRelease
from recloak._library.load_release import load as load
from recloak._library.publish_source import publish as publish
from recloak._library.sources import Source as Source
from recloak._library.sources import read as read
from recloak._library.synthetic_data import synth as synth
from recloak._library.verify_release import verify as verify
from recloak._policy.policy import Policy as Policy
from recloak._ratings.exposure import Exposure as Exposure
from recloak._ratings.ids import IdMap as IdMap
from recloak._ratings.model import Ratings as Ratings
from recloak._ratings.model import Scale as Scale
from recloak._ratings.reader import Reader as Reader
from recloak._ratings.summary import Summary as Summary
from recloak._ratings.synthetic.synthetic_files import SyntheticFiles as SyntheticFiles
from recloak._related.methods import Method as Method
from recloak._releases.model.manifest import Facts as Facts
from recloak._releases.model.modes import MODES as MODES
from recloak._releases.model.modes import Mode as Mode
from recloak._releases.model.release_format import Diversity as Diversity
from recloak._releases.model.release_format import Verdict as Verdict
from recloak._releases.model.steps import Grouping as Grouping
from recloak._releases.model.steps import Padding as Padding
from recloak._releases.predictors import PREDICTORS as PREDICTORS
from recloak._releases.predictors import Predictor as Predictor
from recloak._releases.release import Release as Release

__version__: str
__all__: list[str]
