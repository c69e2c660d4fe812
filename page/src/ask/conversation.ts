// The conversation: its questions, what the server tells of them while it works, and what becomes of a reply.
import { batch, computed, signal } from "@preact/signals";
import { getJson, Problem, sendJson, stream } from "../api/client";
import type { Answer, Clarification, DocumentSummary, Example, Exchange, Filter, RunContext, RunEvent, ThreadState } from "../api/types";
import { address, go } from "../routing";
import { chosen } from "../settings/models";
import { listThreads } from "../threads/list";
import { focusBox } from "../ui/focus";
import { said } from "../ui/parts";
import { t } from "../words";
import { answerAloud, askedAloud } from "./export";

export interface Step {
  kind: "step" | "tool" | "correction";
  name: string;
  detail: string;
}

export interface Turn {
  id: number;
  question: string;
  context: RunContext;
  steps: Step[];
  draft: string;
  exchanges: Exchange[];
  /** The clarification that waits for a reply; null when there is none or it was answered. */
  waiting: Clarification | null;
  answer: Answer | null;
  runId: string;
  rating: number;
  /** The reader's own words on the answer. */
  note: string;
  state: "working" | "done" | "stopped" | "broken" | "unfinished";
  problem: string;
  /** What to send again when the run broke: a question, or the reply to a clarification. */
  again: { path: string; body: Record<string, unknown> } | null;
}

export const turns = signal<Turn[]>([]);
export const thread = signal<string | null>(null);
export const title = signal("");
export const opening = signal(false);
interface Scope {
  buckets: string[];
  filters: string[];
  /** The only documents that are asked; none: all of them. */
  documents: Pick<DocumentSummary, "doc_id" | "source_file">[];
}

const EVERYTHING: Scope = { buckets: [], filters: [], documents: [] };
export const scope = signal<Scope>(EVERYTHING);

export function narrow(to: Partial<Scope>): void {
  scope.value = { ...EVERYTHING, ...to };
}

/** Begin to ask of some documents of a bucket alone; a conversation that is in view goes on with them. */
export function askOf(bucket: string, documents: Scope["documents"]): void {
  if (address.value.view !== "ask") fresh();
  narrow({ buckets: [bucket], documents });
  focusBox();
}
/** A question that is put into the box, to be changed before it is asked. */
export const draft = signal("");

const running = signal<AbortController | null>(null);
export const working = computed(() => running.value !== null);
/** The clarification that the box replies to. */
export const pending = computed(() => turns.value.at(-1)?.waiting ?? null);
let ids = 0;

function newTurn(question: string, context: RunContext): Turn {
  return {
    id: ++ids, question, context, steps: [], draft: "", exchanges: [], waiting: null, answer: null, runId: "", rating: 0, note: "", state: "working", problem: "", again: null,
  };
}

function change(id: number, to: (turn: Turn) => Partial<Turn>): void {
  turns.value = turns.value.map((turn) => (turn.id === id ? { ...turn, ...to(turn) } : turn));
}

/** What was shown as a reply is a question of its own: a turn of its own shows it from here on. */
function parted(id: number): number {
  const turn = turns.value.find((one) => one.id === id)!;
  const question = turn.exchanges.at(-1)!.reply!;
  const own = { ...newTurn(question, turn.context), again: { path: "ask", body: { question, context: turn.context, new: true } } };
  const exchanges = turn.exchanges.map((item, at) => (at === turn.exchanges.length - 1 ? { ...item, reply: null } : item));
  turns.value = [...turns.value.map((one) => (one.id === id ? { ...one, exchanges, state: "done" as const, again: null } : one)), own];
  return own.id;
}

function hear(id: number, event: RunEvent): void {
  switch (event.event) {
    case "run":
      thread.value = event.thread_id;
      go({ view: "ask", thread: event.thread_id }, true);
      change(id, () => ({ runId: event.run_id }));
      break;
    case "step":
      change(id, (turn) => ({ steps: [...turn.steps, { kind: "step", name: event.step, detail: event.detail }] }));
      break;
    case "tool": {
      const found = event.error || t("count.hits", { n: event.hits });
      change(id, (turn) => ({ steps: [...turn.steps, { kind: "tool", name: event.tool, detail: `${event.buckets.join(", ")}: ${found}` }] }));
      said.value = `${event.buckets.join(", ")}: ${found}`;
      break;
    }
    case "token":
      change(id, (turn) => ({ draft: turn.draft + event.text }));
      break;
    case "correction":
      change(id, (turn) => ({ draft: "", steps: [...turn.steps, { kind: "correction", name: "correction", detail: event.reason }] }));
      break;
    case "answer":
      end(id, event.answer);
      break;
  }
}

