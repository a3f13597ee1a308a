"""Draw the figure of docs/fresh_or_carried.md: what querying at the average costs, and what carrying gives back.

Least squares, 20 unknowns, one pass, one row at a time, one step rule for all; the loss is the exact excess risk.

    python examples/fresh_or_carried.py [figure.svg] [trials] [rows]
"""

import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import surefoot as sf

UNKNOWNS = 20
LAWS = {
    "Gaussian noise": lambda rng, size: rng.standard_normal(size),
    "heavy tails: t with 2.1 degrees of freedom": lambda rng, size: rng.standard_t(2.1, size),
}
METHODS = {
    "fresh, asked at the last iterate": ("last", sf.Fresh(), "#888888"),
    "fresh, asked at the average": ("average", sf.Fresh(), "#4477aa"),
    "carried, asked at the average": ("average", sf.Carried(), "#117744"),
}


def learn(law: str, method: str, rows: int, seed: int) -> np.ndarray:
    """Return the exact excess risk of the reported point at 40 times, evenly spaced on a logarithmic scale."""
    rng = np.random.default_rng(seed)
    X, truth = rng.standard_normal((rows, UNKNOWNS)), rng.choice([-1.0, 1.0], UNKNOWNS)
    y = X @ truth + LAWS[law](rng, rows)
    query, estimate, _ = METHODS[method]
    conversion = sf.Conversion(
        sf.MirrorDescent(sf.Decaying(0.5 / UNKNOWNS, span=4 * UNKNOWNS)), sf.Clip(sf.LeastRisk()),
        sf.Polynomial(8.0), query=query, estimate=estimate,
    )  # fmt: skip
    state, risks = conversion.start(np.zeros(UNKNOWNS)), []
    watched = set(times(rows))
    for t, (a, target) in enumerate(zip(X, y, strict=True), start=1):
        residual, residual_before = a @ conversion.ask(state) - target, a @ state.before - target
        state, _ = conversion.tell(state, residual * a, residual_before * a, size=residual, curvature=a @ a)
        if t in watched:
            risks.append(float(np.sum((state.hbar - truth) ** 2)) / 2)
    return np.array(risks)


def times(rows: int) -> list[int]:
    """Return the rows after which the risk is taken."""
    return sorted({int(t) for t in np.geomspace(10, rows, 40)})


def main(path: str = "docs/fresh_or_carried.svg", trials: int = 40, rows: int = 10_000) -> None:
    """Run all trials, print the last risks, draw the figure."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.0), layout="constrained")
    with ProcessPoolExecutor(2) as pool:
        for axes, law in zip(figure.subplots(1, len(LAWS), sharey=True), LAWS, strict=True):
            print(f"{law}: excess risk after {rows:,} rows, mean and 95% quantile of {trials} trials")
            for method, (*_, color) in METHODS.items():
                every = [(law, method, rows, seed) for seed in range(trials)]
                risks = np.array(list(pool.map(learn, *zip(*every, strict=True))))
                print(f"  {method:34} {risks[:, -1].mean():.5f} {np.quantile(risks[:, -1], 0.95):.5f}")
                axes.plot(times(rows), risks.mean(axis=0), color=color, label=method)
                axes.fill_between(times(rows), *np.quantile(risks, [0.05, 0.95], axis=0), color=color, alpha=0.15)
            axes.set(title=law, xlabel="rows seen", xscale="log", yscale="log")
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        figure.axes[0].set_ylabel("excess risk (mean, and 90% of the trials)")
        figure.axes[0].legend(frameon=False, loc="lower left")
    with rc_context({"svg.hashsalt": "surefoot"}):
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
