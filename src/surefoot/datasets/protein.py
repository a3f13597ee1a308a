"""Protein homology (KDD Cup 2004): is a protein homologous to the one its block is about.

Caruana, R., Joachims, T. & Backstrom, L. (2004). KDD-Cup 2004: results and analysis. SIGKDD Explorations 6(2), 95-108.

Block and example identifiers are left out. Values have two decimals, so they are float64.
"""

from surefoot.tables import text
from surefoot.tables.rows import Table
from surefoot.tables.source import NOT_ESTABLISHED, Download, Expected, RawFile, Source
from surefoot.tables.stream import Stream

SOURCE = Source(
    title="Protein homology",
    page="https://www.kdd.org/kdd-cup/view/kdd-cup-2004/Data",
    licence="none stated by the publisher",
    citation="Caruana, R., Joachims, T. & Backstrom, L. (2004). KDD-Cup 2004: results and analysis. "
    "SIGKDD Explorations 6(2), 95-108. https://doi.org/10.1145/1046456.1046470",
    files=(
        RawFile(
            "bio_train.dat",
            size=67_602_911,
            sha256="afe8a12e450f2b3c5b6ef6f5afde6aaad81cb0c6ae678c2dfcc7d7211240b989",
            begins=b"279\t261532\t0\t52.00\t32.69\t0.30\t2.50\t20.00\t1256.80\t",
        ),
    ),
    downloads=(
        # The checksum of the archive is not known; that of bio_train.dat in it is, and is checked.
        Download(("https://kdd.org/cupfiles/KDDCupData/2004/data_kddcup04.tar.gz",), sha256=NOT_ESTABLISHED),
    ),
    archives=("data_kddcup04",),
    unpacked=("data_kddcup04",),
    feature_names=tuple(f"feature_{feature}" for feature in range(1, 75)),
    labels=(0, 1),
    expected=Expected(145_751, 74, (144_455, 1_296)),
)


def read(streams: list[Stream]) -> Table:
    """Read block, example, label and 74 features, separated by tabs."""
    return text.delimited(streams, SOURCE, b"\t ", fields=77, label=2, features=slice(3, 77))
