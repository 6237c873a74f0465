"""What every room stands on: errors, options, randomness, progress, files, threads."""
