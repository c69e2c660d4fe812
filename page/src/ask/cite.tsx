import { signal } from "@preact/signals";
import type { Citation } from "../api/types";
import { hrefTo } from "../routing";
import { openPlace } from "../reader/place";
import { t } from "../words";

/** The citation that is pointed at, so that its number and its source light up together. */
export const pointed = signal<Citation | null>(null);

export const placeOf = (citation: Citation) => ({ doc_id: citation.doc_id, page: citation.page, start: citation.start, end: citation.end });

/** The number of a source; opens the cited place beside the answer. */
export function CiteLink({ citation, number }: { citation: Citation; number: number }) {
  return (
    <a
      class={`cite ${pointed.value === citation ? "pointed" : ""}`}
      href={hrefTo({ place: placeOf(citation) })}
      aria-label={t("cite.label", { number, label: citation.label })}
      title={`${citation.label}: ${citation.quote.trim().slice(0, 200)}`}
      onMouseEnter={() => (pointed.value = citation)}
      onMouseLeave={() => (pointed.value = null)}
      onClick={(event) => openPlace(event, placeOf(citation), citation)}
    >
      {number}
    </a>
  );
}
