// @vitest-environment jsdom
import { expect, test } from "vitest";
import { readAddress, write } from "../src/routing";

test("an address is read as it is written", () => {
  const place = { doc_id: "a/b c&d", page: 3, start: 10, end: 20 };
  for (const one of [
    { view: "ask", thread: null, bucket: null, tab: null, place: null },
    { view: "ask", thread: "0123456789abcdef0123456789abcdef", bucket: null, tab: null, place },
    { view: "library", thread: null, bucket: "my bucket", tab: "review", place: null },
    { view: "settings", thread: null, bucket: null, tab: null, place: { ...place, page: null } },
  ] as const)
    expect(readAddress(write(one))).toEqual(one);
});

test("an address of an earlier version opens its document", () => {
  expect(readAddress("#document=nv-1&page=2&start=5&end=9").place).toEqual({ doc_id: "nv-1", page: 2, start: 5, end: 9 });
});
