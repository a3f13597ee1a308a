"""The paper's protocol on adult beside the author's program: `python -m benchmarks.adult [--trials 10]`.

Test log loss after 1, 10 and 30 passes; the author's program gave the values in AUTHOR, over 10 trials with standard
deviations of .0055 to .0075. Prints the difference in standard errors of the two means.
"""

import argparse
import os
from math import sqrt

import numpy as np

from surefoot.paper.experiments import carry_out, runs

AUTHOR = {
    "sgd-ave": {1: 0.3993, 10: 0.3586, 30: 0.3470},
    "anytime-sgd": {1: 0.3923, 10: 0.3556, 30: 0.3443},
}
AUTHOR_SPREAD, AUTHOR_TRIALS = 0.0065, 10


def main() -> None:
    """Run the trials and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    every = runs(["adult"], options.trials, 30, options.seed, None)
    rows = carry_out(every, os.cpu_count() or 1, lambda run: print(f"{run.method}, trial {run.trial}", flush=True))
    print(f"{'method':20} {'epoch':>5} {'ours':>8} {'sd':>7} {'author':>8} {'difference / standard error':>28}")
    for method in dict.fromkeys(row.method for row in rows):
        for epoch in (1, 10, 30):
            losses = np.array([row.test_loss for row in rows if (row.method, row.epoch) == (method, epoch)])
            spread = losses.std(ddof=1)
            known = AUTHOR.get(method, {}).get(epoch)
            error = sqrt(spread**2 / len(losses) + AUTHOR_SPREAD**2 / AUTHOR_TRIALS)
            beside = f"{known:8.4f} {(losses.mean() - known) / error:28.2f}" if known else ""
            print(f"{method:20} {epoch:5} {losses.mean():8.4f} {spread:7.4f} {beside}")


if __name__ == "__main__":
    main()
