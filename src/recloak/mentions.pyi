"""The names of ``recloak.mentions``, listed once: for type checkers, and for ``mentions.py``."""

from recloak._library.mention_exposure import exposure as exposure
from recloak._library.mention_tools import Advisor as Advisor
from recloak._library.mention_tools import advise as advise
from recloak._library.mention_tools import defend as defend
from recloak._library.mention_tools import find as find
from recloak._library.mention_tools import identify as identify
from recloak._library.mention_tools import prepare_advisor as prepare_advisor
from recloak._mentions.advisor import Advice as Advice
from recloak._mentions.advisor import DraftChange as DraftChange
from recloak._mentions.defences import Defence as Defence
from recloak._mentions.defences import Defences as Defences
from recloak._mentions.defences import DefenceTrial as DefenceTrial
from recloak._mentions.draft_question import Said as Said
from recloak._mentions.found_mentions import FoundMentions as FoundMentions
from recloak._mentions.model import Bin as Bin
from recloak._mentions.model import Identification as Identification
from recloak._mentions.model import MentionIntake as MentionIntake
from recloak._mentions.model import OpenSet as OpenSet
from recloak._mentions.model import Panel as Panel
from recloak._mentions.model import Rates as Rates
from recloak._mentions.own_exposure import OwnExposure as OwnExposure
from recloak._mentions.own_exposure import TellingMention as TellingMention

__all__: list[str]
