"""Insurance claims: a few huge values carry the mean, and clipping them away makes premiums too small.

Nineteen claims in twenty are ordinary, one is log-normal with a tail that holds much of the total. Are gross values
mistakes, or do they carry the mean? Only you can say. The table shows what each answer gives, on clean claims and on
claims of which 1% were entered with two zeros too many: the predicted total over the true total, and the error of the
coefficients.

    python examples/claims.py
"""

from math import inf

import numpy as np
from sklearn.linear_model import HuberRegressor, LinearRegression

import surefoot as sf

ROWS, RISK = 20_000, np.array([400.0, -200.0, 300.0])
MODELS = {
    "least squares": LinearRegression(),
    "HuberRegressor": HuberRegressor(max_iter=1000),
    "surefoot, auto: a gap means errors": sf.SurefootRegressor(random_state=0),
    "surefoot, clip nothing": sf.SurefootRegressor(feedback=sf.Clip(sf.ConstantThreshold(inf)), random_state=0),
}


def claims(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, claims, and the same claims with 1% entered wrong."""
    X = rng.standard_normal((ROWS, 3))
    large = np.where(rng.random(ROWS) < 0.05, np.exp(rng.normal(8.5, 1.0, ROWS)), 0.0)
    y = 2000.0 + X @ RISK + rng.normal(0.0, 300.0, ROWS) + large
    return X, y, np.where(rng.random(ROWS) < 0.01, 100.0 * y, y)


def main(repetitions: int = 5) -> None:
    """Print the table."""
    print(f"{'':36} {'clean: total':>14} {'coefficients':>13} {'1% wrong: total':>17} {'coefficients':>13}")
    for name, model in MODELS.items():
        rows = []
        for seed in range(repetitions):
            X, y, wrong = claims(np.random.default_rng(seed))
            row = []
            for target in (y, wrong):
                fitted = model.fit(X, target)
                row += [fitted.predict(X).sum() / y.sum(), np.linalg.norm(fitted.coef_ - RISK) / np.linalg.norm(RISK)]
            rows.append(row)
        total, error, wrong_total, wrong_error = np.mean(rows, axis=0)
        print(f"{name:36} {total:14.3f} {error:13.1%} {wrong_total:17.3f} {wrong_error:13.1%}")


if __name__ == "__main__":
    main()
