// A document beside the conversation: its pages with the cited place marked, its text, and its fields.
import { lazy, Suspense } from "preact/compat";
import { useEffect, useRef, useState } from "preact/hooks";
import { documentPath, getJson, keepFile, send } from "../api/client";
import type { DocumentDetail, DocumentSummary } from "../api/types";
import { askOf } from "../ask/conversation";
import { address, go, hrefTo, type Place } from "../routing";
import { Icon } from "../ui/icon";
import { IconButton, trying } from "../ui/parts";
import { day, t } from "../words";
import { PassagesView } from "./passages_view";
import { PictureView } from "./picture_view";
import { closePlace, openedBy, samePlace } from "./place";
import { TextView } from "./text_view";
import { ValuesView } from "./values_view";

const PdfView = lazy(() => import("./pdf_view").then((found) => found.PdfView));
type Tab = "pages" | "text" | "fields" | "passages";

export function Reader({ place }: { place: Place }) {
  const [detail, setDetail] = useState<DocumentDetail | null>(null);
  const [problem, setProblem] = useState("");
  const [tab, setTab] = useState<Tab>("pages");
  const [drawable, setDrawable] = useState(true);
  const heading = useRef<HTMLHeadingElement>(null);
  const citation = samePlace(place, openedBy.value) ? openedBy.value : null;
  useEffect(() => {
    let gone = false;
    setDetail(null);
    setProblem("");
    setDrawable(true);
    setTab("pages");
    getJson<DocumentDetail>(documentPath(place.doc_id)).then(
      (found) => !gone && setDetail(found),
      (error: Error) => !gone && setProblem(error.message),
    );
    heading.current?.focus({ preventScroll: true });
    return () => {
      gone = true;
    };
  }, [place.doc_id]);
  useEffect(() => {
    // Another place of the same document is shown where it lies.
    if (place.end !== null) setTab((now) => (now === "fields" || now === "passages" ? "pages" : now));
  }, [place.start, place.end, place.page]);
  const pdf = detail?.media_type === "application/pdf";
  const picture = !!detail && /^image\//.test(detail.media_type);
  const drawn = drawable && (pdf || picture);
  const tabs: Tab[] = drawn ? ["pages", "text", "fields", "passages"] : ["text", "fields", "passages"];
  const shown = tabs.includes(tab) ? tab : tabs[0]!;
  return (
    <aside class="reader" id="document" aria-labelledby="document-title">
      <header class="reader-head">
        <div class="reader-title">
          <h2 id="document-title" ref={heading} tabIndex={-1}>
            {detail?.title || detail?.source_file || place.doc_id}
          </h2>
          <p class="faint">
            {detail && (
              <>
                {detail.title && detail.title !== detail.source_file ? `${detail.source_file} · ` : ""}
                {detail.bucket}
                {detail.pages.length > 0 && ` · ${t("count.pages", { n: detail.pages.length })}`}
                {detail.added && ` · ${t("document.added", { day: day(Date.parse(detail.added) / 1000) })}`}
              </>
            )}
          </p>
        </div>
        {detail && <IconButton icon="thread" label={t("document.ask")} onClick={() => askAbout(detail)} />}
        {detail && (
          <IconButton
            icon="download"
            label={t("document.download")}
            onClick={() => trying(async () => keepFile(await (await send(`${documentPath(detail.doc_id)}/file`)).blob(), detail.source_file))}
          />
        )}
        <IconButton id="document-close" icon="close" label={t("document.close")} onClick={closePlace} />
      </header>
      <Versions id={place.doc_id} />
      {citation && (
        <blockquote class="reader-quote" tabIndex={0}>
          <Icon name="moved" size={15} />
          <span>{citation.quote.replace(/\s+/g, " ").trim()}</span>
        </blockquote>
      )}
      <div class="tabs" role="tablist" aria-label={t("document.views")}>
        {tabs.map((one) => (
          <button
            type="button"
            role="tab"
            id={`tab-${one}`}
            aria-selected={shown === one}
            aria-controls="document-body"
            tabIndex={shown === one ? 0 : -1}
            onClick={() => setTab(one)}
            onKeyDown={(event) => {
              const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
              if (!step) return;
              const next = tabs[(tabs.indexOf(one) + step + tabs.length) % tabs.length]!;
              setTab(next);
              document.getElementById(`tab-${next}`)?.focus();
            }}
          >
            {t(`document.${one}`)}
          </button>
        ))}
      </div>
      <div class="reader-body" id="document-body" role="tabpanel" aria-labelledby={`tab-${shown}`}>
        {problem && (
          <p class="trouble bad" role="alert">
            {problem}
          </p>
        )}
        {!detail && !problem && <p class="faint wait">{t("opening")}</p>}
        {detail && shown === "pages" && pdf && (
          <Suspense fallback={<p class="faint wait">{t("opening")}</p>}>
            <PdfView detail={detail} place={place} onUndrawable={() => setDrawable(false)} />
          </Suspense>
        )}
        {detail && shown === "pages" && picture && <PictureView detail={detail} place={place} onUndrawable={() => setDrawable(false)} />}
        {detail && shown === "text" && <TextView detail={detail} place={place} />}
        {detail && shown === "fields" && <ValuesView id={detail.doc_id} bucket={detail.bucket} onPlace={(found) => (go({ place: found }), setTab("pages"))} />}
        {detail && shown === "passages" && <PassagesView id={detail.doc_id} onPlace={(found) => (go({ place: found }), setTab("pages"))} />}
      </div>
    </aside>
  );
}

/** The next questions are asked of the document alone. */
function askAbout(document: DocumentDetail): void {
  if (address.value.view === "ask" && matchMedia("(max-width: 900px)").matches) closePlace();
  askOf(document.bucket, [document]);
}

/** What the document replaces, or what replaces it. */
function Versions({ id }: { id: string }) {
  const [found, setFound] = useState<{ older: DocumentSummary[]; newer: DocumentSummary[] } | null>(null);
  useEffect(() => {
    let gone = false;
    setFound(null);
    getJson<{ older: DocumentSummary[]; newer: DocumentSummary[] }>(`${documentPath(id)}/versions`).then(
      (versions) => !gone && setFound(versions),
      () => undefined,
    );
    return () => {
      gone = true;
    };
  }, [id]);
  if (!found || !(found.older.length + found.newer.length)) return null;
  const link = (item: DocumentSummary) => (
    <a href={hrefTo({ ...address.value, place: { doc_id: item.doc_id, page: null, start: null, end: null } })}>{item.title || item.source_file}</a>
  );
  return (
    <p class={`versions ${found.newer.length ? "old" : ""}`}>
      <Icon name="files" size={15} />
      <span>
        {found.newer.length > 0 && (
          <>
            {t("versions.newer")} {found.newer.map(link)}{" "}
          </>
        )}
        {found.older.length > 0 && (
          <>
            {t("versions.older")} {found.older.map(link)}
          </>
        )}
      </span>
    </p>
  );
}
