import { expect, test } from "vitest";
import type { Answer, Citation, Claim } from "../src/api/types";
import { blocksOf, numbersOf, offsets, repeatedBy, type Block } from "../src/ask/blocks";

const citation = (marker: string, start = 0): Citation => ({ marker, doc_id: marker, bucket: "b", label: `${marker}.txt`, source_file: `${marker}.txt`, title: "", page: null, start, end: start + 5, quote: "quote", remark: "" });

function claim(text: string, part: string, citations: number[], verdict: Claim["verdict"] = "supported"): Claim {
  const characters = Array.from(text);
  const start = Array.from(text.slice(0, text.indexOf(part))).length;
  return { text: part, start, end: start + Array.from(part).length, verdict, reason: "", formula: "", citations: citations.filter((at) => at < characters.length) };
}

const shown = (block: Block): string =>
  block.parts.map((part) => (part.kind === "text" ? part.text : part.kind === "cite" ? `<${part.index}>` : `!${part.claim.verdict}`)).join("");

test("markers become numbers in reading order, behind the full stop", () => {
  const text = "B costs 3 [b]. A costs 5 [a] [b].";
  const citations = [citation("a"), citation("b"), citation("c")];
  const blocks = blocksOf({ text, citations, claims: [claim(text, "B costs 3 [b].", [1]), claim(text, "A costs 5 [a] [b].", [0, 1], "contradicted")] });
  expect(blocks.map(shown)).toEqual(["B costs 3.<1>!supported A costs 5.<0><1>!contradicted"]);
  expect(numbersOf(citations, blocks)).toEqual([2, 1, 3]);
});

test("a citation that was moved is shown though no marker names it, and unknown brackets stay", () => {
  const text = "It weighs 3 kg [sic].";
  const blocks = blocksOf({ text, citations: [citation("a")], claims: [claim(text, text, [0], "misattributed")] });
  expect(blocks.map(shown)).toEqual(["It weighs 3 kg [sic].<0>!misattributed"]);
});

test("of several citations of one document that of the statement is taken", () => {
  const text = "X [a].\nY [a].";
  const blocks = blocksOf({ text, citations: [citation("a", 0), citation("a", 90)], claims: [claim(text, "X [a].", [0]), claim(text, "Y [a].", [1])] });
  expect(blocks.map(shown)).toEqual(["X.<0>!supported", "Y.<1>!supported"]);
});

test("offsets count whole characters", () => {
  const text = "😀😀 It is so [a].";
  expect(text.slice(offsets(text)(3))).toBe("It is so [a].");
  expect(blocksOf({ text, citations: [citation("a")], claims: [claim(text, "It is so [a].", [0], "unsupported")] }).map(shown)).toEqual(["😀😀 It is so.<0>!unsupported"]);
});

test("lists keep their own numbers, headings and tables are known", () => {
  const text = "# Head\n- one\n2. two\n| a | b |\n|---|---|\n| 1 | **2** |";
  const blocks = blocksOf({ text, citations: [], claims: [] });
  expect(blocks.map((block) => [block.kind, block.number])).toEqual([["heading", null], ["item", null], ["item", 2], ["row", null], ["row", null]]);
  expect(blocks[4]!.cells.map((cell) => cell.map((part) => part.kind === "text" && [part.text, part.strong]))).toEqual([[["1", false]], [["2", true]]]);
});

test("groups that the table shows are not said twice, but those that do not hold are", () => {
  const text = "3 groups: 3 of 3 documents.\nThe 2 with the most documents, the others in the table:\n- A: 3 EUR [a]\n- B: 4 EUR [b]\n\nNote: not added up.";
  const table = { columns: ["v", "sum"], rows: [["A", "3 EUR"], ["B", "4 EUR"], ["C", "1 EUR"]], doc_ids: [], behind: [["a"], ["b"], ["c"]] };
  const seen = (verdict: Claim["verdict"]) => {
    const claims = [claim(text, "A: 3 EUR [a]", [0], "derived"), claim(text, "B: 4 EUR [b]", [1], verdict)];
    const answer = { text, citations: [citation("a"), citation("b")], claims, table } as unknown as Answer;
    const blocks = blocksOf(answer);
    return blocks.filter((block) => !repeatedBy(answer, blocks).has(block)).length;
  };
  expect(seen("derived")).toBe(2);
  expect(seen("unsupported")).toBe(3);
});

test("items whose sources are rows of the table are not said twice", () => {
  const text = "2 documents:\n- A, 3 EUR [a]\n- B, 4 EUR [b]\n- Note of [c]";
  const answer = { text, citations: [citation("a"), citation("b"), citation("c")], claims: [], table: { columns: ["d"], rows: [["a"], ["b"]], doc_ids: ["a", "b"] } } as unknown as Answer;
  const blocks = blocksOf(answer);
  expect(blocks.filter((block) => !repeatedBy(answer, blocks).has(block)).map(shown)).toEqual(["2 documents:", "Note of<2>"]);
});
