"""The commands of ``recloak contest``, one file each."""
