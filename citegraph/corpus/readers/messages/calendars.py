"""Reads calendars (ICS) with icalendar: a section an event, with its time, place and people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.draft import Draft
from citegraph.corpus.readers.encodings import decoded
from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.errors import BadInput

_KINDS = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note"}
_TIMES = {"DTSTART": "Start", "DTEND": "End", "DUE": "Due", "COMPLETED": "Completed"}
_TEXTS = {"LOCATION": "Location", "STATUS": "Status", "CATEGORIES": "Categories", "URL": "Link"}
_PEOPLE = {"ORGANIZER": "Organizer", "ATTENDEE": "Attendees"}


class IcsReader:
    """Calendars: what a person sees of each event, task and note."""

    suffixes: tuple[str, ...] = (".ics", ".ical", ".ifb")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        from icalendar import Calendar

        text = decoded(path.read_bytes())
        try:
            calendars = [item for item in Calendar.from_ical(text, multiple=True) if item.name == "VCALENDAR"]
        except (ValueError, IndexError, KeyError) as error:
            raise BadInput("no calendar, or cut off: export it again") from error
        draft = Draft()
        titles: list[str] = []
        for calendar in calendars:
            draft.paragraph(_said(calendar.get("X-WR-CALNAME")))
            for item in calendar.walk():
                if item.name in _KINDS:
                    titles.append(_said(item.get("SUMMARY")) or _KINDS[item.name])
                    _write(item, titles[-1], draft)
        if not titles:
            raise BadInput("the calendar holds no event, task or note")
        body, _, _ = draft.finished()
        title = next((name for item in calendars if (name := _said(item.get("X-WR-CALNAME")))), "")
        title = title or (titles[0] if len(titles) == 1 else "")
        yield Reading(body, media_type="text/calendar", title=title)


def _write(item: Any, title: str, draft: Draft) -> None:
    draft.heading(title, 1)
    lines = [f"{label}: {shown}" for name, label in _TIMES.items() if (shown := _moment(item, name))]
    duration = item.get("DURATION")
    if duration is not None and isinstance(getattr(duration, "dt", None), timedelta):
        lines.append(f"Duration: {duration.dt}")
    rule = item.get("RRULE")
    lines += [f"Repeats: {rule.to_ical().decode().replace(';', ', ').lower()}"] if rule else []
    lines += [f"{label}: {said}" for name, label in _TEXTS.items() if (said := _texts(item.get(name)))]
    lines += [f"{label}: {said}" for name, label in _PEOPLE.items() if (said := _people(item.get(name)))]
    draft.paragraph("\n".join(lines))
    draft.paragraph(cleaned(str(item.get("DESCRIPTION") or "")))


def _moment(item: Any, name: str) -> str:
    """Return a time with its zone; the end of whole days is the day after the last in the file."""
    value = getattr(item.get(name), "dt", None)
    if isinstance(value, datetime):
        zone = "" if value.tzinfo is None else f" {getattr(value.tzinfo, 'key', None) or value.tzname()}"
        return f"{value.replace(tzinfo=None).isoformat(' ', 'minutes')}{zone}"
    if isinstance(value, date):
        last = value - timedelta(days=1) if name == "DTEND" else value
        start = getattr(item.get("DTSTART"), "dt", None)
        return "" if name == "DTEND" and last == start else last.isoformat()
    return ""


def _texts(value: Any) -> str:
    if value is None:
        return ""
    if hasattr(value, "cats"):
        return ", ".join(map(_said, value.cats))
    return ", ".join(map(_said, value)) if isinstance(value, list) else _said(value)


def _people(value: Any) -> str:
    """Return names with addresses: "Ada Lind <ada@example.org>"."""
    found = []
    for person in value if isinstance(value, list) else [value] if value is not None else []:
        address = _said(person)
        address = address[7:] if address.lower().startswith("mailto:") else address
        name = _said(getattr(person, "params", {}).get("CN"))
        found.append(f"{name} <{address}>" if name and name != address else name or address)
    return ", ".join(found)


def _said(value: Any) -> str:
    return " ".join(cleaned(str(value)).split()) if value is not None else ""
