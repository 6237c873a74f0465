"""A certificate as a PDF of one page; the same certificate gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from recloak._certificate.content import Certificate
from recloak._core.errors import InputError
from recloak._core.extras import require_extra

_TONES = {"good": "#1a7f37", "caution": "#8a5a00", "alert": "#b42318"}
_MARGIN = 14 * 72 / 25.4  # mm in points
_LABEL = 70.0  # points of the first column


def write_pdf(certificate: Certificate, path: Path) -> None:
    """Write a certificate as PDF; raise InputError for letters that the built-in fonts do not have."""
    require_extra("certificate", "reportlab", need="a certificate as PDF")
    from reportlab.lib.pagesizes import A4  # noqa: PLC0415 (optional)
    from reportlab.pdfgen.canvas import Canvas  # noqa: PLC0415 (likewise)
    from reportlab.platypus import KeepInFrame  # noqa: PLC0415 (likewise)

    width, height = A4[0] - 2 * _MARGIN, A4[1] - 2 * _MARGIN
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setTitle("Certificate of a release")
    content = KeepInFrame(width, height, list(_blocks(certificate, width)), mode="shrink")
    content.wrapOn(canvas, width, height)
    content.drawOn(canvas, _MARGIN, A4[1] - _MARGIN - content.height)
    canvas.save()


def _blocks(one: Certificate, width: float) -> Iterator[Any]:
    yield _paragraph("recloak", 8, "#57606a")
    yield _paragraph("<b>Certificate of a release</b>", 15)
    yield _paragraph(f"<b>{_safe(one.headline)}</b>", 10, _TONES[one.tone], before=4)
    yield _heading("What was released")
    digests = (("manifest.json", "", one.manifest_sha256), *one.files)
    hashes = [f'<font face="Courier" size="6.5">{_safe(digest)}</font> {_safe(name)}' for name, _, digest in digests]
    yield _grid([*_safe_rows(one.released), ("SHA-256", "<br/>".join(hashes))], (_LABEL,), width)
    yield _heading("What was proved")
    yield from map(_bullet, one.proved)
    if one.claimed:
        yield _heading("Claimed by the publisher, not checked here")
        yield from map(_bullet, one.claimed)
    yield _heading("What was attacked")
    yield _grid(
        [("Criterion", "Verdict", "Strongest attack"), *_safe_rows(one.attacked, bold=1)], (_LABEL, _LABEL), width
    )
    yield _paragraph(_safe(one.attacked_note), 8)
    yield _heading("What is not covered")
    yield from map(_bullet, one.not_covered)
    yield _heading("Date and signature")
    yield _grid(_safe_rows(one.dates), (_LABEL,), width)
    how = (
        "Check this page and the release: recloak verify DIR --signature THIS-FILE.sig --signer OWNER.pub"
        if one.signed
        else "This page is not signed: anybody could have changed it. Check the release: recloak verify DIR"
    )
    yield _paragraph(how, 7.5, "#57606a", before=3)


def _safe_rows(rows: tuple[tuple[str, ...], ...], bold: int | None = None) -> list[tuple[str, ...]]:
    return [
        tuple(f"<b>{_safe(cell)}</b>" if place == bold else _safe(cell) for place, cell in enumerate(row))
        for row in rows
    ]


def _safe(text: str) -> str:
    """Return a text without markup; raise InputError for letters that would print as boxes."""
    plain = text.replace("\N{NO-BREAK SPACE}", " ")
    try:
        plain.encode("cp1252")
    except UnicodeEncodeError as error:
        letter = plain[error.start]
        raise InputError(f"a PDF has no letter {letter!r}; write the certificate as .html and print that") from None
    return escape(plain)


def _heading(text: str) -> Any:
    return _paragraph(f"<b>{text}</b>", 9, before=6)


def _bullet(text: str) -> Any:
    return _paragraph(f"<bullet>&bull;</bullet>{_safe(text)}", 8, indent=9)


def _paragraph(text: str, size: float, colour: str = "#1b1f24", *, before: float = 0, indent: float = 0) -> Any:
    from reportlab.lib.colors import HexColor  # noqa: PLC0415 (optional)
    from reportlab.lib.styles import ParagraphStyle  # noqa: PLC0415 (likewise)
    from reportlab.platypus import Paragraph  # noqa: PLC0415 (likewise)

    style = ParagraphStyle(
        "text", fontName="Helvetica", fontSize=size, leading=size * 1.28, textColor=HexColor(colour),
        spaceBefore=before, leftIndent=indent,
    )  # fmt: skip
    return Paragraph(text, style)


def _grid(rows: list[tuple[str, ...]], first: tuple[float, ...], width: float) -> Any:
    """Return a table with lines between rows; the last column takes what the first ones leave."""
    from reportlab.lib.colors import HexColor  # noqa: PLC0415 (optional)
    from reportlab.platypus import Table  # noqa: PLC0415 (likewise)

    cells = [
        [_paragraph(cell, 8, "#57606a" if not place else "#1b1f24") for place, cell in enumerate(row)] for row in rows
    ]
    table = Table(cells, colWidths=[*first, width - sum(first)], spaceBefore=1)
    line = HexColor("#d0d7de")
    table.setStyle([
        ("LINEABOVE", (0, 0), (-1, -1), 0.5, line), ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), 0), ("TOPPADDING", (0, 0), (-1, -1), 1.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
    ])  # fmt: skip
    return table
