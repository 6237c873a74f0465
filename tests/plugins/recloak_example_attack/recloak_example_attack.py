"""An attack of its own package: somebody who was told the target's group names one of its members."""

from recloak import Attack


def run(given):
    release, targets = given.release.public, given.targets()
    chances = 1 / release.weights[release.owner[targets]]
    return given.found(right=chances.sum(), tried=len(targets), most=1 / given.k)


ATTACK = Attack(
    name="told-group",
    kind="identifies",
    title="A member of the group that somebody told",
    short="told the group",
    attacker="was told the target's group, and names one of its members",
    unit="targets named correctly",
    baseline="naming somebody at random",
    criterion="singling-out",
    run=run,
)
