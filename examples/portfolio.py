"""A portfolio on the simplex, with entropy geometry: ten assets, heavy-tailed returns.

Minimize the mean square of (target - return) over portfolios that hold no negative amounts and spend everything.
Negative entropy makes steps multiply, so holdings stay positive and the dimension enters bounds only as its logarithm.
Past returns can be replayed at any portfolio, so the same sample is at hand at two points: feedback can be carried.

    python examples/portfolio.py
"""

from itertools import product

import numpy as np

import surefoot as sf

ASSETS, DAYS, TARGET = 10, 2000, 0.06
CALM = np.linspace(0.3, 3.0, ASSETS)  # how much each asset moves by itself
MEAN = 0.05 + 0.01 * CALM
VARIANCE = 2.5 / 0.5  # of t with 2.5 degrees of freedom
COVARIANCE = VARIANCE * (0.3**2 + np.diag(CALM**2))


def market(rng: np.random.Generator, days: int) -> np.ndarray:
    """Return daily returns in percent: a common factor and each asset's own noise, both heavy-tailed."""
    return MEAN + 0.3 * rng.standard_t(2.5, size=(days, 1)) + CALM * rng.standard_t(2.5, size=(days, ASSETS))


def gradient_of_risk(portfolio: np.ndarray) -> np.ndarray:
    """Return the gradient of E(return - target)^2 / 2, which the learner never sees."""
    return (MEAN @ portfolio - TARGET) * MEAN + COVARIANCE @ portfolio


def risk(portfolio: np.ndarray) -> float:
    """Return E(return - target)^2 / 2."""
    return float((MEAN @ portfolio - TARGET) ** 2 + portfolio @ COVARIANCE @ portfolio) / 2


def train(returns: np.ndarray, feedback: sf.parts.Feedback, estimate: sf.parts.Estimate) -> np.ndarray:
    """Return the portfolio after one pass over the days."""
    learner = sf.MirrorDescent(sf.Decaying(0.05, span=4 * ASSETS), sf.NegativeEntropy())
    conversion = sf.Conversion(learner, feedback=feedback, weights=sf.Polynomial(3.0), estimate=estimate)
    state = conversion.start(np.full(ASSETS, 1 / ASSETS))
    for day in returns:

        def gradient(portfolio: np.ndarray, day: np.ndarray = day) -> np.ndarray:
            return (day @ portfolio - TARGET) * day

        here = conversion.ask(state)
        state, _ = conversion.tell(state, gradient(here), gradient(state.before), size=day @ here - TARGET)
    return state.hbar


def main(repetitions: int = 10) -> None:
    """Compare the exact risk of the portfolios with the best there is."""
    feedbacks = {"raw": sf.Raw(), "clipped": sf.Clip(sf.LeastRisk())}
    estimates = {"fresh": sf.Fresh(), "carried": sf.Carried()}
    start = np.full(ASSETS, 1 / ASSETS)
    known = sf.Conversion(sf.MirrorDescent(sf.Constant(0.05), sf.NegativeEntropy()), query="last")
    best = risk(known.run(gradient_of_risk, start, rounds=5000).h)
    print(f"risk in excess of the best portfolio's, {best:.4f}; mean and worst of {repetitions} markets of {DAYS} days")
    print(f"{'equal shares':20} {risk(start) - best:8.4f}")
    for (how, feedback), (what, estimate) in product(feedbacks.items(), estimates.items()):
        excess = [
            risk(train(market(np.random.default_rng(seed), DAYS), feedback, estimate)) - best
            for seed in range(repetitions)
        ]
        print(f"{how + ', ' + what:20} {np.mean(excess):8.4f} {np.max(excess):8.4f}")


if __name__ == "__main__":
    main()