function end(id: number, answer: Answer): void {
  const asked = answer.clarification;
  change(id, (turn) =>
    asked
      ? { state: "done", draft: "", waiting: asked, exchanges: [...turn.exchanges, { question: asked.question, options: asked.options, reply: null }] }
      : { state: "done", draft: "", answer, again: answer.status === "failed" ? turn.again : null },
  );
  if (answer.thread_id) thread.value = answer.thread_id;
  said.value = asked ? askedAloud(asked) : answerAloud(answer);
}

async function run(turn: number, path: string, body: Record<string, unknown>): Promise<void> {
  let id = turn;
  running.value?.abort();
  const mine = new AbortController();
  running.value = mine;
  focusBox();
  said.value = t("working");
  change(id, () => ({ state: "working", problem: "", again: { path, body } }));
  try {
    await stream<RunEvent>(path, body, (event) => batch(() => {
      if (event.event === "run" && body.new === false) {
        if (!event.reply) id = parted(id);
        // The reply was taken: what breaks from here on is gone on with, not said again.
        else change(id, () => ({ again: { path: `threads/${event.thread_id}/resume`, body: { context: body.context } } }));
      }
      hear(id, event);
    }), mine.signal);
    if (turns.value.find((turn) => turn.id === id)?.state === "working") throw new Problem(0, t("error.broken"));
  } catch (error) {
    const stopped = (error as Error).name === "AbortError";
    change(id, () => ({ state: stopped ? "stopped" : "broken", draft: "", problem: stopped ? "" : (error as Error).message }));
    if (!stopped) said.value = (error as Error).message;
  } finally {
    if (running.value === mine) running.value = null;
    void listThreads();
  }
}

/** What the last turn asked back is given up: nothing of it can be chosen any more. */
function closeWaiting(): void {
  turns.value = turns.value.map((turn) => (turn.waiting ? { ...turn, waiting: null } : turn));
}

/** Ask a question in the open thread, or in a new one. */
export function ask(question: string, context: RunContext = {}): Promise<void> {
  closeWaiting();
  const whole = { ...context, ...chosen() };
  const turn = newTurn(question, context);
  if (!turns.value.length) title.value = question;
  turns.value = [...turns.value, turn];
  return run(turn.id, "ask", { question, context: whole, new: true, ...(thread.value ? { thread_id: thread.value } : {}) });
}

/** Reply to the clarification of a turn: an option by its id, or one's own words, of which the server says whether they reply. */
export function reply(turn: Turn, given: { option: string } | string, shown: string): Promise<void> {
  const asked = turn.waiting!;
  change(turn.id, (now) => ({
    waiting: null,
    steps: [],
    exchanges: now.exchanges.map((item, at) => (at === now.exchanges.length - 1 ? { ...item, reply: shown } : item)),
  }));
  // LangGraph gives a resumed run no settings of the first part: they are sent again.
  if (typeof given === "string") return run(turn.id, "ask", { question: given, context: turn.context, new: false, thread_id: thread.value });
  return run(turn.id, `threads/${thread.value}/reply`, { reply: given, interrupt_id: asked.interrupt_id, context: turn.context });
}

/** Send what broke once more; nothing that was asked or replied is lost. */
export function again(turn: Turn): void {
  if (!turn.again) void ask(turn.question, turn.context);
  else if (turn.again.path === "ask") {
    const here = thread.value ? { thread_id: thread.value } : {};
    change(turn.id, () => ({ steps: [], answer: null }));
    void run(turn.id, "ask", { ...turn.again.body, ...here });
  } else void run(turn.id, turn.again.path, turn.again.body);
}

export function goOn(turn: Turn): void {
  void run(turn.id, `threads/${thread.value}/resume`, { context: turn.context });
}

