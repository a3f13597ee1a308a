"""Adult (UCI, CC BY 4.0): who of the 1994 census earns more than 50,000 a year.

Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. https://doi.org/10.24432/C5XW20

Rows with an unknown value are dropped. A categorical column becomes one column for each level named in the
publisher's description, whether or not a row has it.
"""

from pathlib import Path

import numpy as np

from surefoot.datasets import Dataset, Expected, lines

FILES = ("adult.data", "adult.test")
EXPECTED = Expected(rows=45_222, features=105, class_counts=(34_014, 11_208))
LABELS = ("<=50K", ">50K")

NUMERIC: tuple[str, ...] = ()
COLUMNS: dict[str, tuple[str, ...]] = {
    "age": NUMERIC,
    "workclass": tuple(
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked".split()
    ),
    "fnlwgt": NUMERIC,
    "education": tuple(
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th 10th "
        "Doctorate 5th-6th Preschool".split()
    ),
    "education-num": NUMERIC,
    "marital-status": tuple(
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse".split()
    ),
    "occupation": tuple(
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
        "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv "
        "Armed-Forces".split()
    ),
    "relationship": tuple("Wife Own-child Husband Not-in-family Other-relative Unmarried".split()),
    "race": tuple("White Asian-Pac-Islander Amer-Indian-Eskimo Other Black".split()),
    "sex": tuple("Female Male".split()),
    "capital-gain": NUMERIC,
    "capital-loss": NUMERIC,
    "hours-per-week": NUMERIC,
    "native-country": tuple(
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece South "
        "China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
        "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
        "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands".split()
    ),
}


def read(paths: list[Path]) -> Dataset:
    """Read the training file, then the test file."""
    rows = [
        fields
        for path in paths
        for fields in (line.strip().rstrip(".").split(", ") for line in lines(path))
        if len(fields) == len(COLUMNS) + 1 and "?" not in fields
    ]
    values = dict(zip([*COLUMNS, "label"], zip(*rows, strict=True), strict=True)) if rows else {}
    if not rows:
        raise ValueError(f"adult: no complete row of {len(COLUMNS) + 1} fields in {', '.join(map(str, paths))}")
    columns, feature_names = [], []
    for name, levels in COLUMNS.items():
        if levels:
            columns += [np.array([value == level for value in values[name]]) for level in levels]
            feature_names += [f"{name}={level}" for level in levels]
        else:
            columns.append(np.array(values[name], dtype=np.float64))
            feature_names.append(name)
    X = np.ascontiguousarray(np.column_stack(columns), dtype=np.float64)
    y = np.array([LABELS.index(label) for label in values["label"]], dtype=np.int64)
    return Dataset("adult", X, y, tuple(feature_names), len(LABELS))
