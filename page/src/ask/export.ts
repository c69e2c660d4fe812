// Answers and threads as text that can be taken elsewhere: every statement keeps the numbers of its sources.
import { keepFile } from "../api/client";
import type { Answer, Clarification } from "../api/types";
import { spoken, t } from "../words";
import { blocksOf, holds, numbersOf, repeatedBy, type Inline } from "./blocks";
import { shown } from "./cells";
import { thread, title, turns } from "./conversation";

function textOf(parts: Inline[], numbers: number[]): string {
  return parts
    .map((part) => {
      if (part.kind === "cite") return ` [${numbers[part.index]}]`;
      if (part.kind === "verdict") return holds(part.claim) ? "" : ` (${t(`verdict.${part.claim.verdict}`)})`;
      return part.text;
    })
    .join("")
    .trim();
}

/** Return what is said of an answer that came: how it stands and its text, without the rows that its table shows. */
export function answerAloud(answer: Answer): string {
  const blocks = blocksOf(answer);
  const rows = answer.table?.rows.length ?? 0;
  const repeated = rows ? repeatedBy(answer, blocks) : null;
  const told = blocks
    .filter((block) => !repeated?.has(block))
    .flatMap((block) => (block.kind === "row" ? block.cells : [block.parts]))
    .map((parts) => textOf(parts.filter((part) => part.kind !== "cite"), []));
  return [`${t(`status.${answer.status}`)}.`, ...told, ...(rows ? [`${t("count.rows", { n: rows })}.`] : [])].join(" ");
}

/** Return what is said of a question back: its words, and the options by their numbers. */
export const askedAloud = (asked: Clarification): string =>
  [asked.question, ...asked.options.map((option, at) => `${at + 1}: ${option.label}.`), t("clarify.own")].join(" ");

/** Return an answer as text with its sources beneath. */
export function answerAsText(answer: Answer): string {
  const blocks = blocksOf(answer);
  const numbers = numbersOf(answer.citations, blocks);
  const lines = blocks.map((block) => {
    if (block.kind === "row") return `| ${block.cells.map((cell) => textOf(cell, numbers)).join(" | ")} |`;
    const lead = block.kind === "item" ? (block.number === null ? "- " : `${block.number}. `) : "";
    return lead + textOf(block.parts, numbers);
  });
  const sources = answer.citations
    .map((citation, index) => ({ number: numbers[index]!, text: `[${numbers[index]}] ${citation.label}: “${citation.quote.replace(/\s+/g, " ").trim()}”${citation.remark ? ` (${citation.remark})` : ""}` }))
    .sort((one, other) => one.number - other.number)
    .map((one) => one.text);
  return [...lines, ...(sources.length ? ["", `${t("sources")}:`, ...sources] : [])].join("\n");
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function tableAsMarkdown(answer: Answer): string[] {
  if (!answer.table?.rows.length) return [];
  const { columns, rows } = answer.table;
  return ["", `| ${columns.map((name) => cell(spoken(name))).join(" | ")} |`, `|${columns.map(() => "---").join("|")}|`, ...rows.map((row) => `| ${row.map((value) => cell(shown(value))).join(" | ")} |`)];
}

/** Return the open thread as Markdown. */
export function threadAsMarkdown(): string {
  const parts = [`# ${title.value}`, ""];
  for (const turn of turns.value) {
    parts.push(`## ${turn.question}`, "");
    for (const exchange of turn.exchanges) parts.push(`> ${exchange.question}`, `> **${exchange.reply ?? t("clarify.closed")}**`, "");
    if (!turn.answer) continue;
    parts.push(`*${t(`status.${turn.answer.status}`)}*`, "", answerAsText(turn.answer), ...tableAsMarkdown(turn.answer), "");
    const applied = turn.answer.filters.filter((filter) => filter.status === "applied").map((filter) => filter.text);
    if (applied.length) parts.push(`${t("filters")}: ${applied.join("; ")}`, "");
    for (const note of turn.answer.notes) parts.push(`- ${note.message}`);
    if (turn.note) parts.push("", ...`**${t("note.yours")}** ${turn.note}`.split("\n").map((line) => `> ${line}`));
    parts.push("");
  }
  return parts.join("\n");
}

/** Return what was asked as the name of a file. */
export const fileName = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60).replace(/^-|-$/g, "");

export function keepMarkdown(): void {
  keepFile(new Blob([threadAsMarkdown()], { type: "text/markdown;charset=utf-8" }), `${fileName(title.value) || thread.value}.md`);
}
