"""A price tuned live: the price that is asked for is the price that customers see.

A shop tries two prices a day, a little above and a little below the price it stands behind, each on half of its
customers, and learns from the difference of the two takings. Some customers buy for a whole company, so takings are
heavy-tailed; one such order is no reason to move the price far.

The feedback must be `Fresh`: carried feedback needs the *same* customers at today's price and at yesterday's, and
nobody can sell to them twice. What querying at the average buys is that every price shown carries the guarantee,
and that prices never leap. What `Clip` buys is that no order, however large,
moves the price far, once a few days have shown what takings are like.

    python examples/pricing.py
"""

import numpy as np

import surefoot as sf

BEST, TEST, DAYS = 6.0, 0.25, 730


def takings(rng: np.random.Generator, price: float) -> float:
    """Return one day's takings from half of the customers: demand 12 - price, and now and then a bulk order."""
    customers = max(12.0 - price, 0.0)
    bulk = rng.pareto(1.7) * 2.0 if rng.random() < 0.25 else 0.0
    return price * (customers + bulk - 0.25 * 2.0 / 0.7 + rng.normal(0, 0.5))


def tune(feedback: sf.parts.Feedback, query: str, seed: int) -> np.ndarray:
    """Return the price shown on each day."""
    rng = np.random.default_rng(seed)
    learner = sf.MirrorDescent(sf.InverseSqrt(0.3), sf.Euclidean(sf.Box(1.0, 11.0)))
    conversion = sf.Conversion(learner, feedback=feedback, weights=sf.Polynomial(1.0), query=query)
    state, prices = conversion.start(2.0), np.empty(DAYS)
    for day in range(DAYS):
        price = float(conversion.ask(state))  # today's price; the answer may take all day
        above, below = takings(rng, price + TEST), takings(rng, price - TEST)
        slope_of_loss = (below - above) / (2 * TEST)
        state, _ = conversion.tell(state, slope_of_loss)
        prices[day] = price
    return prices


def main(repetitions: int = 40) -> None:
    """Compare what customers see, and what the shop forgoes, over two years."""
    clip = sf.Clip(sf.RunningScale())
    print(f"{'':34} forgone a day, second year     largest leap overnight")
    print(f"{'':34} {'mean':>12} {'worst run':>12} {'mean':>14} {'worst run':>12}")
    for name, feedback, query in (
        ("raw feedback, last iterate", sf.Raw(), "last"),
        ("clipped feedback, last iterate", clip, "last"),
        ("clipped feedback, average", clip, "average"),
    ):
        prices = np.array([tune(feedback, query, seed) for seed in range(repetitions)])
        forgone = np.mean((prices[:, DAYS // 2 :] - BEST) ** 2, axis=1)
        leaps = np.max(np.abs(np.diff(prices[:, 30:], axis=1)), axis=1)
        print(f"{name:34} {forgone.mean():12.3f} {forgone.max():12.3f} {leaps.mean():14.2f} {leaps.max():12.2f}")


if __name__ == "__main__":
    main()
