// The conversation, or where it begins: what can be asked, with questions made from the documents.
import { useEffect, useRef, useState } from "preact/hooks";
import { getJson } from "../api/client";
import type { Example } from "../api/types";
import { about, buckets } from "../library/buckets";
import { address, urlTo } from "../routing";
import { deleteThread, renameThread } from "../threads/list";
import { focusBox } from "../ui/focus";
import { Icon } from "../ui/icon";
import { copyText, Dialog, MenuButton, sure, trying } from "../ui/parts";
import { moment, t } from "../words";
import { Composer } from "./composer";
import { ask, draft, fresh, opening, thread, title, turns } from "./conversation";
import { keepMarkdown } from "./export";
import { KINDS } from "./kinds";
import { printing } from "./printing";
import { TurnView } from "./turn";

export function AskView() {
  const talk = useRef<HTMLDivElement>(null);
  const count = turns.value.length;
  const last = turns.value.at(-1);
  useEffect(() => {
    if (!address.value.place) focusBox();
  }, []);
  useEffect(() => {
    // A new question comes to the top, so that its answer has the whole view.
    const article = talk.current?.querySelector("article:last-of-type");
    article?.scrollIntoView({ block: "start", behavior: count > 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches ? "smooth" : "auto" });
  }, [last?.id]);
  return (
    <>
      {count > 0 && <ThreadHead />}
      <div class="talk" ref={talk}>
        <div class="talk-inner">
          {opening.value && !count && <p class="faint wait">{t("opening")}</p>}
          {!opening.value && !count && <Welcome />}
          {turns.value.map((turn) => (
            <TurnView key={turn.id} turn={turn} last={turn === last} />
          ))}
        </div>
      </div>
      <Composer />
    </>
  );
}

function ThreadHead() {
  const [naming, setNaming] = useState(false);
  const id = thread.value;
  return (
    <header class="thread-head">
      <h1>{title.value}</h1>
      {printing.value && <PrintHead />}
      {id && (
        <MenuButton
          label={t("thread.menu")}
          items={[
            { label: t("thread.rename"), icon: "pencil", act: () => setNaming(true) },
            { label: t("thread.link"), icon: "link", act: () => copyText(urlTo({ view: "ask", thread: id, place: null })) },
            { label: t("thread.markdown"), icon: "download", act: keepMarkdown },
            { label: t("thread.print"), icon: "printer", act: () => window.print() },
            { label: t("thread.delete"), icon: "trash", danger: true, act: () => void removeThread(id, title.value) },
          ]}
        />
      )}
      {naming && id && <RenameDialog id={id} title={title.value} onClose={() => setNaming(false)} />}
    </header>
  );
}

/** What a report says of itself: when it was made, and where it can be seen. */
function PrintHead() {
  return (
    <p class="print-head">
      Citegraph · {t("print.made", { moment: moment(new Date().toISOString()) })} · {urlTo({ place: null })}
    </p>
  );
}

export function RenameDialog({ id, title: before, onClose }: { id: string; title: string; onClose: () => void }) {
  const [name, setName] = useState(before);
  const submit = (event: Event) => {
    event.preventDefault();
    void trying(async () => {
      await renameThread(id, name.trim());
      if (thread.value === id) title.value = name.trim();
      onClose();
    });
  };
  return (
    <Dialog title={t("thread.rename")} onClose={onClose}>
      <form class="form" onSubmit={submit}>
        <label for="thread-name">{t("thread.name")}</label>
        <input id="thread-name" value={name} required maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
        <div class="row end">
          <button type="button" class="plain" onClick={onClose}>
            {t("cancel")}
          </button>
          <button type="submit" class="strong" disabled={!name.trim()}>
            {t("save")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export async function removeThread(id: string, name: string): Promise<void> {
  if (!(await sure(t("thread.delete"), t("thread.sure", { title: name }), t("delete")))) return;
  await trying(async () => {
    await deleteThread(id);
    if (thread.value === id) fresh();
  });
}

function Welcome() {
  const [examples, setExamples] = useState<Example[] | null>(null);
  const documents = (buckets.value ?? []).reduce((sum, bucket) => sum + bucket.documents, 0);
  useEffect(() => {
    if (documents) void trying(async () => setExamples((await getJson<Example[]>("examples")).slice(0, 6)));
  }, [documents]);
  const empty = buckets.value !== null && documents === 0;
  return (
    <section class="welcome" id="welcome">
      <h1>{t("welcome.title")}</h1>
      <p class="lead">{t("welcome.lead")}</p>
      {empty && (
        <div class="empty">
          <Icon name="files" size={28} />
          <p>{t("welcome.empty")}</p>
          {about.value?.may_write !== false && (
            <a class="button strong" href="#/library">
              <Icon name="upload" size={16} /> {t("welcome.add")}
            </a>
          )}
        </div>
      )}
      {documents > 0 && (
        <>
          <h2 class="overline">{t("welcome.try")}</h2>
          <ul class="examples">
            {examples === null
              ? [1, 2, 3, 4].map(() => <li class="skeleton" />)
              : examples.map((example) => (
                  <li>
                    <button type="button" onClick={() => ask(example.question, {})} onContextMenu={(event) => (event.preventDefault(), (draft.value = example.question))}>
                      <Icon name={KINDS[example.kind]} size={17} />
                      <span>{example.question}</span>
                    </button>
                  </li>
                ))}
          </ul>
          <h2 class="overline">{t("welcome.buckets", { n: documents })}</h2>
          <ul class="bucket-line" id="buckets">
            {(buckets.value ?? []).map((bucket) => (
              <li>
                <a href={`#/library/${encodeURIComponent(bucket.name)}`} title={bucket.description}>
                  {bucket.name} <span class="chip-count">{bucket.documents.toLocaleString()}</span>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