export function stop(): void {
  running.value?.abort();
}

/** Begin anew: an empty conversation. */
export function fresh(): void {
  stop();
  batch(() => {
    turns.value = [];
    thread.value = null;
    title.value = "";
    // Chosen documents are those of a conversation; a bucket is a habit.
    if (scope.value.documents.length) narrow({});
    go({ view: "ask", thread: null, place: null });
  });
  focusBox();
}

/** The applied filters of an answer as `filters` of a question's context take them. */
export function written(value: unknown): string {
  if (Array.isArray(value)) return value.map(written).join("; ");
  if (value && typeof value === "object") {
    const given = value as Record<string, unknown>;
    return "amount" in given ? `${given.amount} ${given.currency ?? ""}`.trim() : String(given.raw || given.value);
  }
  return String(value ?? "");
}

export const writtenFilter = (filter: Pick<Filter, "field" | "operator" | "value">): string => `${filter.field} ${filter.operator} ${written(filter.value)}`.trim();

const fieldOf = (text: string) => text.trim().match(/^[\w-]+/)?.[0];

/** The context of a turn: of one of an earlier visit its answer says which filters were one's own. */
function contextOf(turn: Turn): RunContext {
  if (turn.context.filters || !turn.answer) return turn.context;
  const own = turn.answer.filters.filter((one) => one.origin === "user" && one.status === "applied");
  return { ...turn.context, filters: own.map(writtenFilter) };
}

/** Ask a turn's question again without a filter, or with another in its place. */
export function refilter(turn: Turn, filter: Filter | null, instead: string | null): Promise<void> {
  const context = contextOf(turn);
  const inferred = filter?.origin === "inferred";
  const kept = (context.filters ?? []).filter((text) => !filter || inferred || fieldOf(text) !== filter.field);
  const without = inferred ? [...new Set([...(context.without ?? []), filter.field])] : (context.without ?? []);
  return ask(turn.question, { ...context, filters: instead ? [...kept, instead] : kept, without });
}

/** Ask a question that goes on from an answer: of the document that it names, or with the answer's filters. */
export function goOnWith(turn: Turn, next: Example): Promise<void> {
  if (next.documents.length) return ask(next.question, { buckets: [next.bucket], documents: next.documents });
  const applied = turn.answer!.filters.filter((one) => one.bucket === next.bucket && one.status === "applied");
  return ask(next.question, { ...turn.context, buckets: [next.bucket], filters: applied.map(writtenFilter) });
}

export async function rate(turn: Turn, score: number): Promise<void> {
  const given = turn.rating === score ? 0 : score;
  await sendJson("POST", `threads/${thread.value}/feedback`, { run_id: turn.runId, score: given });
  change(turn.id, () => ({ rating: given }));
}

export async function note(turn: Turn, text: string): Promise<void> {
  await sendJson("POST", `threads/${thread.value}/notes`, { run_id: turn.runId, text });
  change(turn.id, () => ({ note: text }));
}

/** Open a thread as it was left. */
export async function openThread(id: string): Promise<void> {
  stop();
  opening.value = true;
  try {
    const state = await getJson<ThreadState>(`threads/${id}`);
    if (address.value.thread !== id) return;
    batch(() => {
      thread.value = id;
      title.value = state.title;
      if (scope.value.documents.length) narrow({});
      turns.value = state.turns.map((kept, at) => {
        const last = at === state.turns.length - 1;
        const waiting = last ? state.clarification : null;
        const exchanges = waiting ? kept.exchanges.map((item) => (item.reply === null ? { ...item, options: waiting.options } : item)) : kept.exchanges;
        return {
          ...newTurn(kept.question, {}),
          exchanges,
          waiting,
          answer: kept.answer,
          runId: kept.run_id,
          rating: kept.rating ?? 0,
          note: kept.note,
          state: last && state.unfinished ? ("unfinished" as const) : kept.answer || exchanges.length ? ("done" as const) : ("stopped" as const),
        };
      });
    });
  } catch (error) {
    throw (error as Problem).status === 404 ? new Problem(404, t("thread.gone")) : error;
  } finally {
    opening.value = false;
    if (!address.value.place) focusBox();
  }
}
