// An answer's text as blocks: lines with their statements marked, and the markers of citations as numbers in reading order.
import type { Answer, Citation, Claim } from "../api/types";

export type Inline =
  | { kind: "text"; text: string; claim: Claim | null; strong: boolean }
  | { kind: "cite"; index: number }
  | { kind: "verdict"; claim: Claim };

export interface Block {
  kind: "paragraph" | "item" | "heading" | "row";
  /** The number that an item of a numbered list was written with. */
  number: number | null;
  parts: Inline[];
  /** Cells of a row, each with its own parts; empty in other blocks. */
  cells: Inline[][];
  claims: Claim[];
}

/** Return what turns an offset that counts whole characters, as Python does, into one of JavaScript's. */
export function offsets(text: string): (offset: number) => number {
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => Math.min(offset, text.length);
  const starts: number[] = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  return (offset) => starts[offset] ?? text.length;
}

interface Mark {
  start: number;
  end: number;
  index: number;
}

interface Spoken {
  claim: Claim;
  start: number;
  end: number;
}

const MARKER = /[ \t]?\[([^[\]\n]+)\]/g;

function marksIn(text: string, citations: Citation[], spoken: Spoken[]): Mark[] {
  const marks: Mark[] = [];
  for (const found of text.matchAll(MARKER)) {
    const marker = found[1]!;
    const own = spoken.find((one) => one.start <= found.index && found.index < one.end)?.claim.citations ?? [];
    const index = own.find((at) => citations[at]?.marker === marker) ?? citations.findIndex((one) => one.marker === marker);
    if (index >= 0) marks.push({ start: found.index, end: found.index + found[0].length, index });
  }
  return marks;
}

