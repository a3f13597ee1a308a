"""How tight is the trajectory certificate, and does it cover? `python -m benchmarks.certificates [--runs 200]`.

R(h) = ||h - h*||^2 / 2 on the unit ball, additive noise of given second moment, the anchor a mean of 2,000 samples
used for nothing else, the margin c_0 chosen by the formula that minimizes the bound. For each law of the noise the
table shows the bound at round T over the 95% quantile of the true excess risk at T, the share of runs in which the
bound held at every tenth round, and what the paper's printed Corollary 7 gives (whose proof does not hold).
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from math import exp, log, sqrt

import numpy as np

import surefoot as sf

DELTA, WIDTH, SMOOTHNESS, ANCHOR_ROWS = 0.05, 2.0, 1.0, 2000
ANCHOR_ERROR = 1 / sqrt(ANCHOR_ROWS * DELTA)  # Chebyshev: the mean of n rows errs by more with probability delta
LAWS = {
    "gauss": (lambda rng, shape: rng.standard_normal(shape), 1.0),
    "lognormal": (lambda rng, shape: np.exp(rng.standard_normal(shape)) - exp(0.5), exp(2) - exp(1)),
    "t(2.1)": (lambda rng, shape: rng.standard_t(2.1, shape), 21.0),
}


def margin(feedback: str, sigma: float, rounds: int) -> float:
    """Return the c_0 that minimizes bias plus range of the bound: sigma sqrt(3 T / (4 L)), for Truncate twice that."""
    return sigma * sqrt(3 * rounds / -log(DELTA)) / (2 if feedback == "clip" else 1)


def simulate(law: str, feedback: str, d: int, rounds: int, seed: int) -> tuple[float, float, bool]:
    """Return excess risk and bound at the last round, and whether the bound held at every round."""
    draw, variance = LAWS[law]
    rng, sigma = np.random.default_rng(seed), sqrt(variance * d)
    best, h1, base = np.full(d, 0.5 / sqrt(d)), np.zeros(d), margin(feedback, sigma, rounds)
    anchor = sf.anchors.empirical_mean(h1 - best + draw(rng, (ANCHOR_ROWS, d)), h1)
    process = {"clip": sf.Clip, "truncate": sf.Truncate}[feedback]
    rule = sf.SmoothThreshold(SMOOTHNESS, sigma, ANCHOR_ERROR, base)
    step = sf.Constant(min(1 / SMOOTHNESS, WIDTH / (sigma * sqrt(rounds))))
    learner = sf.MirrorDescent(step, sf.Euclidean(sf.Ball(WIDTH / 2)))
    conversion = sf.Conversion(learner, process(rule, anchor))
    state = conversion.start(h1)
    certificate = sf.certificates.Trajectory(
        conversion, state, sigma=sigma, smoothness=SMOOTHNESS, anchor_error=ANCHOR_ERROR, rounds=rounds, delta=DELTA,
        margin=base,
    )  # fmt: skip
    noise, held = draw(rng, (rounds, d)), True
    for t in range(rounds):
        point = conversion.ask(state)
        state, info = conversion.tell(state, point - best + noise[t])
        certificate = certificate.update(state, info)
        if t % 10 == 9 or t == rounds - 1:
            excess, bound = float(np.sum((point - best) ** 2)) / 2, certificate.bound().value
            held = held and excess <= bound
    return excess, bound, held


def printed(sigma: float, rounds: int) -> float:
    """Return Corollary 7 of Holland (2022) as printed, at the step used here."""
    L, step = -log(DELTA), min(1 / SMOOTHNESS, WIDTH / (sigma * sqrt(rounds)))
    noise = max(8 * WIDTH * sigma * sqrt(2 * L / rounds), 12 * SMOOTHNESS * WIDTH**2 * L / rounds)
    return 2 * WIDTH**2 / (rounds * step) + noise


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[1, 5, 20])
    parser.add_argument("--rounds", type=int, nargs="+", default=[300, 5000])
    options = parser.parse_args()
    print(f"{'noise':10} {'feedback':9} {'d':>3} {'T':>6} {'bound/q95':>10} {'printed/q95':>12} {'coverage':>9}")
    with ProcessPoolExecutor(2) as pool:
        for law, feedback, d, rounds in product(LAWS, ("clip", "truncate"), options.dimensions, options.rounds):
            count = options.runs if rounds <= 1000 else max(options.runs // 4, 40)
            jobs = [(law, feedback, d, rounds, seed) for seed in range(count)]
            excess, bound, held = map(np.array, zip(*pool.map(simulate, *zip(*jobs, strict=True)), strict=True))
            worst = np.quantile(excess, 0.95)
            theory = printed(sqrt(LAWS[law][1] * d), rounds) / worst
            print(
                f"{law:10} {feedback:9} {d:3} {rounds:6} {np.median(bound) / worst:10.1f} {theory:12.1f} "
                f"{held.mean():9.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
