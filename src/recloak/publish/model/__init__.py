"""The values of publishing, inside (between the steps) and outside (what a stranger is given).

Makers produce them; the verifier and the attackers may import this module and nothing else of the room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recloak.lazy import import_on_use

if TYPE_CHECKING:
    from recloak.publish.model.public import (
        CARD,
        FORMAT,
        MANIFEST,
        TABLES,
        VERSION,
        Diversity,
        Verdict,
        part_name,
        sealed,
        table_names,
    )
    from recloak.publish.model.steps import Grouping, Padding

__all__ = [
    "CARD",
    "FORMAT",
    "MANIFEST",
    "TABLES",
    "VERSION",
    "Diversity",
    "Grouping",
    "Padding",
    "Verdict",
    "part_name",
    "sealed",
    "table_names",
]

import_on_use(
    __name__,
    {
        "CARD": "public",
        "Diversity": "public",
        "FORMAT": "public",
        "Grouping": "steps",
        "MANIFEST": "public",
        "Padding": "steps",
        "TABLES": "public",
        "VERSION": "public",
        "Verdict": "public",
        "part_name": "public",
        "sealed": "public",
        "table_names": "public",
    },
)
