"""Writes small Outlook messages: no library writes the compound files that MSG lies in ([MS-CFB], [MS-OXMSG])."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

SECTOR, MINI, CUTOFF = 512, 64, 4096
FREE, END, FAT, NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF

UNICODE, BINARY, LONG = 0x001F, 0x0102, 0x0003
SUBJECT, SENDER, BODY, RTF, DATA, NAME, METHOD = 0x0037, 0x0C1A, 0x1000, 0x1009, 0x3701, 0x3707, 0x3705


@dataclass
class Node:
    name: str
    data: bytes | None = None
    children: list[Node] = field(default_factory=list)


def message(
    subject: str, sender: str, body: str | bytes, attachments: dict[str, bytes | None], *, kind: int = BODY
) -> bytes:
    """Return a message; an attachment without bytes is an item of Outlook, `kind` says what the body is."""
    root = Node("Root Entry", children=_storage({SUBJECT: subject, SENDER: sender, kind: body}, header=32))
    for number, (name, data) in enumerate(attachments.items()):
        held: dict[int, str | bytes | int] = (
            {NAME: name, METHOD: 5} if data is None else {NAME: name, DATA: data, METHOD: 1}
        )
        parts = _storage(held, header=8)
        root.children.append(Node(f"__attach_version1.0_#{number:08X}", children=parts))
    return _compound(root)


def _storage(values: dict[int, str | bytes | int], *, header: int) -> list[Node]:
    rows = bytes(header)
    streams = []
    for key, value in values.items():
        if isinstance(value, int):
            rows += struct.pack("<HHIII", LONG, key, 6, value, 0)
            continue
        kind = UNICODE if isinstance(value, str) else BINARY
        data = value.encode("utf-16-le") if isinstance(value, str) else value
        rows += struct.pack("<HHIII", kind, key, 6, len(data), 0)
        streams.append(Node(f"__substg1.0_{key:04X}{kind:04X}", data))
    return [Node("__properties_version1.0", rows), *streams]


def _compound(root: Node) -> bytes:
    """Lay out: header, one FAT sector, directory, mini FAT, mini stream, large streams."""
    order: list[Node] = []

    def number(node: Node) -> None:
        order.append(node)
        for child in node.children:
            number(child)

    number(root)
    small = [node for node in order if node.data is not None and len(node.data) < CUTOFF]
    large = [node for node in order if node.data is not None and len(node.data) >= CUTOFF]
    mini, table, starts = b"", [], {}
    for node in small:
        assert node.data is not None
        count = max(1, -(-len(node.data) // MINI))
        starts[id(node)] = len(table)
        table += [*range(len(table) + 1, len(table) + count), END]
        mini += node.data.ljust(count * MINI, b"\0")
    sectors: list[bytes] = []
    fat: list[int] = [FAT]

    def place(data: bytes) -> int:
        first, count = len(fat), max(1, -(-len(data) // SECTOR))
        fat.extend([*range(first + 1, first + count), END])
        sectors.append(data.ljust(count * SECTOR, b"\0"))
        return first

    directory_size = -(-len(order) * 128 // SECTOR) * SECTOR
    directory = place(bytes(directory_size))
    mini_fat = place(struct.pack(f"<{len(table)}I", *table) + struct.pack("<I", FREE) * (-len(table) % 128))
    mini_stream = place(mini)
    for node in large:
        starts[id(node)] = place(node.data or b"")
    sectors[0] = _directory(order, starts, mini_stream, len(mini)).ljust(directory_size, b"\0")
    assert len(fat) <= 128
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        bytes(16),
        0x3E,
        3,
        0xFFFE,
        9,
        6,
        bytes(6),
        0,
        1,
        directory,
        0,
        CUTOFF,
        mini_fat,
        -(-len(table) // 128),
        END,
        0,
        0,
    )
    header += struct.pack("<I", FREE) * 108
    return header + struct.pack("<128I", *fat, *[FREE] * (128 - len(fat))) + b"".join(sectors)


def _directory(order: list[Node], starts: dict[int, int], stream: int, size: int) -> bytes:
    place = {id(node): at for at, node in enumerate(order)}
    right = {}
    for node in order:
        ranked = sorted(node.children, key=lambda child: (len(child.name), child.name.upper()))
        for here, there in zip(ranked, [*ranked[1:], None], strict=False):
            right[id(here)] = place[id(there)] if there else NONE
        node.children = ranked
    rows = b""
    for node in order:
        name = (node.name + "\0").encode("utf-16-le")
        root = node is order[0]
        kind = 5 if root else 1 if node.data is None else 2
        start = stream if root else starts.get(id(node), 0)
        length = size if root else len(node.data or b"")
        child = place[id(node.children[0])] if node.children else NONE
        rows += struct.pack(
            "<64sHBBIII16sIQQIQ",
            name,
            len(name),
            kind,
            1,
            NONE,
            right.get(id(node), NONE),
            child,
            bytes(16),
            0,
            0,
            0,
            start,
            length,
        )
    return rows
