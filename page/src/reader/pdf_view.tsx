// The pages of a PDF by PDF.js: zoom, search, text that can be selected, and the cited place marked and in view.
import { AnnotationMode, getDocument, GlobalWorkerOptions, type PDFDocumentLoadingTask } from "pdfjs-dist/legacy/build/pdf.mjs";
import { EventBus, PDFFindController, PDFLinkService, PDFViewer } from "pdfjs-dist/legacy/web/pdf_viewer.mjs";
import "pdfjs-dist/legacy/web/pdf_viewer.css";
import { useEffect, useRef, useState } from "preact/hooks";
import { documentPath, getJson, keyHeaders, send } from "../api/client";
import type { DocumentDetail, PageText } from "../api/types";
import type { Place } from "../routing";
import { IconButton, said } from "../ui/parts";
import { t } from "../words";
import { SearchBar } from "./search_bar";

const PDF = new URL("pdf/", document.baseURI);

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** The worker's address: the page's policy lets scripts come from this one file only. */
function workerAddress(): string {
  const url = new URL("worker.js", PDF).href;
  const policies = (window as unknown as { trustedTypes?: Policies }).trustedTypes;
  return policies ? policies.createPolicy("citegraph-pdf", { createScriptURL: (given) => (given === url ? given : "") }).createScriptURL(url) : url;
}

GlobalWorkerOptions.workerPort = new Worker(workerAddress(), { type: "module" });

interface Opened {
  viewer: PDFViewer;
  bus: EventBus;
}

