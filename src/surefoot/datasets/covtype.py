"""Covertype (UCI, CC BY 4.0): which of seven kinds of forest covers 30 m x 30 m of Colorado.

Blackard, J. (1998). Covertype. UCI Machine Learning Repository. https://doi.org/10.24432/C50K5N
"""

from surefoot.tables import text
from surefoot.tables.rows import Table
from surefoot.tables.source import Download, Expected, RawFile, Source
from surefoot.tables.stream import Stream

MEASURED = (
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
)
AREAS = tuple(f"Wilderness_Area_{area}" for area in range(1, 5))
SOILS = tuple(f"Soil_Type_{soil}" for soil in range(1, 41))

SOURCE = Source(
    title="Covertype",
    page="https://archive.ics.uci.edu/dataset/31/covertype",
    licence="CC BY 4.0",
    citation="Blackard, J. (1998). Covertype. UCI Machine Learning Repository. https://doi.org/10.24432/C50K5N",
    files=(
        RawFile(
            "covtype.data",
            size=75_169_317,
            sha256="0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
            begins=b"2596,51,3,258,0,510,221,232,148,6279,1,0,0,0,0,",
        ),
    ),
    downloads=(
        Download(
            ("https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",),
            sha256="614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
        ),
    ),
    archives=("covertype", "covtype"),
    unpacked=(),
    feature_names=MEASURED + AREAS + SOILS,
    labels=tuple(range(1, 8)),
    expected=Expected(581_012, 54, (211_840, 283_301, 35_754, 2_747, 9_493, 17_367, 20_510)),
)


def read(streams: list[Stream]) -> Table:
    """Read 54 features and the label, separated by commas."""
    return text.delimited(streams, SOURCE, b",", fields=55, label=54, features=slice(0, 54))
