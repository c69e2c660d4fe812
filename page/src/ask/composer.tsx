// The box in which one asks, follows up, and replies to what was asked back.
import { useEffect, useRef, useState } from "preact/hooks";
import { buckets } from "../library/buckets";
import { Icon } from "../ui/icon";
import { IconButton } from "../ui/parts";
import { t } from "../words";
import { ask, draft, narrow, pending, reply, scope, stop, turns, working } from "./conversation";
import { FilterDialog } from "./filter_chips";

export function Composer() {
  const [aside, setAside] = useState<string | null>(null);
  const [adding, setAdding] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const asked = pending.value;
  const replies = asked !== null && aside !== asked.interrupt_id;
  useEffect(() => {
    if (draft.value) area.current?.focus();
  }, [draft.value]);
  const submit = (event: Event) => {
    event.preventDefault();
    const text = draft.value.trim();
    if (!text || working.value) return;
    draft.value = "";
    if (replies) void reply(turns.value.at(-1)!, text, text);
    else void ask(text, { buckets: chosen, filters, documents: documents.map((one) => one.doc_id) });
  };
  const { buckets: chosen, filters, documents } = scope.value;
  return (
    <form id="ask" class="composer" onSubmit={submit}>
      {replies && (
        <p class="composer-mode">
          <Icon name="moved" size={15} /> {t("clarify.replying")}
          <button type="button" class="link" onClick={() => setAside(asked.interrupt_id)}>
            {t("clarify.instead")}
          </button>
        </p>
      )}
      <div class="composer-box">
        <label for="question" class="unseen">
          {replies ? t("clarify.reply") : t("question")}
        </label>
        <textarea
          id="question"
          ref={area}
          rows={1}
          maxLength={4000}
          aria-describedby="question-hint"
          placeholder={replies ? t("clarify.placeholder") : turns.value.length ? t("question.follow") : t("question.placeholder")}
          value={draft.value}
          onInput={(event) => (draft.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape" && working.value) stop();
            if (event.key === "ArrowUp" && !draft.value) document.querySelector<HTMLElement>("article:last-of-type")?.focus();
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            submit(event);
          }}
        />
        <span id="question-hint" class="unseen">
          {t("question.hint")}
        </span>
        {working.value ? (
          <button type="button" id="stop" class="send" title={t("stop")} onClick={stop}>
            <Icon name="stop" size={16} />
          </button>
        ) : (
          <button type="submit" id="send" class="send" title={replies ? t("clarify.reply") : t("ask")} disabled={!draft.value.trim()}>
            <Icon name="up" />
          </button>
        )}
      </div>
      {!replies && (
        <div class="composer-scope">
          <label class="scope-bucket">
            <Icon name="library" size={15} />
            <span class="unseen">{t("scope.bucket")}</span>
            <select value={chosen[0] ?? ""} onChange={(event) => narrow({ buckets: event.currentTarget.value ? [event.currentTarget.value] : [] })}>
              <option value="">{t("scope.all")}</option>
              {(buckets.value ?? []).map((bucket) => (
                <option value={bucket.name}>{bucket.name}</option>
              ))}
            </select>
          </label>
          {documents.length > 0 && (
            <span class="chip own" title={documents.map((one) => one.source_file).join("\n")}>
              <Icon name="files" size={14} />
              <span class="chip-text">{documents.length === 1 ? documents[0]!.source_file : t("count.documents", { n: documents.length })}</span>
              <IconButton icon="close" class="tiny" label={t("scope.whole")} onClick={() => (scope.value = { ...scope.value, documents: [] })} />
            </span>
          )}
          {filters.map((filter) => (
            <span class="chip own">
              <span class="chip-text">{filter}</span>
              <IconButton icon="close" class="tiny" label={t("filters.without", { text: filter })} onClick={() => (scope.value = { ...scope.value, filters: filters.filter((one) => one !== filter) })} />
            </span>
          ))}
          {chosen[0] && (
            <button type="button" class="chip add" onClick={() => setAdding(true)}>
              <Icon name="filter" size={14} /> {t("filters.add")}
            </button>
          )}
        </div>
      )}
      {adding && chosen[0] && (
        <FilterDialog
          bucket={chosen[0]}
          filter={null}
          action={t("filters.use")}
          onClose={() => setAdding(false)}
          onDone={(text) => {
            setAdding(false);
            scope.value = { ...scope.value, filters: [...filters, text] };
          }}
        />
      )}
    </form>
  );
}
