// A document's text with the cited place marked; searched, a page or a part at a time.
import { useEffect, useRef, useState } from "preact/hooks";
import { documentPath, getJson } from "../api/client";
import type { DocumentDetail, PageText } from "../api/types";
import type { Place } from "../routing";
import { IconButton, said } from "../ui/parts";
import { t } from "../words";
import { SearchBar } from "./search_bar";

/** Return the width, in characters, of the lines that are laid out in columns; 0 for a text whose lines may be broken anew. */
export function columnsOf(text: string): number {
  const aligned = text.split("\n").filter((line) => /\S {3,}\S|\S\t+\S/.test(line));
  const longest = Math.max(0, ...aligned.map((line) => line.trimEnd().length));
  return aligned.length >= 2 && longest <= 240 ? longest : 0;
}

interface Part {
  text: string;
  kind: "plain" | "place" | "hit";
  hit: number;
}

/** Cut a text at the cited place and at what is looked for; offsets count whole characters, as Python does. */
export function partsOf(text: string, place: [number, number] | null, needle: string): Part[] {
  const characters = Array.from(text);
  const kinds: ("plain" | "place")[] = characters.map((_, at) => (place && at >= place[0] && at < place[1] ? "place" : "plain"));
  const hits = new Map<number, number>();
  if (needle) {
    const folded = characters.map((one) => one.toLocaleLowerCase()[0] ?? one).join("");
    const wanted = needle.toLocaleLowerCase();
    let number = 0;
    for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + wanted.length)) {
      for (let step = 0; step < wanted.length; step += 1) hits.set(at + step, number);
      number += 1;
    }
  }
  const parts: Part[] = [];
  characters.forEach((character, at) => {
    const hit = hits.get(at) ?? -1;
    const kind = hit >= 0 ? "hit" : kinds[at]!;
    const last = parts.at(-1);
    if (last && last.kind === kind && last.hit === hit) last.text += character;
    else parts.push({ text: character, kind, hit });
  });
  return parts;
}

export function TextView({ detail, place }: { detail: DocumentDetail; place: Place }) {
  const numbers = detail.pages.map((page) => page.number);
  const [page, setPage] = useState(place.page ?? numbers[0] ?? null);
  const [from, setFrom] = useState(place.start ?? 0);
  const [shown, setShown] = useState<PageText | null>(null);
  const [problem, setProblem] = useState("");
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    setPage(place.page ?? numbers[0] ?? null);
    setFrom(place.start ?? 0);
  }, [detail.doc_id, place.page, place.start]);
  useEffect(() => {
    let gone = false;
    const span = new URLSearchParams({ start: String(page === null ? from : (place.start ?? 0)) });
    if (place.end !== null) span.set("end", String(place.end));
    getJson<PageText>(`${documentPath(detail.doc_id)}/${page !== null ? `pages/${page}` : "text"}?${span}`).then(
      (found) => !gone && (setShown(found), setProblem("")),
      (error: Error) => !gone && setProblem(error.message),
    );
    return () => {
      gone = true;
    };
  }, [detail.doc_id, page, from, place.start, place.end]);
  useEffect(() => {
    const mark = body.current?.querySelector(".place");
    mark?.scrollIntoView({ block: "center" });
    if (mark) said.value = page === null ? t("document.markedText") : t("document.marked", { page });
  }, [shown]);
  useEffect(() => {
    setAt(0);
  }, [text]);
  useEffect(() => {
    body.current?.querySelector(".hit.now")?.scrollIntoView({ block: "center" });
  }, [text, at]);
  if (problem)
    return (
      <p class="trouble bad" role="alert">
        {problem}
      </p>
    );
  if (!shown) return <p class="faint wait">{t("opening")}</p>;
  const cited: [number, number] | null = place.end !== null ? [(place.start ?? 0) - shown.start, place.end - shown.start] : null;
  const parts = partsOf(shown.text, cited, text.trim());
  const total = parts.reduce((most, part) => Math.max(most, part.hit + 1), 0);
  const wide = columnsOf(shown.text);
  const index = page === null ? -1 : numbers.indexOf(page);
  return (
    <>
      <div class="reader-tools" role="toolbar" aria-label={t("document.tools")}>
        {numbers.length > 1 && (
          <>
            <IconButton id="page-before" icon="left" label={t("page.before")} disabled={index <= 0} onClick={() => setPage(numbers[index - 1]!)} />
            <span class="page-number">{t("page.of", { page: page!, pages: numbers.length })}</span>
            <IconButton id="page-after" icon="right" label={t("page.after")} disabled={index >= numbers.length - 1} onClick={() => setPage(numbers[index + 1]!)} />
          </>
        )}
        {page === null && (shown.start > 0 || shown.end < detail.characters) && (
          <>
            <button type="button" class="plain small" disabled={shown.start <= 0} onClick={() => setFrom(Math.max(0, shown.start - 10_000))}>
              {t("text.before")}
            </button>
            <button type="button" class="plain small" disabled={shown.end >= detail.characters} onClick={() => setFrom(shown.end + 10_000)}>
              {t("text.after")}
            </button>
          </>
        )}
      </div>
      <SearchBar text={text} onText={setText} current={total ? at + 1 : 0} total={text.trim() ? total : null} onNext={() => setAt(total ? (at + 1) % total : 0)} onBefore={() => setAt(total ? (at - 1 + total) % total : 0)} />
      <div class="sheet-frame" ref={body} tabIndex={0} role="region" aria-label={t("document.text")}>
        <pre
          class={wide ? "sheet aligned" : "sheet"}
          ref={(sheet) => {
            sheet?.style.setProperty("--columns", String(wide || 80));
          }}
        >
          {parts.map((part) =>
            part.kind === "plain" ? part.text : <mark class={part.kind === "place" ? "place" : `hit ${part.hit === at ? "now" : ""}`}>{part.text}</mark>,
          )}
        </pre>
      </div>
    </>
  );
}
