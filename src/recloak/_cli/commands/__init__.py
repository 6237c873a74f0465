"""One file per command, named after it; the file's ``command`` is the click command."""
