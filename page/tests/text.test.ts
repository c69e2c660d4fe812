// @vitest-environment jsdom
import { expect, test } from "vitest";
import { readEvents } from "../src/api/client";
import { columnsOf, partsOf } from "../src/reader/text_view";

test("the cited place and what is looked for are cut out, by whole characters", () => {
  expect(partsOf("😀 net 5, Net 6", [2, 7], "").map((part) => [part.kind, part.text])).toEqual([["plain", "😀 "], ["place", "net 5"], ["plain", ", Net 6"]]);
  expect(partsOf("a Net b net", null, "NET").map((part) => [part.kind, part.text, part.hit])).toEqual([["plain", "a ", -1], ["hit", "Net", 0], ["plain", " b ", -1], ["hit", "net", 1]]);
});

test("a text in columns keeps them", () => {
  expect(columnsOf("Net      5\nTax      6")).toBe(10);
  expect(columnsOf("Net      5\nTax      6  \nWhat is said beneath them in one long line.")).toBe(10);
  expect(columnsOf("Plain prose that goes on.\nAnd on.")).toBe(0);
});

test("events are read as they come in, whole ones only", () => {
  const { events, rest } = readEvents('event: step\r\ndata: {"a": 1}\r\n\r\n: ping\n\nevent: token\ndata: {"b"');
  expect(events).toEqual([{ name: "step", data: { a: 1 } }]);
  expect(rest).toBe('event: token\ndata: {"b"');
});
