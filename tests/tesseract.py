"""What needs Tesseract is skipped where it cannot be installed, but in CI, where it must run."""

import os
import shutil

import pytest

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None and not os.environ.get("CI"), reason="Tesseract is not installed"
)
