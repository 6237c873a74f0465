"""A certificate as one HTML page that prints on one sheet: it loads nothing and runs no script."""

from functools import cache

import jinja2

from recloak._certificate.content import Certificate


def certificate_html(certificate: Certificate) -> str:
    """Return a certificate as HTML."""
    return _template().render(one=certificate)


@cache
def _template() -> jinja2.Template:
    loader, strict = jinja2.PackageLoader("recloak._certificate"), jinja2.StrictUndefined
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=strict, trim_blocks=True, lstrip_blocks=True)
    return pages.get_template("certificate.html")
