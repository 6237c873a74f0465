"""``python -m recloak``: the command line, for where the script ``recloak`` is not on the path."""

from recloak.cli.main import main

if __name__ == "__main__":
    main()
