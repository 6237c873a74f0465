"""The label-based attack: the candidates have every known item with the known rating.

Definition 3.2 of Chang et al. Averaging removes the true labels, so exact agreement says little about a release: a
success of 0 % there proves nothing. The tolerant attacker accepts labels within one step of the scale.
"""

from recloak._attacks.attack import WITH_NUMBERS
from recloak._attacks.attack_input import naming_attack
from recloak._attacks.clue_matching import match
from recloak._attacks.model import Clues, Hits, Public, most_named, step_of
from recloak._attacks.structure import by_containment


def label(public: Public, clues: Clues) -> Hits:
    """Attack by exact agreement of every known rating."""
    return by_containment(match(public, clues, 0.0), most_named(public))


def label_tolerant(public: Public, clues: Clues) -> Hits:
    """Attack by agreement within one step of the scale."""
    return by_containment(match(public, clues, step_of(public.scale)), most_named(public))


ATTACKS = (
    naming_attack(
        label,
        name="label",
        title="Exact ratings (label-based)",
        short="exact ratings",
        attacker="lists the released users who have every known item with exactly the known rating, and guesses among "
        "them",
        values=WITH_NUMBERS,
        order=20,
    ),
    naming_attack(
        label_tolerant,
        name="label-tolerant",
        title="Ratings within a step",
        short="within a step",
        attacker="lists the released users whose ratings lie within one step of every known one, and guesses among "
        "them",
        values=WITH_NUMBERS,
        order=30,
    ),
)
