"""Every hostile file is read, up to a bound, or refused with one sentence: whatever it holds, nothing breaks."""

from pathlib import Path

import pytest

from citegraph.corpus.readers.protocol import MEGABYTE, Reading, ReadOptions
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput
from tests.trust.hostile_files import SOUND, hostile_files

OPTIONS = ReadOptions(ocr=False, unpacked=20 * MEGABYTE)
MADE = hostile_files()


def read(name: str, content: bytes, folder: Path) -> tuple[str, list[str]]:
    """Return the text that a file gives, and the reasons why some or all of it was not read."""
    path = folder / name
    path.write_bytes(content)
    try:
        found = list(read_file(path, OPTIONS))
    except BadInput as refused:
        return "", [str(refused)]
    texts = [item.text for item in found if isinstance(item, Reading)]
    return "".join(texts), [item.reason for item in found if not isinstance(item, Reading)]


def test_there_are_files_enough() -> None:
    assert len(MADE) >= 250


@pytest.mark.parametrize("suffix", SOUND)
def test_a_sound_file_is_read(suffix: str, tmp_path: Path) -> None:
    text, reasons = read(f"sound.{suffix}", SOUND[suffix](), tmp_path)
    assert "450" in text or suffix in {"png", "tiff", "ics"}, reasons


@pytest.mark.parametrize("name", MADE)
def test_a_hostile_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    content = MADE[name]()
    text, reasons = read(name, content, tmp_path)
    assert len(text) < max(4_000_000, 2 * len(content))
    assert all(reason and "\n" not in reason and "Traceback" not in reason for reason in reasons)
    assert "/etc" not in text
