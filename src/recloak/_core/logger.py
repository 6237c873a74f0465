"""The logger of the library: silent unless the program that uses it, or the command line, adds a handler."""

import logging

log = logging.getLogger("recloak")
log.addHandler(logging.NullHandler())
