"""The one document of a file, for the tests of readers."""

from pathlib import Path

from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file


def only(path: Path) -> Reading:
    """Return what a file holds that is one document."""
    (reading,) = read_file(path)
    assert isinstance(reading, Reading)
    return reading
