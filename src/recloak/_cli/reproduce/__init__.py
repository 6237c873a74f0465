"""The commands of ``recloak reproduce``, one file per paper."""
