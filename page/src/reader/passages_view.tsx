// The passages of a document as search finds them, in its order: opened at their place, left out of search, put back.
import { useEffect, useState } from "preact/hooks";
import { documentPath, getJson, sendJson } from "../api/client";
import type { Passage } from "../api/types";
import { about } from "../library/buckets";
import type { Place } from "../routing";
import { tell, trying } from "../ui/parts";
import { day, t } from "../words";

const AT_ONCE = 100;
const MOST = 500;

export function PassagesView({ id, onPlace }: { id: string; onPlace: (place: Place) => void }) {
  const [found, setFound] = useState<{ passages: Passage[]; total: number } | null>(null);
  const load = (offset: number, limit: number, before: Passage[] = []) =>
    trying(async () => {
      const more = await getJson<{ passages: Passage[]; total: number }>(`${documentPath(id)}/passages?offset=${offset}&limit=${limit}`);
      setFound({ passages: [...before, ...more.passages], total: more.total });
    });
  useEffect(() => {
    setFound(null);
    void load(0, AT_ONCE);
  }, [id]);
  if (!found) return <p class="faint wait">{t("opening")}</p>;
  const choose = (passage: Passage, out: boolean) =>
    trying(async () => {
      await sendJson("POST", `${documentPath(id)}/passages`, { passage: passage.id, left_out: out });
      // Those of the same text went with it: what is seen is asked for anew.
      await load(0, Math.min(MOST, found.passages.length));
      tell(t(out ? "passages.gone" : "passages.back"), out ? { undo: { label: t("undo"), act: () => void choose(passage, false) } } : {});
    });
  return (
    <div class="values" tabIndex={0} role="region" aria-label={t("document.passages")}>
      <p class="faint value-note">{t("passages.what", { n: found.total })}</p>
      <ol class="passages">
        {found.passages.map((passage) => (
          <li key={passage.id} class={passage.left_out ? "out" : ""}>
            <span class="value-line">
              <button type="button" class="link" onClick={() => onPlace({ doc_id: id, page: passage.page, start: passage.start, end: passage.end })}>
                {passage.page ? t("page.short", { page: passage.page }) : t("values.where")}
              </button>
              <strong>{passage.heading}</strong>
              {about.value?.may_write && (
                <button type="button" class="plain small" aria-pressed={passage.left_out} onClick={() => choose(passage, !passage.left_out)}>
                  {t(passage.left_out ? "passages.putBack" : "passages.leaveOut")}
                </button>
              )}
            </span>
            <p>{passage.text.replace(/\s+/g, " ").trim()}</p>
            {passage.left_out && <p class="warn value-note">{t("passages.out", { by: passage.by ?? "", day: day(Date.parse(passage.at ?? "") / 1000) })}</p>}
          </li>
        ))}
      </ol>
      {found.passages.length < found.total && (
        <button type="button" class="plain" onClick={() => load(found.passages.length, AT_ONCE, found.passages)}>
          {t("passages.more")}
        </button>
      )}
    </div>
  );
}
