"""``python -m recloak``: the command line, for where the script ``recloak`` is not on the path."""

from recloak._cli.main import main

if __name__ == "__main__":
    main()
