// Files and folders brought in by drag and drop: one after the other, each with its progress and what came of it.
import { computed, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, send, upload } from "../api/client";
import type { Ingested } from "../api/types";
import { openPlace } from "../reader/place";
import { hrefTo } from "../routing";
import { Icon } from "../ui/icon";
import { IconButton, tell } from "../ui/parts";
import { spoken, t } from "../words";
import { scope } from "../ask/conversation";
import { about, buckets, documentsChanged } from "./buckets";
import { held, over, type Dropped } from "./dropped";

interface Item {
  id: number;
  file: File;
  path: string;
  bucket: string;
  labels: string[];
  state: "waiting" | "sending" | "reading" | "done" | "failed" | "stopped";
  share: number;
  problem: string;
  result: Ingested | null;
}

const items = signal<Item[]>([]);
const busy = signal(false);
const finished = computed(() => items.value.filter((item) => !["waiting", "sending", "reading"].includes(item.state)).length);
let ids = 0;
let current: AbortController | null = null;

const change = (id: number, to: Partial<Item>) => (items.value = items.value.map((item) => (item.id === id ? { ...item, ...to } : item)));
const LONGEST_WAIT = 60;

async function one(item: Item, signal_: AbortSignal): Promise<void> {
  const form = new FormData();
  form.set("bucket", item.bucket);
  for (const label of item.labels) form.append("labels", label);
  form.set("file", item.file, item.file.name);
  for (;;) {
    try {
      change(item.id, { state: "sending", share: 0, problem: "" });
      await upload(
        "documents",
        form,
        ({ name, data }) => {
          const told = data as { progress?: { done: number; total: number }; problem?: string; ingested?: Ingested };
          if (name === "sent") change(item.id, { share: (data as number) * 0.5, state: (data as number) >= 1 ? "reading" : "sending" });
          if (told.progress) change(item.id, { state: "reading", share: 0.5 + (0.5 * told.progress.done) / (told.progress.total || 1) });
          if (told.problem) change(item.id, { state: "failed", problem: told.problem });
          if (told.ingested) change(item.id, { state: "done", share: 1, result: told.ingested });
        },
        signal_,
      );
      return;
    } catch (error) {
      if ((error as Error).name === "AbortError") {
        change(item.id, { state: "stopped" });
        return;
      }
      const problem = error as Problem;
      if (problem.status === 429 && problem.retryAfter <= LONGEST_WAIT) {
        change(item.id, { state: "waiting", problem: problem.message });
        await new Promise((resolve) => setTimeout(resolve, Math.max(1, problem.retryAfter) * 1000));
        continue;
      }
      change(item.id, { state: "failed", problem: problem.message });
      return;
    }
  }
}

async function work(): Promise<void> {
  if (busy.value) return;
  busy.value = true;
  current = new AbortController();
  try {
    // A key that is missing is asked for before a file goes.
    await send("buckets");
    for (;;) {
      const next = items.value.find((item) => item.state === "waiting");
      if (!next || current.signal.aborted) break;
      await one(next, current.signal);
    }
  } catch (error) {
    tell((error as Error).message, { bad: true });
  } finally {
    busy.value = false;
    await documentsChanged().catch(() => undefined);
  }
}

function add(files: Dropped[], bucket: string, labels: string[]): void {
  const most = (about.value?.max_upload_mb ?? 50) * 1024 * 1024;
  const made = files
    // What systems leave behind in folders is no document.
    .filter(({ file }) => !/^(\.|~\$|Thumbs\.db$|desktop\.ini$)/.test(file.name))
    .map(({ file, path }): Item => {
      const large = file.size > most;
      return { id: ++ids, file, path, bucket, labels, state: large ? "failed" : "waiting", share: 0, problem: large ? t("upload.large", { mb: about.value?.max_upload_mb ?? 50 }) : "", result: null };
    });
  items.value = [...items.value, ...made];
  void work();
}

const focused = (select: HTMLSelectElement | null) => void (held.value.length && select?.focus());

/** Where files are brought in; what was dropped without saying into which bucket waits until that is chosen. */
export function UploadView({ bucket }: { bucket: string | null }) {
  const [chosen, setChosen] = useState(bucket ?? scope.value.buckets[0] ?? "");
  const own = about.value?.labels ?? null;
  const [labels, setLabels] = useState(own?.length === 1 ? own[0]! : "");
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const target = bucket ?? chosen;
  const take = () => {
    add(held.value, target, labels.split(",").map((label) => label.trim()).filter(Boolean));
    held.value = [];
  };
  useEffect(() => {
    if (bucket && held.value.length) take();
  }, [bucket, held.value]);
  const listed = (input: HTMLInputElement) => {
    held.value = [...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
    input.value = "";
  };
  return (
    <section class="upload" aria-label={t("upload")}>
      <div class="upload-form">
        {bucket === null && (
          <label>
            {t("upload.bucket")}
            <select id="upload-bucket" ref={focused} value={chosen} required onChange={(event) => setChosen(event.currentTarget.value)}>
              <option value="">{t("upload.which")}</option>
              {(buckets.value ?? []).map((one) => (
                <option value={one.name}>{one.name}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          {t("upload.labels")}
          <input id="upload-labels" value={labels} placeholder={own ? own.join(", ") : t("upload.labelsHint")} onInput={(event) => setLabels(event.currentTarget.value)} />
        </label>
      </div>
      {!bucket && held.value.length > 0 && (
        <div class="row end held" role="status">
          <p>{t("upload.held", { n: held.value.length, names: held.value.slice(0, 3).map((one) => one.path).join(", ") + (held.value.length > 3 ? ", …" : "") })}</p>
          <button type="button" class="plain" onClick={() => (held.value = [])}>
            {t("cancel")}
          </button>
          <button type="button" class="strong" id="upload-held" disabled={!target} onClick={take}>
            {t("upload.add", { n: held.value.length })}
          </button>
        </div>
      )}
      <div class={`drop ${over.value ? "over" : ""}`}>
        <Icon name="upload" size={26} />
        <p>{t("upload.drop")}</p>
        <div class="row">
          <button type="button" class="strong" onClick={() => files.current!.click()}>
            {t("upload.files")}
          </button>
          <button type="button" class="plain" onClick={() => folder.current!.click()}>
            <Icon name="folder" size={16} /> {t("upload.folder")}
          </button>
        </div>
        <input ref={files} id="upload-file" class="unseen" type="file" multiple tabIndex={-1} aria-label={t("upload.files")} onChange={(event) => listed(event.currentTarget)} />
        <input
          ref={(input) => {
            folder.current = input;
            input?.setAttribute("webkitdirectory", "");
          }}
          class="unseen"
          type="file"
          multiple
          tabIndex={-1}
          aria-label={t("upload.folder")}
          onChange={(event) => listed(event.currentTarget)}
        />
        <p class="faint">{t("upload.hint", { mb: about.value?.max_upload_mb ?? 50 })}</p>
      </div>
      {items.value.length > 0 && <Results />}
    </section>
  );
}

const named = (fields: { field: string }[]): string => fields.map((one) => spoken(one.field)).join(", ");

/** The fields that matter and that were not found in every document of a file, but for those that are to be reviewed. */
const unfound = (result: Ingested): string => named(result.values.filter((one) => one.found < result.documents.length && !one.review));

function Results() {
  const all = items.value.length;
  const failed = items.value.filter((item) => item.state === "failed").length;
  return (
    <div class="upload-results">
      <div class="row">
        <p role="status">
          <strong>{t("upload.progress", { done: finished.value, all })}</strong>
          {failed > 0 && <span class="bad-text"> · {t("upload.failed", { n: failed })}</span>}
        </p>
        <span class="push" />
        {busy.value ? (
          <button
            type="button"
            class="plain small"
            onClick={() => {
              current?.abort();
              items.value = items.value.map((item) => (item.state === "waiting" ? { ...item, state: "stopped" } : item));
            }}
          >
            <Icon name="stop" size={14} /> {t("stop")}
          </button>
        ) : (
          <>
            {items.value.some((item) => item.state === "failed" || item.state === "stopped") && (
              <button
                type="button"
                class="plain small"
                onClick={() => {
                  items.value = items.value.map((item) => (item.state === "failed" || item.state === "stopped" ? { ...item, state: "waiting", problem: "" } : item));
                  void work();
                }}
              >
                <Icon name="again" size={14} /> {t("upload.retry")}
              </button>
            )}
            <button type="button" class="plain small" onClick={() => (items.value = [])}>
              {t("upload.clear")}
            </button>
          </>
        )}
      </div>
      <progress max={all} value={items.value.reduce((sum, item) => sum + (item.state === "done" || item.state === "failed" || item.state === "stopped" ? 1 : item.share), 0)} aria-label={t("upload")} />
      <ul id="upload-results">
        {items.value.map((item) => (
          <li key={item.id} class={`upload-item ${item.state}`}>
            <span class="upload-state">
              <Icon name={item.state === "done" ? "ok" : item.state === "failed" ? "wrong" : item.state === "stopped" ? "none" : "circle"} size={17} />
            </span>
            <span class="upload-name">
              {item.path}
              <span class="faint"> → {item.bucket}</span>
            </span>
            {item.state === "waiting" && <IconButton icon="close" class="tiny" label={t("upload.skip", { name: item.path })} onClick={() => (items.value = items.value.filter((one) => one.id !== item.id))} />}
            <span class="upload-result">
              {item.state === "done" && item.result ? (
                <>
                  {item.result.documents.slice(0, 3).map((id) => {
                    const place = { doc_id: id, page: null, start: null, end: null };
                    return (
                      <a href={hrefTo({ place })} onClick={(event) => openPlace(event, place)}>
                        {item.result!.documents.length > 1 ? id : t("upload.open")}
                      </a>
                    );
                  })}
                  {!item.result.new && !item.result.changed && item.result.documents.length > 0 && <span class="faint">{t("upload.known")}</span>}
                  {item.result.changed > 0 && <span class="faint">{t("upload.changed")}</span>}
                  {unfound(item.result) && <span class="warn">{t("upload.unfound", { fields: unfound(item.result) })}</span>}
                  {item.result.values.some((one) => one.review > 0) && (
                    <a href={`#/library/${encodeURIComponent(item.bucket)}/review`}>{t("upload.review", { fields: named(item.result.values.filter((one) => one.review > 0)) })}</a>
                  )}
                  {item.result.documents.length > 3 && <span class="faint">{t("count.documents", { n: item.result.documents.length })}</span>}
                  {item.result.bad_values.length > 0 && <span class="warn" title={item.result.bad_values.join("\n")}>{t("upload.bad", { n: item.result.bad_values.length })}</span>}
                  {item.result.skipped.length > 0 && <span class="warn">{item.result.skipped.join("; ")}</span>}
                </>
              ) : item.state === "failed" ? (
                <span class="bad-text">{item.problem}</span>
              ) : (
                <span class="faint">{item.problem || t(`upload.state.${item.state === "done" ? "reading" : item.state}`)}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
