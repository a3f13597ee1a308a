"""Why the step 1/smoothness is not to be trusted: a counterexample to Corollary 7 of Holland (2022), run.

R(h) = h^2 / 2 on [-1/2, 1/2]. The noise is -1.4 nine times in ten and +12.6 once in ten: mean zero, sigma = 4.2. Start
and minimum are 0, the anchor is exact, every assumption holds. Yet a step of 1 = 1/smoothness throws h_t onto the
boundary +1/2 nine times in ten, and the average settles at 0.4: an excess risk of 0.08 for ever, while the corollary's
bound goes to zero. The proof treats h_{t+1} as known before the gradient G_t that decides it.

The cure is a step that knows the noise, min(1/smoothness, diameter / (sigma sqrt(T))); the certificate of
`surefoot.certificates` needs no condition on the step, because it observes the regret: here it says plainly that the
run has not converged.

    python examples/constant_step.py [rounds]
"""

import sys
from math import log, sqrt

import numpy as np

import surefoot as sf

SIGMA, DIAMETER, SMOOTHNESS, DELTA = 4.2, 1.0, 1.0, 0.05


def run(step: float, rounds: int, seed: int = 0) -> tuple[float, float]:
    """Return the excess risk of the last queried point, and its certificate's value."""
    rule = sf.SmoothThreshold.lemma2(SMOOTHNESS, SIGMA, 0.0, DIAMETER, rounds, DELTA)
    conversion = sf.Conversion(
        sf.MirrorDescent(sf.Constant(step), sf.Euclidean(sf.Box(-0.5, 0.5))),
        feedback=sf.Truncate(rule, sf.Anchor(point=0.0, gradient=0.0)),
    )
    noise = np.where(np.random.default_rng(seed).random(rounds) < 0.9, -1.4, 12.6)
    state = conversion.start(0.0)
    certificate = sf.certificates.Trajectory(
        conversion, state, sigma=SIGMA, smoothness=SMOOTHNESS, anchor_error=0.0, rounds=rounds, delta=DELTA,
        margin=rule.base,
    )  # fmt: skip
    for t in range(rounds):
        point = conversion.ask(state)
        state, info = conversion.tell(state, point + noise[t])
        certificate = certificate.update(state, info)
    return float(point) ** 2 / 2, certificate.bound().value


def printed_bound(step: float, rounds: int) -> float:
    """Return the right-hand side of Corollary 7, as printed."""
    L = log(1 / DELTA)
    noise = max(8 * DIAMETER * SIGMA * sqrt(2 * L / rounds), 12 * SMOOTHNESS * DIAMETER**2 * L / rounds)
    return 2 * DIAMETER**2 / (rounds * step) + noise


def main(rounds: int = 20_000) -> None:
    """Compare the step of the corollary with the corrected one."""
    print(f"{rounds:,} rounds{'':12} excess risk   certificate   Corollary 7 as printed")
    for name, step in (
        ("step 1/smoothness", 1 / SMOOTHNESS),
        ("corrected step", min(1 / SMOOTHNESS, DIAMETER / (SIGMA * sqrt(rounds)))),
    ):
        excess, bound = run(step, rounds)
        print(f"{name:24} {excess:11.5f} {bound:13.5f} {printed_bound(step, rounds):24.5f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