export function PdfView({ detail, place, onUndrawable }: { detail: DocumentDetail; place: Place; onUndrawable: () => void }) {
  const container = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [page, setPage] = useState(place.page ?? 1);
  const [scale, setScale] = useState(1);
  const [searching, setSearching] = useState(false);
  const [text, setText] = useState("");
  const [found, setFound] = useState<{ current: number; total: number } | null>(null);

  useEffect(() => {
    let gone = false;
    const bus = new EventBus();
    const links = new PDFLinkService({ eventBus: bus, externalLinkTarget: 2, externalLinkRel: "noopener noreferrer" });
    const find = new PDFFindController({ eventBus: bus, linkService: links });
    const viewer = new PDFViewer({
      container: container.current!,
      eventBus: bus,
      linkService: links,
      findController: find,
      annotationMode: AnnotationMode.ENABLE,
      annotationEditorMode: -1,
      // Makes links of what only looks like one, and tells of an error when one zooms meanwhile.
      enableAutoLinking: false,
      imageResourcesPath: new URL("images/", PDF).href,
      removePageBorders: true,
    });
    links.setViewer(viewer);
    bus.on("pagesinit", () => {
      viewer.currentScaleValue = "page-width";
      setOpened({ viewer, bus });
    });
    bus.on("pagechanging", (event: { pageNumber: number }) => setPage(event.pageNumber));
    bus.on("scalechanging", (event: { scale: number }) => setScale(event.scale));
    bus.on("updatefindmatchescount", (event: { matchesCount: { current: number; total: number } }) => setFound(event.matchesCount));
    bus.on("updatefindcontrolstate", (event: { matchesCount: { current: number; total: number } }) => setFound(event.matchesCount));
    const resized = new ResizeObserver(() => {
      // It hears of its own end too, when the pages are taken out of view.
      if (container.current?.isConnected && viewer.currentScaleValue === "page-width") viewer.currentScaleValue = "page-width";
    });
    resized.observe(container.current!);
    let task: PDFDocumentLoadingTask | null = null;
    void (async () => {
      try {
        const url = `${documentPath(detail.doc_id)}/file`;
        // Refused before PDF.js asks: a file that holds several documents is not sent.
        await send(url, { method: "GET", headers: { Range: "bytes=0-0" } });
        task = getDocument({
          url: new URL(url, document.baseURI).href,
          httpHeaders: keyHeaders(),
          cMapUrl: new URL("cmaps/", PDF).href,
          cMapPacked: true,
          standardFontDataUrl: new URL("standard_fonts/", PDF).href,
          iccUrl: new URL("iccs/", PDF).href,
          wasmUrl: new URL("wasm/", PDF).href,
          enableXfa: false,
        });
        const document_ = await task.promise;
        if (gone) return;
        viewer.setDocument(document_);
        links.setDocument(document_, null);
      } catch {
        if (!gone) onUndrawable();
      }
    })();
    return () => {
      gone = true;
      resized.disconnect();
      viewer.setDocument(null as never);
      void task?.destroy();
    };
  }, [detail.doc_id]);

  useEffect(() => {
    if (!opened) return undefined;
    const { viewer, bus } = opened;
    const number = place.page ?? 1;
    if (number >= 1 && number <= viewer.pagesCount) viewer.scrollPageIntoView({ pageNumber: number });
    if (place.end === null || place.page === null) return undefined;
    let marks: [number, number, number, number][] = [];
    let brought = false;
    const draw = () => {
      const view = viewer.getPageView(number - 1) as { div?: HTMLElement } | undefined;
      const sheet = view?.div;
      if (!sheet || !marks.length) return;
      for (const old of sheet.querySelectorAll(".place")) old.remove();
      for (const [left, top, right, bottom] of marks) {
        const mark = document.createElement("div");
        mark.className = "place";
        const style = { left, top, width: right - left, height: bottom - top };
        for (const [side, share] of Object.entries(style)) mark.style.setProperty(side, `${share * 100}%`);
        sheet.append(mark);
      }
      if (brought) return;
      brought = true;
      const frame = container.current!;
      const top = sheet.offsetTop + sheet.clientTop + marks[0]![1] * sheet.clientHeight;
      frame.scrollTop = Math.max(0, top - frame.clientHeight / 3);
      frame.scrollLeft = Math.max(0, marks[0]![0] * sheet.clientWidth - frame.clientWidth / 2);
      said.value = t("document.marked", { page: number });
    };
    const rendered = (event: { pageNumber: number }) => event.pageNumber === number && draw();
    bus.on("pagerendered", rendered);
    const span = new URLSearchParams({ start: String(place.start ?? 0), end: String(place.end) });
    getJson<PageText>(`${documentPath(detail.doc_id)}/pages/${number}?${span}`).then(
      (shown) => {
        marks = shown.marks ?? [];
        draw();
      },
      () => undefined,
    );
    return () => {
      bus.off("pagerendered", rendered);
      for (const old of container.current?.querySelectorAll(".place") ?? []) old.remove();
    };
  }, [opened, place.page, place.start, place.end]);

  const look = (again: boolean, back = false) =>
    opened?.bus.dispatch("find", { source: window, type: again ? "again" : "", query: text, caseSensitive: false, entireWord: false, highlightAll: true, findPrevious: back, matchDiacritics: false });
  useEffect(() => {
    const timer = setTimeout(() => look(false), 150);
    return () => clearTimeout(timer);
  }, [text, opened]);
  const zoom = (steps: number) => {
    if (steps > 0) opened?.viewer.increaseScale({ steps });
    else opened?.viewer.decreaseScale({ steps: -steps });
  };
  return (
    <>
      <div class="reader-tools" role="toolbar" aria-label={t("document.tools")}>
        <IconButton id="page-before" icon="left" label={t("page.before")} disabled={page <= 1} onClick={() => (opened!.viewer.currentPageNumber = page - 1)} />
        <label class="page-number">
          <span class="unseen">{t("page.go")}</span>
          <input
            type="number"
            min={1}
            max={detail.pages.length}
            value={page}
            onChange={(event) => {
              const wanted = Number(event.currentTarget.value);
              if (opened && wanted >= 1 && wanted <= opened.viewer.pagesCount) opened.viewer.currentPageNumber = wanted;
            }}
          />
          <span>/ {detail.pages.length}</span>
        </label>
        <IconButton id="page-after" icon="right" label={t("page.after")} disabled={page >= detail.pages.length} onClick={() => (opened!.viewer.currentPageNumber = page + 1)} />
        <span class="push" />
        <IconButton icon="zoomOut" label={t("zoom.out")} onClick={() => zoom(-1)} />
        <button type="button" class="zoom" title={t("zoom.fit")} onClick={() => opened && (opened.viewer.currentScaleValue = "page-width")}>
          {Math.round(scale * 100)} %<span class="unseen">, {t("zoom.fit")}</span>
        </button>
        <IconButton icon="zoomIn" label={t("zoom.in")} onClick={() => zoom(1)} />
        <IconButton icon="search" label={t("document.search")} pressed={searching} onClick={() => (setSearching(!searching), setText(""))} />
      </div>
      {searching && (
        <SearchBar eager text={text} onText={setText} current={found?.current ?? 0} total={text ? (found?.total ?? 0) : null} onNext={() => look(true)} onBefore={() => look(true, true)} />
      )}
      <div class="pdf-frame">
        <div class="pdf-container" ref={container} tabIndex={0} role="region" aria-label={t("document.pages")}>
          <div class="pdfViewer" />
        </div>
      </div>
    </>
  );
}
