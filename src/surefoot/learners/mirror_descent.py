"""Mirror descent (Holland 2022, eq. 16); with the Euclidean map it is projected SGD (Holland 2022, eq. 17)."""

from typing import NamedTuple

from surefoot import parts
from surefoot.checks import part
from surefoot.mirror_maps import Euclidean
from surefoot.parts import Array, Memory
from surefoot.step_sizes import step


class MirrorDescent(NamedTuple):
    """h_{t+1} = argmin_{h in H} <g_t, h> + D_Phi(h; h_t) / beta_t.

    step_size: the rule beta_t. mirror_map: Phi and its domain H.
    """

    step_size: parts.StepSize
    mirror_map: parts.MirrorMap = Euclidean()

    def check(self) -> None:
        """Both parts are well formed."""
        part("step_size", self.step_size, "at")
        part("mirror_map", self.mirror_map, "to_primal")

    def start(self, h1: Array) -> Memory:
        """Nothing to remember: h_t is all there is."""
        return ()

    def move(self, t: int, h: Array, g: Array, weights: parts.Weights, memory: Memory) -> tuple[Array, Memory]:
        """Walk in the dual space, come back to H (Holland 2022, eq. 28 and 29)."""
        dual = self.mirror_map.to_dual(h) - step(self.step_size, t) * g
        return self.mirror_map.to_primal(dual), memory
