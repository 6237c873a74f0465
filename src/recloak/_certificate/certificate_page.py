"""A certificate as one HTML page that prints on one sheet: it loads nothing and runs no script."""

from functools import cache

import jinja2

from recloak._certificate.content import Certificate
from recloak._report.page import template_of


def certificate_html(certificate: Certificate) -> str:
    """Return a certificate as HTML."""
    return _template().render(one=certificate)


@cache
def _template() -> jinja2.Template:
    return template_of("recloak._certificate", "certificate.html")
