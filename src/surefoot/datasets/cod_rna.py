"""Non-coding RNA (LIBSVM's cod-rna): does a pair of aligned sequences hold a non-coding RNA.

Uzilov, A., Keegan, J. & Mathews, D. (2006). Detection of non-coding RNAs on the basis of predicted secondary structure
formation free energy change. BMC Bioinformatics 7, 173.

The two files are LIBSVM's training and testing file; its third, cod-rna.r, is not part of the set.
"""

from surefoot.tables import text
from surefoot.tables.rows import Table
from surefoot.tables.source import Download, Expected, RawFile, Source
from surefoot.tables.stream import Stream

FOLDER = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
TRAINING = "65b7cc0689fc29bba5db8b50fab0b6446d985f4bf8f6f5dd474f7df8b2f1ab6c"
TESTING = "58cff16df896436b06343df78ccaef37a6979d819abbcadbec3cb16b93938df6"

SOURCE = Source(
    title="Non-coding RNA",
    page=f"{FOLDER}.html#cod-rna",
    licence="none stated by the publisher",
    citation="Uzilov, A., Keegan, J. & Mathews, D. (2006). Detection of non-coding RNAs on the basis of predicted "
    "secondary structure formation free energy change. BMC Bioinformatics 7, 173. "
    "https://doi.org/10.1186/1471-2105-7-173",
    files=(
        RawFile("cod-rna", 4_667_176, TRAINING, b"-1 1:-766 2:128 3:0.140625 4:0.304688 5:0.234375 6:0.140625"),
        RawFile("cod-rna.t", 21_344_555, TESTING, b"-1 1:-500 2:128 3:0.140625 4:0.304688 5:0.234375 6:0.129771"),
    ),
    downloads=(Download((f"{FOLDER}/cod-rna",), TRAINING), Download((f"{FOLDER}/cod-rna.t",), TESTING)),
    archives=(),
    unpacked=(),
    feature_names=(
        "ten_times_free_energy_change",
        "length_of_shorter_sequence",
        *(f"frequency_{base}_sequence_{sequence}" for sequence in (1, 2) for base in "AUC"),
    ),
    labels=(-1, 1),
    expected=Expected(331_152, 8, (220_768, 110_384)),
)


def read(streams: list[Stream]) -> Table:
    """Read LIBSVM text."""
    return text.libsvm(streams, SOURCE)
