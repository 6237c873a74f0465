"""Related-item lists over time, published so that what moves in them tells little about anyone (paper 003)."""
