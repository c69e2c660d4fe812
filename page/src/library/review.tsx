// What a person should look at: doubtful, contradicted and refused values; accepted, corrected, and taken back.
import { useEffect, useState } from "preact/hooks";
import { getJson } from "../api/client";
import type { DocumentValue, ReviewItem } from "../api/types";
import { printedAmount } from "../ask/cells";
import { openPlace } from "../reader/place";
import { correct, EditValue, placeOfValue, statusWord } from "../reader/values_view";
import { hrefTo } from "../routing";
import { Icon } from "../ui/icon";
import { said, trying } from "../ui/parts";
import { spoken, t } from "../words";
import { about } from "./buckets";

const PAGE = 25;
const keyOf = (item: ReviewItem): string => `${item.doc_id} ${item.field}`;

export function ReviewView({ bucket }: { bucket: string }) {
  const [found, setFound] = useState<{ items: ReviewItem[]; total: number } | null>(null);
  const [shown, setShown] = useState(PAGE);
  const [problem, setProblem] = useState("");
  const [editing, setEditing] = useState("");
  /** What was decided on this visit, each by its item: it stays where it stood, to be taken back. */
  const [decided, setDecided] = useState(new Map<string, string>());
  const load = async () => {
    try {
      const listed: typeof found = await getJson(`review?${new URLSearchParams({ bucket, limit: String(Math.min(200, shown)) })}`);
      const kept = found?.items.filter((item) => decided.has(keyOf(item))) ?? [];
      setFound({ items: [...kept, ...listed!.items], total: listed!.total + kept.length });
      setProblem("");
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  useEffect(() => void load(), [bucket, shown]);
  const may = about.value?.may_write ?? false;
  const act = (item: ReviewItem, action: "set" | "accept" | "absent" | "undo", value = "", note = "") =>
    trying(async () => {
      await correct(item.doc_id, item.field, action, value, note);
      setEditing("");
      const now = new Map(decided);
      if (action === "undo") now.delete(keyOf(item));
      else now.set(keyOf(item), value || t(action === "absent" ? "review.absent" : "review.accept"));
      setDecided(now);
      said.value = t(action === "undo" ? "values.undone" : "values.kept");
    });
  if (problem)
    return (
      <p class="trouble bad" role="alert">
        {problem}
      </p>
    );
  if (!found) return <p class="faint wait">{t("opening")}</p>;
  if (!found.total)
    return (
      <div class="empty">
        <Icon name="ok" size={28} />
        <p>{t("review.nothing")}</p>
      </div>
    );
  return (
    <section aria-label={t("library.review")}>
      <p class="faint">{t("review.lead", { n: found.total - decided.size })}</p>
      <ul class="review">
        {found.items.map((item) => {
          const key = keyOf(item);
          const now = decided.get(key);
          const stands = item.found.find((one) => one.status === "stored" || one.status === "uncertain");
          return (
            <li key={key} class={`review-item ${now === undefined ? "" : "decided"}`}>
              <header>
                <strong>{spoken(item.field)}</strong>
                <Place id={item.doc_id} name={item.file} value={null} />
                <span class="certainty" title={t("values.sure", { percent: Math.round(item.certainty * 100) })}>
                  {t("values.sure", { percent: Math.round(item.certainty * 100) })}
                </span>
              </header>
              {now !== undefined && (
                <p class="row">
                  <Icon name="ok" size={17} /> <span class="value-text">{now}</span>
                  <span class="push" />
                  <button type="button" class="plain small" onClick={() => act(item, "undo")}>
                    <Icon name="undo" size={15} /> {t("undo")}
                  </button>
                </p>
              )}
              <ul class="review-found" hidden={now !== undefined}>
                {item.found.map((one) => (
                  <li>
                    <span class={`status-word ${one.status}`}>{statusWord(one.status)}</span>
                    <span class="value-text">{printedAmount(one.shown || (one.raw ?? ""))}</span>
                    {one.reason && <span class="faint">{one.reason}</span>}
                    {may && one.status === "other" && one.shown && (
                      <button type="button" class="link" onClick={() => act(item, "set", one.shown)}>
                        {t("review.take")}
                      </button>
                    )}
                    {one.quote && <Place id={item.doc_id} name={`“${one.quote}”`} value={one} />}
                  </li>
                ))}
              </ul>
              {may &&
                now === undefined &&
                (editing === key ? (
                  <EditValue before={stands?.shown ?? item.found[0]?.raw ?? ""} example="" onCancel={() => setEditing("")} onSave={(value, note) => act(item, "set", value, note)} />
                ) : (
                  <div class="row">
                    {stands && (
                      <button type="button" class="plain small" onClick={() => act(item, "accept")}>
                        <Icon name="check" size={15} /> {t("review.accept")}
                      </button>
                    )}
                    <button type="button" class="plain small" onClick={() => setEditing(key)}>
                      <Icon name="pencil" size={15} /> {t("review.correct")}
                    </button>
                    <button type="button" class="plain small" onClick={() => act(item, "absent")}>
                      <Icon name="none" size={15} /> {t("review.absent")}
                    </button>
                  </div>
                ))}
            </li>
          );
        })}
      </ul>
      {found.total > found.items.length && found.items.length < 200 && (
        <button type="button" class="plain" onClick={() => setShown(shown + PAGE)}>
          {t("review.more")}
        </button>
      )}
    </section>
  );
}

function Place({ id, name, value }: { id: string; name: string; value: DocumentValue | null }) {
  const place = (value && placeOfValue(id, value)) || { doc_id: id, page: null, start: null, end: null };
  return (
    <a href={hrefTo({ place })} onClick={(event) => openPlace(event, place)}>
      {name}
    </a>
  );
}
