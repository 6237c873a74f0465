"""Public mentions: find them in text, re-identify who wrote them, defend, and advise the writer (paper 004)."""
