"""Online learners, one algorithm a file."""

from surefoot.learners.follow_the_regularized_leader import FollowTheRegularizedLeader
from surefoot.learners.mirror_descent import MirrorDescent

__all__ = ["FollowTheRegularizedLeader", "MirrorDescent"]
