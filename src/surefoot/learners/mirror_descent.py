"""Mirror descent (Holland 2022, eq. 16); with the Euclidean map it is projected SGD (Holland 2022, eq. 17)."""

from math import inf
from typing import NamedTuple

from surefoot import parts
from surefoot.checks import part, positive
from surefoot.mirror_maps import Euclidean
from surefoot.parts import Array, Memory
from surefoot.step_sizes import step


class MirrorDescent(NamedTuple):
    """h_{t+1} = argmin_{h in H} <g_t, h> + D_Phi(h; h_t) / beta_t.

    step_size: the rule beta_t. mirror_map: Phi and its domain H. longest: a limit on the length of a step in the dual
    space, for functions that bend ever more, such as exponentials.
    """

    step_size: parts.StepSize
    mirror_map: parts.MirrorMap = Euclidean()
    longest: float = inf

    def check(self) -> None:
        """Both parts are well formed."""
        part("step_size", self.step_size, "at")
        part("mirror_map", self.mirror_map, "to_primal")
        positive("longest", self.longest, infinite=True)

    def start(self, h1: Array) -> Memory:
        """Nothing to remember: h_t is all there is."""
        return ()

    def move(self, t: int, h: Array, g: Array, weights: parts.Weights, memory: Memory) -> tuple[Array, Memory]:
        """Walk in the dual space, come back to H (Holland 2022, eq. 28 and 29)."""
        beta = step(self.step_size, t)
        if self.longest < inf:
            beta = min(beta, self.longest / max(self.mirror_map.dual_norm(g), 1e-300))
        return self.mirror_map.to_primal(self.mirror_map.to_dual(h) - beta * g), memory
