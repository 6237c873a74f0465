"""The values of publishing, inside (between the steps) and outside (what a stranger is given).

Makers produce them; the verifier and the attackers may import this module and nothing else of the room.
"""
