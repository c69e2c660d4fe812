// Shows an answer: text with claims and citations, verdicts, table, filters, notes, sources.
import { hasKey, send } from "./api.js";
import { counted, make, unseen } from "./dom.js";
import { link } from "./reader.js";

const STATUS = {
  answered: ["✓", "Answered"],
  partial: ["◐", "Partial: not everything could be answered"],
  needs_clarification: ["?", "Needs your reply"],
  unanswerable: ["∅", "The documents do not answer this"],
  failed: ["✕", "Failed"],
};
const VERDICT = {
  supported: ["✓", "supported by its source"],
  derived: ["=", "computed from its sources"],
  misattributed: ["↷", "moved to the source that supports it"],
  unsupported: ["?", "not supported"],
  contradicted: ["✕", "contradicted by its source"],
};

/** Return the elements of an answer; `remove` is called with a filter whose chip was taken away. */
export function answerParts(answer, remove) {
  const asks = answer.status === "needs_clarification";
  return [
    badge(answer),
    asks ? null : make("div", { class: "text" }, ...lines(answer)),
    answer.table?.rows.length ? tableOf(answer) : null,
    chips(answer.filters, remove),
    asks ? null : sources(answer.citations),
    checks(answer.claims),
    notes(answer.notes),
    make("p", { class: "faint" }, spent(answer.usage)),
  ].filter(Boolean);
}

function badge(answer) {
  const [sign, text] = STATUS[answer.status] ?? ["", answer.status];
  return make("p", { class: `status ${answer.status}` }, make("span", { "aria-hidden": "true" }, sign), ` ${text}`);
}

function spent(usage) {
  const calls = `${counted(usage.tool_calls, "search", "searches")}, ${counted(usage.llm_calls, "model call")}`;
  return `${usage.seconds.toFixed(2)} s, ${calls}`;
}

/** Return lines of the text: claims marked, markers replaced by numbered links. */
function lines(answer) {
  const characters = Array.from(answer.text); // Offsets count whole characters, as Python does.
  const rows = [[]];
  const put = (text, wrap) => {
    withoutMarkers(text, answer.citations).split("\n").forEach((part, number) => {
      if (number) rows.push([]);
      if (part) rows.at(-1).push(wrap(part));
    });
  };
  let at = 0;
  for (const claim of [...answer.claims].sort((one, other) => one.start - other.start)) {
    if (claim.start < at) continue;
    put(characters.slice(at, claim.start).join(""), (part) => document.createTextNode(part));
    const wrap = (part) => make("span", { class: `claim ${claim.verdict}`, title: claim.reason || null }, part);
    put(characters.slice(claim.start, claim.end).join(""), wrap);
    const [sign, words] = VERDICT[claim.verdict];
    const row = rows.at(-1).length || rows.length === 1 ? rows.at(-1) : rows.at(-2);
    row.push(...claim.citations.map((index) => cite(answer.citations[index], index)));
    row.push(make("span", { class: `verdict ${claim.verdict}`, "aria-hidden": "true", title: words }, sign));
    row.push(unseen(` (${words}) `));
    at = claim.end;
  }
  put(characters.slice(at).join(""), (part) => document.createTextNode(part));
  return rows.map((row) => {
    const listed = row[0]?.textContent.startsWith("- ");
    if (listed) row[0].textContent = row[0].textContent.slice(2);
    return make("p", { class: listed ? "item" : null }, ...row);
  });
}

function withoutMarkers(text, citations) {
  const known = new Set(citations.map((citation) => citation.marker));
  return text.replace(/\s?\[([^[\]\n]+)\]/g, (whole, marker) => (known.has(marker) ? "" : whole));
}

function cite(citation, index) {
  const label = `Source ${index + 1}: ${citation.label}`;
  return link(citation, { class: "cite", "aria-label": label, title: citation.label }, String(index + 1));
}

function sources(citations) {
  if (!citations.length) return null;
  const items = citations.map((citation, index) => make("li", {},
    link(citation, { class: "source" }, `${index + 1}. ${citation.label}`),
    make("span", { class: "faint" }, ` ${citation.bucket}`),
    make("blockquote", {}, citation.quote.slice(0, 300)),
    citation.remark ? make("p", { class: "remark" }, citation.remark) : null));
  return make("details", { class: "sources", open: citations.length < 6 },
    make("summary", {}, `Sources (${citations.length})`), make("ol", {}, ...items));
}

function checks(claims) {
  if (!claims.length) return null;
  const items = claims.map((claim) => make("li", {},
    make("strong", {}, `${VERDICT[claim.verdict].join(" ")}: `), claim.text,
    make("span", { class: "faint" }, ` ${claim.formula || claim.reason}`)));
  return make("details", {}, make("summary", {}, `How ${counted(claims.length, "statement")} held up`),
    make("ul", {}, ...items));
}

function notes(listed) {
  if (!listed.length) return null;
  return make("section", { class: "notes" }, make("h3", {}, "Notes"),
    make("ul", {}, ...listed.map((note) => make("li", {}, note.message))));
}

function chips(filters, remove) {
  if (!filters.length) return null;
  const items = filters.map((filter) => {
    const count = filter.matched === null ? "" : ` (${counted(filter.matched, "document")})`;
    const state = filter.status === "applied" ? "" : ` ${filter.status}`;
    const text = `${filter.text || `${filter.field} ${filter.operator} ${written(filter.value)}`}${count}${state}`;
    const drop = filter.status === "applied" ? make("button", {
      type: "button", "aria-label": `Ask again without the filter ${text}`, title: "Ask again without it",
      onclick: () => remove(filter),
    }, "×") : null;
    const yours = filter.origin === "inferred" ? null : make("span", { class: "faint" }, "set by you");
    return make("li", { class: `chip ${filter.status} ${yours ? "hard" : ""}` }, text, yours, drop);
  });
  return make("ul", { class: "chips", "aria-label": "Filters" }, ...items);
}

function written(value) {
  if (Array.isArray(value)) return value.map(written).join("; ");
  if (value && typeof value === "object")
    return "amount" in value ? `${value.amount} ${value.currency ?? ""}`.trim() : String(value.raw || value.value);
  return String(value ?? "");
}

/** Return an applied filter as `filters` of a question's context take it. */
export const writtenFilter = (filter) => `${filter.field} ${filter.operator} ${written(filter.value)}`.trim();

/** Return the address of the CSV of all documents that the filters match, null when it cannot be written so. */
function csvAddress(answer) {
  const applied = answer.filters.filter((filter) => filter.status === "applied");
  const plain = applied.every((filter) => !Array.isArray(filter.value) || ["in", "not in", "between"].includes(filter.operator));
  if (answer.buckets.length !== 1 || !plain) return null;
  const query = new URLSearchParams({ bucket: answer.buckets[0] });
  for (const filter of applied) query.append("filter", writtenFilter(filter));
  return `export.csv?${query}`;
}

function csvLink(answer) {
  const address = csvAddress(answer);
  if (!address) return null;
  const name = `${answer.buckets[0]}.csv`;
  return make("a", { class: "csv", href: address, download: name, onclick: async (event) => {
    if (!hasKey()) return; // With a key the browser's own request would lack it.
    event.preventDefault();
    const url = URL.createObjectURL(await (await send(address)).blob());
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  } }, "Download CSV");
}

const plain = (value) => written(value);

/** Return the number that a cell shows, with or without a unit ("1,860.00 USD"); NaN when it shows something else. */
const amount = (text) => (/^-?[\d,]+(\.\d+)?(\s*\D{1,4})?$/.test(text) ? parseFloat(text.replaceAll(",", "")) : NaN);

/** Order cells: numbers by size ("1,860.00 USD"), everything else by its words; empty cells come last. */
export function compare(one, other) {
  const [left, right] = [plain(one), plain(other)];
  if (!left || !right) return left ? -1 : right ? 1 : 0;
  const [a, b] = [amount(left), amount(right)];
  return Number.isNaN(a) || Number.isNaN(b) ? left.localeCompare(right, "en", { numeric: true }) : a - b;
}

function tableOf(answer) {
  const { columns, rows, doc_ids: ids } = answer.table;
  const body = make("tbody");
  const listed = rows.map((cells, number) => ({ cells, id: ids[number] }));
  const numeric = columns.map((_, column) => rows.some((cells) => plain(cells[column]))
    && rows.every((cells) => !plain(cells[column]) || !Number.isNaN(amount(plain(cells[column])))));
  const heads = columns.map((name, column) => make("th", { scope: "col", class: numeric[column] ? "number" : null },
    make("button", { type: "button", onclick: () => sort(column) }, name.replaceAll("_", " "))));
  const fill = () => body.replaceChildren(...listed.map(({ cells, id }) => make("tr", {},
    ...cells.map((cell, column) => make("td", { class: numeric[column] ? "number" : null }, id && column === 0
      ? link({ doc_id: id }, {}, plain(cell)) : plain(cell))))));
  function sort(column) {
    const down = heads[column].getAttribute("aria-sort") === "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    listed.sort((one, other) => compare(one.cells[column], other.cells[column]) * (down ? -1 : 1));
    fill();
  }
  fill();
  const caption = make("caption", {}, `${counted(rows.length, "row")} `, csvLink(answer));
  return make("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Result table" },
    make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), body));
}
