// The document pane: a page as picture or text with the cited span marked and in view.
import { getJson, pictureOf } from "./api.js";
import { bring, by, make, say } from "./dom.js";

let shown = null;
let opener = null;
let picture = null;

/** Return the link of a place in a document; opened in another tab it shows the same place. */
export function placeOf(citation) {
  const place = new URLSearchParams({ document: citation.doc_id });
  for (const name of ["page", "start", "end"])
    if (citation[name] !== null && citation[name] !== undefined) place.set(name, citation[name]);
  return `#${place}`;
}

/** Return a link that opens a citation beside the answer. */
export function link(citation, settings, ...children) {
  const open = (event) => {
    event.preventDefault();
    openDocument(citation, event.currentTarget);
  };
  return make("a", { ...settings, href: placeOf(citation), onclick: open }, ...children);
}

/** Open the place that the address names, if it names one. */
export function openAddressed() {
  const place = new URLSearchParams(location.hash.slice(1));
  if (!place.has("document")) return;
  const number = (name) => (place.has(name) ? Number(place.get(name)) : null);
  openDocument({ doc_id: place.get("document"), page: number("page"), start: number("start"), end: number("end") });
}

const path = (docId) => `documents/${docId.split("/").map(encodeURIComponent).join("/")}`;

/** Open a document: {doc_id, page, start, end, label, quote}, all but the first may be missing. */
export async function openDocument(citation, from = null) {
  opener = from;
  shown = { ...citation, asText: false };
  by("document").hidden = false;
  document.body.classList.add("reading");
  by("document-title").textContent = citation.label || citation.doc_id;
  by("document-quote").hidden = !citation.quote;
  by("document-quote").textContent = citation.quote || "";
  by("document-title").focus({ preventScroll: true });
  const mine = shown;
  await guarded(async () => {
    const details = await getJson(path(citation.doc_id));
    if (mine !== shown) return;
    by("document-title").textContent = citation.label || details.title || details.source_file;
    shown.pages = details.pages.map((page) => page.number);
    shown.picturable = /pdf|image/.test(details.media_type);
    shown.page = citation.page ?? shown.pages[0] ?? null;
    await draw();
  });
}

/** Close the pane and go back to where it was opened from. */
export function closeDocument() {
  if (by("document").hidden) return false;
  by("document").hidden = true;
  document.body.classList.remove("reading");
  shown = null;
  clear();
  if (opener?.isConnected) opener.focus();
  return true;
}

async function guarded(work) {
  try {
    await work();
  } catch (error) {
    clear();
    by("document-body").append(make("p", { role: "alert" }, error.message));
  }
}

function clear() {
  if (picture) URL.revokeObjectURL(picture);
  picture = null;
  by("document-body").replaceChildren();
}

async function draw() {
  const mine = shown;
  const at = shown.pages.indexOf(shown.page);
  const paged = shown.pages.length > 0;
  by("page-before").hidden = by("page-after").hidden = shown.pages.length < 2;
  by("page-before").disabled = at <= 0;
  by("page-after").disabled = at === shown.pages.length - 1;
  by("document-tools").hidden = !paged;
  by("page-number").textContent = paged ? `Page ${shown.page} of ${shown.pages.length}` : "Text";
  by("as-text").hidden = !paged || !shown.picturable;
  by("as-text").setAttribute("aria-pressed", String(shown.asText));
  const span = new URLSearchParams();
  if (shown.end) {
    span.set("start", shown.start);
    span.set("end", shown.end);
  }
  const text = await getJson(`${path(shown.doc_id)}/${paged ? `pages/${shown.page}` : "text"}?${span}`);
  let drawn = null;
  if (paged && shown.picturable && !shown.asText) {
    try {
      drawn = await pictureOf(`${path(shown.doc_id)}/pages/${shown.page}?format=png&${span}`);
    } catch {
      drawn = null; // The file is gone, or its pages cannot be drawn: the text is kept.
    }
  }
  if (mine !== shown) return;
  clear();
  picture = drawn;
  const mark = drawn ? await drawPicture(drawn, text) : drawText(text);
  if (mark) bring(mark);
  const where = paged ? `Page ${shown.page}` : "The text";
  say(`${where} is open${mark ? ", the cited place is marked" : ""}. Escape closes it.`);
}

async function drawPicture(url, text) {
  const image = make("img", { src: url, alt: text.text.slice(0, 4000) });
  const sheet = make("div", { class: "sheet" }, image);
  const marks = (text.marks ?? []).map(([left, top, right, bottom]) => {
    const mark = make("div", { class: "place" });
    Object.assign(mark.style, {
      left: `${left * 100}%`,
      top: `${top * 100}%`,
      width: `${(right - left) * 100}%`,
      height: `${(bottom - top) * 100}%`,
    });
    return mark;
  });
  sheet.append(...marks);
  by("document-body").append(sheet);
  await image.decode();
  return marks[0];
}

/** Return the width, in characters, of a text that is laid out in columns; 0 for one whose lines may be broken anew. */
export function columnsOf(text) {
  const lines = text.split("\n");
  const longest = Math.max(...lines.map((line) => line.length));
  const aligned = lines.filter((line) => /\S {3,}\S|\S\t+\S/.test(line)).length;
  return aligned >= 2 && longest <= 240 ? longest : 0;
}

function drawText(text) {
  // Offsets count characters as Python does; JavaScript's own count halves of some.
  const characters = Array.from(text.text);
  const from = Math.max(0, (shown.start ?? 0) - text.start);
  const to = Math.min(characters.length, (shown.end ?? 0) - text.start);
  const part = (start, end) => characters.slice(start, end).join("");
  const wide = columnsOf(text.text);
  const sheet = make("pre", { class: wide ? "sheet aligned" : "sheet" });
  if (wide) sheet.style.setProperty("--columns", wide);
  by("document-body").append(sheet);
  if (to <= from) {
    sheet.append(part(0, characters.length));
    return null;
  }
  const mark = make("mark", { class: "place" }, part(from, to));
  sheet.append(part(0, from), mark, part(to));
  return mark;
}

function turn(by_) {
  shown.page = shown.pages[shown.pages.indexOf(shown.page) + by_];
  guarded(draw);
}

/** Wire the pane's controls. */
export function startReader() {
  by("document-close").addEventListener("click", closeDocument);
  by("page-before").addEventListener("click", () => turn(-1));
  by("page-after").addEventListener("click", () => turn(1));
  by("as-text").addEventListener("click", () => {
    shown.asText = !shown.asText;
    guarded(draw);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !by("key-dialog").open && closeDocument()) event.preventDefault();
  });
  addEventListener("hashchange", openAddressed);
}
