"""The functions behind ``import recloak``: each checks what it was given, calls one room, and returns a value."""
