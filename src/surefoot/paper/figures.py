"""The paper's figure (Holland 2022, Figure 1): loss against epochs, a panel for each data set."""

from pathlib import Path

import numpy as np

from surefoot.paper.experiments import Row

COLORS = {"sgd-ave": "#888888", "anytime-sgd": "#4477aa", "anytime-robust-sgd": "#ee9933", "surefoot": "#117744"}
LABELS = {
    "sgd-ave": "SGD-Ave",
    "anytime-sgd": "Anytime-SGD",
    "anytime-robust-sgd": "Anytime-Robust-SGD",
    "surefoot": "surefoot (carried feedback)",
}


def draw(rows: list[Row], folder: Path) -> list[Path]:
    """Write figure.png and figure.svg; return their paths."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    datasets = list(dict.fromkeys(row.dataset for row in rows))
    figure = Figure(figsize=(6.4 * len(datasets), 4.2), layout="constrained")
    for axes, dataset in zip(figure.subplots(1, len(datasets), squeeze=False)[0], datasets, strict=True):
        for method, color in COLORS.items():
            mine = [row for row in rows if row.dataset == dataset and row.method == method]
            epochs = sorted({row.epoch for row in mine})
            test = np.array([[row.test_loss for row in mine if row.epoch == epoch] for epoch in epochs])
            train = np.array([[row.train_loss for row in mine if row.epoch == epoch] for epoch in epochs])
            style = {"linewidth": 4.5, "alpha": 0.45} if method == "anytime-sgd" else {"linewidth": 1.8}
            axes.plot(epochs, test.mean(axis=1), color=color, label=LABELS[method], marker="o", markersize=3, **style)
            axes.plot(epochs, train.mean(axis=1), color=color, linestyle="--", linewidth=0.9)
            axes.fill_between(epochs, test.min(axis=1), test.max(axis=1), color=color, alpha=0.12, linewidth=0)
        axes.set(title=dataset, xlabel="passes over the training rows", ylabel="log loss")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, title="test solid, training dashed, band: all trials", title_fontsize="small")
    paths = [folder / "figure.png", folder / "figure.svg"]
    with mpl.rc_context({"svg.hashsalt": "surefoot"}):
        for path in paths:
            figure.savefig(path, dpi=160, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths
