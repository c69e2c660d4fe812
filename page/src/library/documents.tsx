// The documents of a bucket: searched, filtered and ordered by the server, shown with the fields that one chooses.
import { useEffect, useState } from "preact/hooks";
import { documentPath, getJson, keepFile, send } from "../api/client";
import type { BucketDetail, DocumentSummary, Field } from "../api/types";
import { printedAmount } from "../ask/cells";
import { askOf } from "../ask/conversation";
import { FilterDialog } from "../ask/filter_chips";
import { openPlace } from "../reader/place";
import { hrefTo } from "../routing";
import { useOneStop } from "../ui/focus";
import { Icon } from "../ui/icon";
import { IconButton, MenuButton, sure, tell, trying } from "../ui/parts";
import { moment, spoken, t } from "../words";
import { about, bucketDetail, changes, documentsChanged } from "./buckets";

const PAGE = 50;
const COLUMNS = 5;
/** The column of the moment at which a document came in; no field is called so. */
const ADDED = "@added";

export function DocumentsView({ bucket }: { bucket: string }) {
  const [detail, setDetail] = useState<BucketDetail | null>(null);
  const [columns, setColumns] = useState<string[]>([]);
  const [text, setText] = useState("");
  const [filters, setFilters] = useState<string[]>([]);
  const [order, setOrder] = useState("");
  const [from, setFrom] = useState(0);
  const [found, setFound] = useState<{ documents: DocumentSummary[]; total: number } | null>(null);
  const [chosen, setChosen] = useState<Map<string, DocumentSummary>>(new Map());
  const [adding, setAdding] = useState(false);
  const [problem, setProblem] = useState("");
  const oneStop = useOneStop();
  const may = about.value?.may_write ?? false;
  useEffect(() => {
    void trying(async () => {
      const known = await bucketDetail(bucket);
      setDetail(known);
    });
  }, [bucket, changes.value]);
  useEffect(() => {
    const timer = setTimeout(
      async () => {
        const query = new URLSearchParams({ bucket, limit: String(PAGE), offset: String(from) });
        if (text.trim()) query.set("q", text.trim());
        if (order) query.set("order", order);
        for (const filter of filters) query.append("filter", filter);
        try {
          const listed = await getJson<{ documents: DocumentSummary[]; total: number }>(`documents?${query}`);
          setFound(listed);
          setProblem("");
          if (!columns.length && listed.documents.length) setColumns(telling(await bucketDetail(bucket), listed.documents));
        } catch (error) {
          setProblem((error as Error).message);
        }
      },
      text ? 200 : 0,
    );
    return () => clearTimeout(timer);
  }, [bucket, text, filters, order, from, changes.value]);
  const change = (work: () => void) => {
    setFrom(0);
    work();
  };
  const remove = async () => {
    const ids = [...chosen.keys()];
    if (!(await sure(t("documents.delete"), t("documents.sure", { n: ids.length }), t("delete")))) return;
    let gone = 0;
    await trying(async () => {
      for (const id of ids) {
        await send(documentPath(id), { method: "DELETE" });
        gone += 1;
      }
    });
    if (gone) tell(t("documents.deleted", { n: gone }));
    setChosen(new Map());
    await documentsChanged();
  };
  const query = new URLSearchParams({ bucket });
  for (const filter of filters) query.append("filter", filter);
  const fields = new Map(detail?.fields.map((field) => [field.name, field]));
  return (
    <section aria-label={t("library.documents")}>
      <div class="table-tools">
        <label class="table-search">
          <Icon name="search" size={15} />
          <span class="unseen">{t("documents.search")}</span>
          <input type="search" placeholder={t("documents.search")} value={text} onInput={(event) => change(() => setText(event.currentTarget.value))} />
        </label>
        {filters.map((filter) => (
          <span class="chip own">
            <span class="chip-text">{spoken(filter)}</span>
            <IconButton icon="close" class="tiny" label={t("filters.without", { text: filter })} onClick={() => change(() => setFilters(filters.filter((one) => one !== filter)))} />
          </span>
        ))}
        <button type="button" class="chip add" onClick={() => setAdding(true)}>
          <Icon name="filter" size={14} /> {t("filters.add")}
        </button>
        <span class="push" />
        {chosen.size > 0 && (
          <button type="button" class="plain small" onClick={() => askOf(bucket, [...chosen.values()])}>
            <Icon name="thread" size={15} /> {t("documents.ask", { n: chosen.size })}
          </button>
        )}
        {chosen.size > 0 && may && (
          <button type="button" class="plain small danger" onClick={remove}>
            <Icon name="trash" size={15} /> {t("documents.deleteSome", { n: chosen.size })}
          </button>
        )}
        {detail && (
          <details class="columns-menu">
            <summary class="button plain small">
              <Icon name="table" size={15} /> {t("documents.columns")}
            </summary>
            <div class="menu-list checks-list">
              {[...fields.keys(), ADDED].map((name) => (
                <label>
                  <input
                    type="checkbox"
                    checked={columns.includes(name)}
                    onChange={(event) => setColumns(event.currentTarget.checked ? [...columns, name] : columns.filter((one) => one !== name))}
                  />
                  {headOf(name)}
                </label>
              ))}
            </div>
          </details>
        )}
        <button type="button" class="plain small" onClick={() => trying(async () => keepFile(await (await send(`export.csv?${query}&excel=true`)).blob(), `${bucket}.csv`))}>
          <Icon name="download" size={15} /> CSV
        </button>
      </div>
      {problem && (
        <p class="trouble bad" role="alert">
          {problem}
        </p>
      )}
      {found && (
        <p class="table-count faint" role="status">
          {t("count.documents", { n: found.total })}
          {filters.length > 0 || text.trim() ? ` · ${t("documents.of", { n: detail?.documents ?? 0 })}` : ""}
        </p>
      )}
      {found && found.total === 0 && <p class="empty-line">{text || filters.length ? t("documents.none") : t("documents.empty")}</p>}
      {found && found.total > 0 && (
        <>
          <div {...oneStop} class="table-frame tall" tabIndex={0} role="region" aria-label={t("library.documents")}>
            <table class="documents">
              <thead>
                <tr>
                  <th scope="col" class="check-column">
                    <input
                      type="checkbox"
                      aria-label={t("documents.all")}
                      checked={found.documents.every((one) => chosen.has(one.doc_id))}
                      onChange={(event) => setChosen(new Map(event.currentTarget.checked ? found.documents.map((one) => [one.doc_id, one]) : []))}
                    />
                  </th>
                  <th scope="col">{t("documents.document")}</th>
                  {columns.map((name) => (
                    <th
                      scope="col"
                      class={isNumber(fields.get(name)) ? "number" : ""}
                      aria-sort={order.replace("-", "") === name ? (order.startsWith("-") ? "descending" : "ascending") : "none"}
                    >
                      <button type="button" title={fields.get(name)?.description} onClick={() => change(() => setOrder(nextOrder(order, name)))}>
                        {headOf(name)}
                        <Icon name={order === `-${name}` ? "down" : "up"} size={13} />
                      </button>
                    </th>
                  ))}
                  {may && (
                    <th scope="col">
                      <span class="unseen">{t("actions")}</span>
                    </th>
                  )}
                </tr>
              </thead>
              <tbody>
                {found.documents.map((one) => {
                  const place = { doc_id: one.doc_id, page: null, start: null, end: null };
                  return (
                    <tr key={one.doc_id}>
                      <td class="check-column">
                        <input
                          type="checkbox"
                          aria-label={t("documents.choose", { name: one.title || one.source_file })}
                          checked={chosen.has(one.doc_id)}
                          onChange={(event) => {
                            const now = new Map(chosen);
                            if (event.currentTarget.checked) now.set(one.doc_id, one);
                            else now.delete(one.doc_id);
                            setChosen(now);
                          }}
                        />
                      </td>
                      <td class="document-name" role="rowheader">
                        <a href={hrefTo({ place })} onClick={(event) => openPlace(event, place)}>
                          {one.title || one.source_file}
                        </a>
                        <span class="faint">{one.source_file}</span>
                      </td>
                      {columns.map((name) => (
                        <td class={isNumber(fields.get(name)) ? "number" : name === ADDED || fields.get(name)?.type === "date" ? "date" : ""}>
                          {name === ADDED && one.added ? <span title={moment(one.added)}>{one.added.slice(0, 10)}</span> : <Shown value={one.metadata[name]} field={fields.get(name)} />}
                        </td>
                      ))}
                      {may && (
                        <td class="menu-column">
                          <MenuButton
                            label={t("documents.menu", { name: one.title || one.source_file })}
                            items={[
                              {
                                label: t("document.download"),
                                icon: "download",
                                act: () => void trying(async () => keepFile(await (await send(`${documentPath(one.doc_id)}/file`)).blob(), one.source_file)),
                              },
                              {
                                label: t("documents.delete"),
                                icon: "trash",
                                danger: true,
                                act: () =>
                                  void (async () => {
                                    if (!(await sure(t("documents.delete"), t("documents.sureOne", { name: one.title || one.source_file }), t("delete")))) return;
                                    await trying(async () => {
                                      await send(documentPath(one.doc_id), { method: "DELETE" });
                                      tell(t("documents.deleted", { n: 1 }));
                                      await documentsChanged();
                                    });
                                  })(),
                              },
                            ]}
                          />
                        </td>
                      )}
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
          {found.total > PAGE && (
            <nav class="pager" aria-label={t("pages")}>
              <IconButton icon="left" label={t("page.before")} disabled={from === 0} onClick={() => setFrom(Math.max(0, from - PAGE))} />
              <span>{t("pages.of", { first: from + 1, last: Math.min(from + PAGE, found.total), all: found.total })}</span>
              <IconButton icon="right" label={t("page.after")} disabled={from + PAGE >= found.total} onClick={() => setFrom(from + PAGE)} />
            </nav>
          )}
        </>
      )}
      {adding && (
        <FilterDialog
          bucket={bucket}
          filter={null}
          action={t("filters.use")}
          onClose={() => setAdding(false)}
          onDone={(filter) => {
            setAdding(false);
            change(() => setFilters([...filters, filter]));
          }}
        />
      )}
    </section>
  );
}

const headOf = (name: string): string => (name === ADDED ? t("documents.added") : spoken(name));

/** By a column, then the other way round: values from the smallest up, documents from the newest down. */
function nextOrder(order: string, name: string): string {
  const [first, second] = name === ADDED ? [`-${name}`, name] : [name, `-${name}`];
  return order === first ? second : first;
}

const isNumber = (field: Field | undefined): boolean => !!field && ["money", "integer", "decimal", "quantity"].includes(field.type);

function Shown({ value, field }: { value: string | undefined; field: Field | undefined }) {
  if (!value) return <span class="faint">–</span>;
  const money = field?.type === "money" ? /^(.*) ([A-Z]{3})$/.exec(printedAmount(value)) : null;
  if (!money) return <>{value.length > 90 ? `${value.slice(0, 88)}…` : value}</>;
  return (
    <>
      {money[1]} <span class="currency">{money[2]}</span>
    </>
  );
}

/** Dates and amounts: narrow, and what one looks for first. */
const inSight = (field: Field): boolean => field.type === "date" || field.type === "money";

/** What says most at a glance: fields that most of the documents have, short ones, dates and amounts first; and when they came in, if that is known. */
function telling(detail: BucketDetail, documents: DocumentSummary[]): string[] {
  const share = (field: Field) => documents.filter((one) => one.metadata[field.name]).length / documents.length;
  const title = (field: Field) => documents.every((one) => one.metadata[field.name] === undefined || one.metadata[field.name] === one.title);
  const added = documents.filter((one) => one.added).length >= documents.length / 2 ? [ADDED] : [];
  const fields = detail.fields
    .filter((field) => field.type !== "text" && field.type !== "keywords" && share(field) >= 0.5 && !title(field))
    .slice(0, COLUMNS);
  const named = (seen: boolean) => fields.filter((field) => inSight(field) === seen).map((field) => field.name);
  return [...named(true), ...added, ...named(false)];
}
