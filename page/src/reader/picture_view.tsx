// A scan or photograph with the cited place marked.
import { useEffect, useRef, useState } from "preact/hooks";
import { documentPath, getJson, send } from "../api/client";
import type { DocumentDetail, PageText } from "../api/types";
import type { Place } from "../routing";
import { IconButton, said } from "../ui/parts";
import { t } from "../words";

const STEP = 1.25;

export function PictureView({ detail, place, onUndrawable }: { detail: DocumentDetail; place: Place; onUndrawable: () => void }) {
  const numbers = detail.pages.map((page) => page.number);
  const [page, setPage] = useState(place.page ?? numbers[0] ?? 1);
  const [url, setUrl] = useState("");
  const [text, setText] = useState<PageText | null>(null);
  const [zoom, setZoom] = useState(1);
  const sheet = useRef<HTMLDivElement>(null);
  useEffect(() => setPage(place.page ?? numbers[0] ?? 1), [detail.doc_id, place.page]);
  useEffect(() => {
    let made = "";
    let gone = false;
    void (async () => {
      try {
        const path = `${documentPath(detail.doc_id)}/pages/${page}`;
        const span = place.end !== null && page === (place.page ?? page) ? `?start=${place.start ?? 0}&end=${place.end}` : "";
        const [picture, found] = await Promise.all([send(`${path}?format=png`).then((response) => response.blob()), getJson<PageText>(`${path}${span}`)]);
        if (gone) return;
        made = URL.createObjectURL(picture);
        setUrl(made);
        setText(found);
      } catch {
        if (!gone) onUndrawable();
      }
    })();
    return () => {
      gone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [detail.doc_id, page, place.start, place.end]);
  useEffect(() => {
    sheet.current?.style.setProperty("width", `${zoom * 100}%`);
  }, [zoom, url]);
  const bring = () => {
    const mark = sheet.current?.querySelector(".place");
    mark?.scrollIntoView({ block: "center" });
    if (mark) said.value = t("document.marked", { page });
  };
  const index = numbers.indexOf(page);
  return (
    <>
      <div class="reader-tools" role="toolbar" aria-label={t("document.tools")}>
        {numbers.length > 1 && (
          <>
            <IconButton icon="left" label={t("page.before")} disabled={index <= 0} onClick={() => setPage(numbers[index - 1]!)} />
            <span class="page-number">{t("page.of", { page, pages: numbers.length })}</span>
            <IconButton icon="right" label={t("page.after")} disabled={index >= numbers.length - 1} onClick={() => setPage(numbers[index + 1]!)} />
          </>
        )}
        <span class="push" />
        <IconButton icon="zoomOut" label={t("zoom.out")} onClick={() => setZoom(Math.max(0.4, zoom / STEP))} />
        <button type="button" class="zoom" title={t("zoom.fit")} onClick={() => setZoom(1)}>
          {Math.round(zoom * 100)} %<span class="unseen">, {t("zoom.fit")}</span>
        </button>
        <IconButton icon="zoomIn" label={t("zoom.in")} onClick={() => setZoom(Math.min(5, zoom * STEP))} />
      </div>
      <div class="sheet-frame" tabIndex={0} role="region" aria-label={t("document.pages")}>
        {url && (
          <div class="picture" ref={sheet}>
            <img src={url} alt={text?.text.slice(0, 2000) ?? ""} onLoad={bring} />
            {(text?.marks ?? []).map(([left, top, right, bottom]) => (
              <div class="place" style={{ left: `${left * 100}%`, top: `${top * 100}%`, width: `${(right - left) * 100}%`, height: `${(bottom - top) * 100}%` }} />
            ))}
          </div>
        )}
      </div>
    </>
  );
}
