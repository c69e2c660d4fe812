// One question with everything that came of it.
import { useEffect, useState } from "preact/hooks";
import { getJson } from "../api/client";
import type { Example } from "../api/types";
import { copyText, IconButton, MenuButton, tell, trying } from "../ui/parts";
import { Icon } from "../ui/icon";
import { isWord, t } from "../words";
import { AnswerView } from "./answer";
import { again, ask, goOn, goOnWith, note, pending, rate, reply, thread, type Turn } from "./conversation";
import { isScoped } from "./blocks";
import { answerAsText } from "./export";
import { KINDS } from "./kinds";

export function TurnView({ turn, last }: { turn: Turn; last: boolean }) {
  const [editing, setEditing] = useState(false);
  const heading = `question-${turn.id}`;
  return (
    <article aria-labelledby={heading} aria-busy={turn.state === "working"} class="turn" tabIndex={-1}>
      <header class="question">
        {editing ? (
          <EditText label={t("question.edit")} before={turn.question} save={t("ask")} onSave={(text) => ask(text, turn.context)} onClose={() => setEditing(false)} />
        ) : (
          <>
            <h2 id={heading}>{turn.question}</h2>
            <IconButton icon="pencil" class="reveal" label={t("question.edit")} onClick={() => setEditing(true)} />
          </>
        )}
      </header>
      {turn.exchanges.map((exchange, at) => {
        const open = turn.waiting && at === turn.exchanges.length - 1;
        return open ? (
          <Clarify turn={turn} />
        ) : (
          <div class="exchange">
            <p>
              <Icon name="help" size={16} /> {exchange.question}
            </p>
            <p class={exchange.reply === null ? "faint" : "exchange-reply"}>{exchange.reply === null ? t("clarify.closed") : exchange.reply}</p>
          </div>
        );
      })}
      {turn.state === "working" && <Working turn={turn} />}
      {turn.draft && turn.state === "working" && (
        <div class="prose draft" aria-hidden="true">
          {turn.draft.replace(/\s?\[[^[\]\n]+\]/g, "")}
        </div>
      )}
      {turn.answer && <AnswerView turn={turn} answer={turn.answer} />}
      {turn.state === "stopped" && (
        <Trouble text={t("stopped")} action={t("again")} act={() => again(turn)} />
      )}
      {turn.state === "broken" && <Trouble bad text={turn.problem} action={t("again")} act={() => again(turn)} />}
      {turn.state === "unfinished" && <Trouble text={t("unfinished")} action={t("goOn")} act={() => goOn(turn)} />}
      {turn.answer && turn.state === "done" && <Actions turn={turn} />}
      {turn.state !== "working" && turn.steps.length > 0 && turn.answer && <Steps turn={turn} />}
      {last && turn.answer && turn.state === "done" && <Next turn={turn} />}
    </article>
  );
}

function Trouble({ text, action, act, bad = false }: { text: string; action: string; act: () => void; bad?: boolean }) {
  return (
    <div class={`trouble ${bad ? "bad" : ""}`} role={bad ? "alert" : undefined}>
      <Icon name={bad ? "wrong" : "alert"} />
      <p>{text}</p>
      <button type="button" class="plain small" onClick={act}>
        <Icon name="again" size={15} /> {action}
      </button>
    </div>
  );
}

const stepWord = (name: string): string => {
  const word = `step.${name}`;
  return isWord(word) ? t(word) : name;
};

function Working({ turn }: { turn: Turn }) {
  const last = turn.steps.at(-1);
  const done = last?.kind === "step" ? stepWord(last.name) : last?.detail;
  return (
    <p class="working">
      <span class="pulse" aria-hidden="true" />
      {turn.draft ? t("working.checking") : t("working")}
      {done && <span class="faint"> · {done}</span>}
    </p>
  );
}

function Steps({ turn }: { turn: Turn }) {
  const searches = turn.steps.filter((step) => step.kind === "tool").length;
  const usage = turn.answer!.usage;
  return (
    <details class="fold steps">
      <summary>{t("steps.title", { n: turn.steps.length, searches: t("count.searches", { n: searches }), seconds: usage.seconds.toFixed(1), calls: t("count.calls", { n: usage.llm_calls }) })}</summary>
      <ol>
        {turn.steps.map((step) => (
          <li class={step.kind}>
            {stepWord(step.kind === "tool" ? "tool" : step.name)}
            {step.detail && <span class="faint"> {step.detail}</span>}
          </li>
        ))}
      </ol>
    </details>
  );
}

