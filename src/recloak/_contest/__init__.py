"""Contests on a release: the task, hidden answers, scores, and a board that tells no one's rating."""
