"""Contest fidelity: whether people who compare algorithms on a release reach the conclusions of the original."""