function Actions({ turn }: { turn: Turn }) {
  const answer = turn.answer!;
  const [noting, setNoting] = useState(false);
  return (
    <>
    <div class="actions" role="group" aria-label={t("actions")}>
      <IconButton icon="copy" label={t("copy.answer")} onClick={() => copyText(answerAsText(answer))} />
      {turn.runId && (
        <>
          <IconButton icon="thumbUp" label={t("rate.good")} pressed={turn.rating === 1} onClick={() => trying(() => rated(turn, 1))} />
          <IconButton icon="thumbDown" label={t("rate.bad")} pressed={turn.rating === -1} onClick={() => trying(() => rated(turn, -1))} />
          <IconButton icon="note" label={t("note.edit")} expanded={noting} onClick={() => setNoting(!noting)} />
        </>
      )}
      <IconButton icon="again" label={t("again")} onClick={() => ask(turn.question, turn.context)} />
    </div>
    {noting && (
      <div class="note">
        <EditText label={t("note.edit")} before={turn.note} save={t("save")} emptied onSave={(text) => trying(() => note(turn, text))} onClose={() => setNoting(false)} />
      </div>
    )}
    {turn.note && !noting && (
      <p class="note">
        <strong>{t("note.yours")}</strong> {turn.note}
      </p>
    )}
    </>
  );
}

async function rated(turn: Turn, score: number): Promise<void> {
  await rate(turn, score);
  if (turn.rating !== score) tell(t("rate.thanks"));
}

interface EditTextProps {
  label: string;
  before: string;
  save: string;
  emptied?: boolean;
  onSave: (text: string) => void;
  onClose: () => void;
}

/** A text to be changed; empty it is saved only where that takes it back. */
function EditText({ label, before, save, emptied = false, onSave, onClose }: EditTextProps) {
  const [text, setText] = useState(before);
  const submit = (event?: Event) => {
    event?.preventDefault();
    if (!text.trim() && !emptied) return;
    onClose();
    onSave(text.trim());
  };
  return (
    <form class="edit-text" onSubmit={submit}>
      <textarea
        aria-label={label}
        value={text}
        maxLength={4000}
        rows={2}
        ref={(area) => area?.focus()}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
        }}
      />
      <div class="row end">
        <button type="button" class="plain small" onClick={onClose}>
          {t("cancel")}
        </button>
        <button type="submit" class="strong small">
          {save}
        </button>
      </div>
    </form>
  );
}

/** A question back: the options with what stands behind each; the box below takes a reply in one's own words. */
function Clarify({ turn }: { turn: Turn }) {
  const asked = turn.waiting!;
  return (
    <section class="clarify" aria-label={t("status.needs_clarification")}>
      <p class="standing needs_clarification">
        <Icon name="help" size={16} />
        <strong>{t("status.needs_clarification")}</strong>
      </p>
      <p class="clarify-question">{asked.question}</p>
      {asked.tried.length > 0 && <p class="faint">{t("clarify.tried", { tried: asked.tried.join("; ") })}</p>}
      <ul>
        {asked.options.map((option, at) => {
          const [, words, id] = /^(.*?)(?:\s*\[([^[\]]+)\])?$/.exec(option.label)!;
          return (
            <li>
              <button type="button" class="option" onClick={() => reply(turn, { option: option.id }, option.label)}>
                <span class="option-number">{at + 1}</span>
                <span>
                  {words} {id && <span class="faint option-id">{id}</span>}
                </span>
                {option.count !== null && <span class="option-count">{t("count.documents", { n: option.count })}</span>}
              </button>
            </li>
          );
        })}
      </ul>
      {pending.value === asked && <p class="faint">{t("clarify.own")}</p>}
    </section>
  );
}

/** What to do next, from what the answer is: questions that go on from it. */
function Next({ turn }: { turn: Turn }) {
  const [found, setFound] = useState<Example[]>([]);
  const answer = turn.answer!;
  const goesOn = answer.status === "answered" || answer.status === "partial";
  // Of a turn of an earlier visit it is not kept which documents it was asked of.
  const known = !isScoped(answer) || !!turn.context.documents?.length;
  useEffect(() => {
    if (goesOn && known && thread.value) void getJson<Example[]>(`threads/${thread.value}/next`).then(setFound, () => undefined);
  }, [answer]);
  if (!goesOn) return <p class="next faint">{answer.status === "failed" ? t("next.failed") : t("next.unanswerable")}</p>;
  if (!found.length) return null;
  return (
    <ul class="next" aria-label={t("next.ask")}>
      {found.map((next) => (
        <li>
          <button type="button" class="chip" onClick={() => goOnWith(turn, next)}>
            <Icon name={KINDS[next.kind]} size={15} /> {next.question}
          </button>
        </li>
      ))}
    </ul>
  );
}

export { MenuButton };
