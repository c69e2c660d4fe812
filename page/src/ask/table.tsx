// The table of an answer: ordered by value, searched, drawn, and taken away as a file of exactly the rows that are seen.
import { useMemo, useState } from "preact/hooks";
import { lazy, Suspense } from "preact/compat";
import { keepFile, send, sendJson } from "../api/client";
import type { Answer, Claim } from "../api/types";
import { openPlace } from "../reader/place";
import { hrefTo } from "../routing";
import { useOneStop } from "../ui/focus";
import { Icon } from "../ui/icon";
import { trying } from "../ui/parts";
import { spoken, t } from "../words";
import { cellOf, compare, currenciesOf, kindOf, seriesOf, type Cell } from "./cells";
import { holds, isScoped } from "./blocks";
import { printing } from "./printing";
import { CiteLink } from "./cite";
import { writtenFilter } from "./conversation";
import { fileName } from "./export";
import { VERDICTS } from "./verdicts";

const Chart = lazy(() => import("./chart").then((found) => found.Chart));
const FIRST = 50;

interface Row {
  cells: Cell[];
  id: string;
  /** Citations of the document of the row, or of those that its number is computed over. */
  cited: number[];
  /** Documents that its number is computed over and that the answer does not cite. */
  uncited: string[];
  claim: Claim | null;
}

