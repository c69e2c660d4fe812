"""Progress says what was done a second, of what needed work, and what is left."""

import pytest

from cli import terminal


def test_plain_progress_counts_only_what_needed_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 0.0, 0.0, 0.0, 8.0, 8.0, 10.0, 10.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))
    with terminal.progress("ingest letters") as show:
        assert show is not None
        show(60, 100, "")  # unchanged
        show(64, 100, "a.pdf")
        show(100, 100, "b.pdf")
    assert capsys.readouterr().err == (
        "ingest letters: 64/100 (0.5/s, 72 s left)\ningest letters: 100/100 (4.0/s)\n"
    )


def test_a_narrow_terminal_cuts_the_name_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(terminal.sys.stderr, "isatty", lambda: True)
    with terminal.progress("ingest letters") as show:
        assert show is not None
        show(12345, 100000, f"{'long-' * 20}name.pdf")
    shown = capsys.readouterr().err
    assert "12345/100000" in shown
    assert "…" in shown
    assert "name.pdf" not in shown
