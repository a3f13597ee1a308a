"""Adult (UCI, CC BY 4.0): who of the 1994 census earns more than 50,000 a year.

Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. https://doi.org/10.24432/C5XW20

Rows with an unknown value are dropped. A categorical column becomes one column for each level named in the
publisher's description, whether or not a row has it.
"""

import numpy as np

from surefoot.tables.rows import Rows, Table
from surefoot.tables.source import Download, Expected, RawFile, Source
from surefoot.tables.stream import Stream
from surefoot.tables.text import line_blocks

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


FOLDER = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
TRAINING = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
TESTING = "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"

SOURCE = Source(
    title="Adult",
    page="https://archive.ics.uci.edu/dataset/2/adult",
    licence="CC BY 4.0",
    citation="Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. https://doi.org/10.24432/C5XW20",
    files=(
        RawFile("adult.data", 3_974_305, TRAINING, b"39, State-gov, 77516, Bachelors, 13, Never-married,"),
        RawFile("adult.test", 2_003_153, TESTING, b"|1x3 Cross validator\n25, Private, 226802, 11th, 7,"),
    ),
    downloads=(Download((f"{FOLDER}/adult.data",), TRAINING), Download((f"{FOLDER}/adult.test",), TESTING)),
    archives=("adult",),
    unpacked=(),
    feature_names=tuple(
        feature
        for name, levels in COLUMNS.items()
        for feature in ([f"{name}={level}" for level in levels] if levels else [name])
    ),
    labels=("<=50K", ">50K"),
    expected=Expected(rows=45_222, features=105, class_counts=(34_014, 11_208)),
)
PLACES = {feature: place for place, feature in enumerate(SOURCE.feature_names)}
UNKNOWN = "?"


def read(streams: list[Stream]) -> Table:
    """Read the training file, then the test file, whose labels end in a full stop."""
    rows = Rows(SOURCE.expected)
    for stream in streams:
        for first, block in line_blocks(stream):
            lines = block.decode("ascii", "replace").split("\n")
            table = [_fields(line, f"{stream.where}, line {number}") for number, line in enumerate(lines, first)]
            known = [fields for fields in table if fields]
            X = np.zeros((len(known), len(PLACES)), dtype=np.float64)
            for (name, levels), column in zip(COLUMNS.items(), zip(*known, strict=True), strict=False):
                if levels:
                    X[range(len(known)), [PLACES[f"{name}={value}"] for value in column]] = 1
                else:
                    X[:, PLACES[name]] = column
            rows.append(X, np.array([SOURCE.labels.index(fields[-1]) for fields in known], dtype=np.int64))
    return rows.table()


def _fields(line: str, where: str) -> list[str]:
    """Return the fields of a line; none for a blank line, the heading, or a row with an unknown value."""
    fields = line.strip().rstrip(".").split(", ")
    if fields == [""] or line.startswith("|"):
        return []
    if len(fields) != len(COLUMNS) + 1:
        raise ValueError(f"{where}: expected {len(COLUMNS) + 1} fields, found {len(fields)}")
    if UNKNOWN in fields:
        return []
    for (name, levels), value in zip([*COLUMNS.items(), ("label", SOURCE.labels)], fields, strict=True):
        if not (value in levels if levels else value.isdecimal()):
            raise ValueError(f"{where}: expected a value of {name}, found {value!r:.40}")
    return fields
