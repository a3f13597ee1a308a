"""Follow the regularized leader (Holland 2022, eq. 14); Euclidean and unconstrained it is dual averaging."""

from typing import NamedTuple

import numpy as np

from surefoot import parts
from surefoot.checks import part
from surefoot.mirror_maps import Euclidean
from surefoot.parts import Array, Memory
from surefoot.step_sizes import step
from surefoot.weights import weight


class FollowTheRegularizedLeader(NamedTuple):
    """h_{t+1} = argmin_{h in H} psi_{t+1}(h) + sum_{i<=t} alpha_i <g_i, h>, psi_t = D_Phi(.; h_1) / beta_t.

    step_size: the rule beta_t, not increasing where regret bounds are wanted. mirror_map: Phi and its domain H.
    """

    step_size: parts.StepSize
    mirror_map: parts.MirrorMap = Euclidean()

    def check(self) -> None:
        """Both parts are well formed."""
        part("step_size", self.step_size, "at")
        part("mirror_map", self.mirror_map, "to_primal")

    def start(self, h1: Array) -> Memory:
        """Remember where h_1 lies in the dual space, and the sum of the weighted gradients."""
        return self.mirror_map.to_dual(h1), np.zeros_like(h1)

    def move(self, t: int, h: Array, g: Array, weights: parts.Weights, memory: Memory) -> tuple[Array, Memory]:
        """Minimize the regularized sum: one point of the dual space, brought back to H."""
        origin, total = memory
        total = total + weight(weights, t) * g
        return self.mirror_map.to_primal(origin - step(self.step_size, t + 1) * total), (origin, total)
