"""The commands of ``recloak related``, one file each; names that begin with an underscore are shared."""
