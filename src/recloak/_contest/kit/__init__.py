"""Files that participants are given as they stand: a validator and loaders, both without recloak."""