const LEAD = /^(\s*)(?:[-*•]\s+|(\d{1,3})[.)]\s+|(#{1,4})\s+)/;

export function blocksOf(answer: Pick<Answer, "text" | "citations" | "claims">): Block[] {
  const { text, citations } = answer;
  const at = offsets(text);
  const spoken: Spoken[] = [];
  for (const claim of [...answer.claims].sort((one, other) => one.start - other.start)) {
    const one = { claim, start: at(claim.start), end: at(claim.end) };
    if (one.start >= (spoken.at(-1)?.end ?? 0) && one.end > one.start) spoken.push(one);
  }
  const marks = marksIn(text, citations, spoken);
  const shown = new Map<Claim, Set<number>>();
  const blocks: Block[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    const end = start + line.length;
    if (line.trim()) blocks.push(blockOf(text, { start, end }, spoken, marks, shown));
    start = end + 1;
  }
  // The rule below the heads of a table says nothing.
  return blocks.filter((block) => block.kind !== "row" || !block.cells.every((cell) => /^[\s:-]*$/.test(plain(cell))));
}

const plain = (parts: Inline[]): string => parts.map((part) => (part.kind === "text" ? part.text : "")).join("");

function blockOf(text: string, line: { start: number; end: number }, spoken: Spoken[], marks: Mark[], shown: Map<Claim, Set<number>>): Block {
  const whole = text.slice(line.start, line.end);
  const lead = LEAD.exec(whole);
  const row = /^\s*\|.*\|\s*$/.test(whole);
  const from = line.start + (lead && !row ? lead[0].length : 0);
  const parts = partsOf(text, from, line.end, spoken, marks, shown);
  const claims = spoken.filter((one) => one.start < line.end && one.end > line.start).map((one) => one.claim);
  const kind = row ? "row" : lead?.[3] ? "heading" : lead ? "item" : "paragraph";
  return { kind, number: lead?.[2] ? Number(lead[2]) : null, parts, cells: row ? cellsOf(parts) : [], claims };
}

function partsOf(text: string, from: number, to: number, spoken: Spoken[], marks: Mark[], shown: Map<Claim, Set<number>>): Inline[] {
  const parts: Inline[] = [];
  const cuts = new Set([from, to]);
  for (const one of [...spoken, ...marks]) for (const cut of [one.start, one.end]) if (cut > from && cut < to) cuts.add(cut);
  const ordered = [...cuts].sort((one, other) => one - other);
  for (let place = 0; place < ordered.length - 1; place += 1) {
    const [start, end] = [ordered[place]!, ordered[place + 1]!];
    const said = spoken.find((one) => one.start <= start && start < one.end) ?? null;
    const mark = marks.find((one) => one.start <= start && start < one.end);
    if (mark) {
      if (mark.start === start) parts.push({ kind: "cite", index: mark.index });
      if (said) seen(shown, said.claim).add(mark.index);
    } else parts.push(...emphasised(text.slice(start, end), said?.claim ?? null));
    if (said && (end === said.end || (end === to && said.end <= to + 1))) {
      for (const index of said.claim.citations) if (!seen(shown, said.claim).has(index)) parts.push({ kind: "cite", index });
      parts.push({ kind: "verdict", claim: said.claim });
    }
  }
  return tidied(parts);
}

const seen = (shown: Map<Claim, Set<number>>, claim: Claim): Set<number> => {
  if (!shown.has(claim)) shown.set(claim, new Set());
  return shown.get(claim)!;
};

/** A full stop that was written behind markers stands before their numbers. */
function tidied(parts: Inline[]): Inline[] {
  const tidy: Inline[] = [];
  for (const part of parts) {
    let first = tidy.length;
    while (first > 0 && tidy[first - 1]!.kind === "cite") first -= 1;
    const stop = part.kind === "text" && first < tidy.length ? /^[.,;:!?]+/.exec(part.text)?.[0] : undefined;
    if (part.kind !== "text" || !stop) {
      tidy.push(part);
      continue;
    }
    const before = tidy[first - 1];
    if (before?.kind === "text") tidy[first - 1] = { ...before, text: before.text + stop };
    else tidy.splice(first, 0, { ...part, text: stop });
    if (part.text.length > stop.length) tidy.push({ ...part, text: part.text.slice(stop.length) });
  }
  return tidy;
}

function emphasised(text: string, claim: Claim | null): Inline[] {
  return text
    .split(/(\*\*[^*\n]+\*\*)/)
    .filter(Boolean)
    .map((part) => {
      const strong = part.startsWith("**") && part.endsWith("**") && part.length > 4;
      return { kind: "text", text: strong ? part.slice(2, -2) : part, claim, strong };
    });
}

function cellsOf(parts: Inline[]): Inline[][] {
  const cells: Inline[][] = [[]];
  for (const part of parts) {
    if (part.kind !== "text") {
      cells.at(-1)!.push(part);
      continue;
    }
    part.text.split("|").forEach((text, number) => {
      if (number) cells.push([]);
      if (text.trim()) cells.at(-1)!.push({ ...part, text: text.trim() });
    });
  }
  return cells.slice(1, -1);
}

/** Return for each citation the number under which it is shown: in the order in which the text names them. */
export function numbersOf(citations: Citation[], blocks: Block[]): number[] {
  const order: number[] = [];
  const named = (parts: Inline[]) => {
    for (const part of parts) if (part.kind === "cite" && !order.includes(part.index)) order.push(part.index);
  };
  for (const block of blocks) {
    named(block.parts);
  }
  citations.forEach((_, index) => order.includes(index) || order.push(index));
  return citations.map((_, index) => order.indexOf(index) + 1);
}

/**
 * Tell which blocks say again what the rows of the answer's table show: items whose sources are all rows of it, or stand
 * behind its groups, and the line that leads to them. A group that does not hold is kept, with its mark.
 */
export function repeatedBy(answer: Answer, blocks: Block[]): Set<Block> {
  const groups = answer.table?.behind ?? [];
  const rows = new Set([...(answer.table?.doc_ids ?? []), ...groups.flat()]);
  const items = blocks.filter((block) => {
    if (block.kind !== "item") return false;
    const cited = block.parts.flatMap((part) => (part.kind === "cite" ? [answer.citations[part.index]!.doc_id] : []));
    return cited.length > 0 && cited.every((id) => rows.has(id));
  });
  if (items.length < 2) return new Set();
  const said = groups.length ? items.filter((block) => block.claims.every(holds)) : items;
  const lead = blocks[blocks.indexOf(items[0]!) - 1];
  const leads = groups.length > 0 && lead?.kind === "paragraph" && plain(lead.parts).trimEnd().endsWith(":");
  return new Set(leads ? [lead, ...said] : said);
}

/** Whether a question was asked of chosen documents alone. */
export const isScoped = (answer: Pick<Answer, "notes">): boolean => answer.notes.some((note) => note.kind === "scope");

const HELD = new Set(["supported", "derived"]);
export const holds = (claim: Claim): boolean => HELD.has(claim.verdict);