export function AnswerTable({ answer, numbers, claims }: { answer: Answer; numbers: number[]; claims: Map<string, Claim> }) {
  const table = answer.table!;
  const [sort, setSort] = useState<{ at: number; down: boolean } | null>(null);
  const [text, setText] = useState("");
  const [currency, setCurrency] = useState("");
  const [all, setAll] = useState(false);
  const oneStop = useOneStop();
  const rows = useMemo<Row[]>(
    () =>
      table.rows.map((cells, at) => {
        const id = table.doc_ids[at] ?? "";
        const sources = id ? [id] : (table.behind?.[at] ?? []);
        const found = sources.map((one) => answer.citations.findIndex((citation) => citation.doc_id === one));
        return {
          cells: cells.map(cellOf),
          id,
          cited: found.filter((index) => index >= 0),
          uncited: id ? [] : sources.filter((_, place) => found[place]! < 0),
          claim: claims.get(id) ?? null,
        };
      }),
    [answer],
  );
  const kinds = table.columns.map((_, at) => kindOf(rows.map((row) => row.cells[at]!)));
  const currencies = [...new Set(table.columns.flatMap((_, at) => (kinds[at] === "money" ? currenciesOf(rows.map((row) => row.cells[at]!)) : [])))];
  const needle = text.trim().toLocaleLowerCase();
  const seen = rows
    .filter((row) => !needle || row.cells.some((cell) => cell.text.toLocaleLowerCase().includes(needle)))
    .filter((row) => !currency || row.cells.some((cell) => cell.kind === "money" && cell.currency === currency));
  if (sort) seen.sort((one, other) => compare(one.cells[sort.at]!, other.cells[sort.at]!, sort.down));
  const series = useMemo(() => (table.doc_ids.length ? [] : seriesOf(table.columns.map(spoken), rows.map((row) => row.cells))), [answer]);
  const [drawn, setDrawn] = useState(series.length > 0);
  const numbered = rows.some((row) => row.cited.length || row.uncited.length);
  const shownRows = all || printing.value ? seen : seen.slice(0, FIRST);

  const file = (format: "csv" | "xlsx") =>
    trying(async () => {
      const name = fileName(answer.question) || "citegraph";
      const body = { columns: table.columns.map(spoken), rows: seen.map((row) => row.cells.map((cell) => cell.text)), format, name };
      keepFile(await (await sendJson("POST", "tables", body)).blob(), `${name}.${format}`);
    });
  const everything = wholeList(answer, rows.length);

  return (
    <section class="answer-table">
      <div class="table-tools">
        <p class="table-count" role="status">
          {seen.length === rows.length ? t("count.rows", { n: rows.length }) : t("table.some", { n: seen.length, all: rows.length })}
        </p>
        {rows.length > 5 && (
          <label class="table-search">
            <Icon name="search" size={15} />
            <span class="unseen">{t("table.search")}</span>
            <input type="search" placeholder={t("table.search")} value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
        )}
        {currencies.length > 1 && (
          <label>
            <span class="unseen">{t("table.currency")}</span>
            <select value={currency} onChange={(event) => setCurrency(event.currentTarget.value)}>
              <option value="">{t("table.currencies")}</option>
              {currencies.map((one) => (
                <option value={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
        <span class="push" />
        <span class="table-acts">
          {series.length > 0 && (
            <button type="button" class="plain small" aria-pressed={drawn} onClick={() => setDrawn(!drawn)}>
              <Icon name={series[0]!.line ? "line" : "bars"} size={15} /> {t("table.chart")}
            </button>
          )}
          <button type="button" class="plain small" onClick={() => file("csv")}>
            <Icon name="download" size={15} /> CSV
          </button>
          <button type="button" class="plain small" onClick={() => file("xlsx")}>
            <Icon name="download" size={15} /> Excel
          </button>
        </span>
      </div>
      {drawn && series.length > 0 && (
        <Suspense fallback={<div class="chart-wait" />}>
          <Chart series={series} />
        </Suspense>
      )}
      <div {...oneStop} class="table-frame" tabIndex={0} role="region" aria-label={t("table.title")}>
        <table>
          <thead>
            <tr>
              {numbered && (
                <th scope="col" class="source-column">
                  <span class="unseen">{t("sources")}</span>
                </th>
              )}
              {table.columns.map((name, at) => (
                <th
                  scope="col"
                  class={kinds[at] === "money" || kinds[at] === "number" ? "number" : ""}
                  aria-sort={sort?.at === at ? (sort.down ? "descending" : "ascending") : "none"}
                >
                  {/* Browsers repeat the head on every printed page, but no button in it. */}
                  {printing.value ? (
                    spoken(name)
                  ) : (
                    <button type="button" onClick={() => setSort({ at, down: sort?.at === at ? !sort.down : false })}>
                      {spoken(name)}
                      <Icon name={sort?.at === at && sort.down ? "down" : "up"} size={13} />
                    </button>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shownRows.map((row) => (
              <tr>
                {numbered && (
                  <td class="source-column">
                    <RowSources row={row} answer={answer} numbers={numbers} />
                    {row.claim && !holds(row.claim) && (
                      <span class={`verdict ${row.claim.verdict}`} title={row.claim.reason}>
                        <Icon name={VERDICTS[row.claim.verdict].icon} size={15} />
                        <span class="unseen">{t(`verdict.${row.claim.verdict}`)}</span>
                      </span>
                    )}
                  </td>
                )}
                {row.cells.map((cell, at) => (
                  <td
                    role={at === 0 ? "rowheader" : undefined}
                    class={kinds[at] === "money" || kinds[at] === "number" ? "number" : kinds[at] === "date" ? "date" : ""}
                  >
                    {row.id && at === 0 ? (
                      <a href="#" onClick={(event) => openPlace(event, { doc_id: row.id, page: null, start: null, end: null })}>
                        {cell.text || row.id}
                      </a>
                    ) : (
                      <CellText cell={cell} />
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {seen.length > shownRows.length && (
        <button type="button" class="plain small" onClick={() => setAll(true)}>
          {t("table.more", { n: seen.length - shownRows.length })}
        </button>
      )}
      {!seen.length && <p class="faint">{t("table.nothing")}</p>}
      {everything && (
        <p class="faint">
          {t("table.whole", { n: answer.matched ?? 0, shown: rows.length })}{" "}
          <button
            type="button"
            class="link"
            onClick={() => trying(async () => keepFile(await (await send(everything)).blob(), `${answer.buckets[0]}.csv`))}
          >
            {t("table.wholeFile", { n: answer.matched ?? 0 })}
          </button>
        </p>
      )}
    </section>
  );
}

const FEW = 3;

/** The sources of a row: their numbers, and of documents that the answer does not cite a link to each. */
function RowSources({ row, answer, numbers }: { row: Row; answer: Answer; numbers: number[] }) {
  const [all, setAll] = useState(false);
  const links = [
    ...row.cited.map((at) => <CiteLink citation={answer.citations[at]!} number={numbers[at]!} />),
    ...row.uncited.map((id) => {
      const place = { doc_id: id, page: null, start: null, end: null };
      return (
        <a class="cite" href={hrefTo({ place })} title={id} onClick={(event) => openPlace(event, place)}>
          <Icon name="file" size={12} />
        </a>
      );
    }),
  ];
  const few = matchMedia("(max-width: 600px)").matches ? 1 : FEW;
  const hidden = all || printing.value ? 0 : links.length - few;
  return (
    <>
      {links.slice(0, hidden > 1 ? few : links.length)}
      {hidden > 1 && (
        <button type="button" class="cite more" onClick={() => setAll(true)} aria-label={t("cite.more", { n: hidden })}>
          +{hidden}
        </button>
      )}
    </>
  );
}

function CellText({ cell }: { cell: Cell }) {
  if (cell.kind !== "money") return <>{cell.text}</>;
  const amount = cell.text.slice(0, -cell.currency.length).trim();
  return (
    <>
      {amount} <span class="currency">{cell.currency}</span>
    </>
  );
}

/** The address of all documents that match, where the table shows only some of them. */
function wholeList(answer: Answer, rows: number): string | null {
  if (!answer.table?.doc_ids.length || (answer.matched ?? 0) <= rows || answer.buckets.length !== 1 || isScoped(answer)) return null;
  const applied = answer.filters.filter((filter) => filter.status === "applied");
  const plain = applied.every((filter) => !Array.isArray(filter.value) || ["in", "not in", "between"].includes(filter.operator));
  if (!plain) return null;
  const query = new URLSearchParams({ bucket: answer.buckets[0]! });
  for (const filter of applied) query.append("filter", writtenFilter(filter));
  return `export.csv?${query}`;
}
