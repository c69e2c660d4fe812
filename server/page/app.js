// The page: asks, follows a run's events, keeps the threads and brings documents in.
import { answerParts, writtenFilter } from "./answer.js";
import { getJson, send, stream, upload } from "./api.js";
import { bring, by, counted, make, say } from "./dom.js";
import { link, openAddressed, startReader } from "./reader.js";

let thread = null;
let running = null;

/** Start a turn on the page: its question, steps and a place for the answer. */
function newTurn(question) {
  by("welcome").hidden = true;
  const turn = { question, steps: make("ol"), summary: make("summary", {}, "Working"), text: make("div", { class: "text draft" }), said: "" };
  turn.progress = make("details", { class: "steps", open: true }, turn.summary, turn.steps);
  turn.answer = make("div", { class: "answer" });
  turn.element = make("article", {}, make("h2", {}, question), turn.progress, turn.text, turn.answer);
  by("turns").append(turn.element);
  bring(turn.element, "start");
  return turn;
}

const NAMES = { gate: "Read the question", rewrite: "Worded it", decompose: "Split it", route: "Chose buckets", schema_plan: "Planned", search: "Searched", prune: "Kept what matters", review: "Reviewed", clarify: "Asked back", compose: "Wrote", verify_citations: "Checked the citations" };

const TOLD = {
  run(turn, event) {
    thread = event.thread_id; // Also when the connection is lost before the answer.
  },
  step(turn, event) {
    turn.steps.append(make("li", {}, NAMES[event.step] ?? event.step, event.detail ? make("span", { class: "faint" }, ` ${event.detail}`) : null));
    if (event.detail) say(`${NAMES[event.step] ?? event.step}: ${event.detail}`);
  },
  tool(turn, event) {
    const hits = event.error || counted(event.hits, "hit");
    turn.searches = (turn.searches ?? 0) + 1;
    turn.steps.append(make("li", { class: "tool" }, `${event.tool} in ${event.buckets.join(", ") || "all"}: `, make("strong", {}, hits)));
    say(`${event.buckets.join(", ")}: ${hits}`);
  },
  token(turn, event) {
    turn.said += event.text;
    turn.text.textContent = turn.said;
  },
  correction(turn, event) {
    turn.said = "";
    turn.text.textContent = "";
    turn.steps.append(make("li", { class: "correction" }, `Corrected: ${event.reason}`));
    say(`The answer is written again: ${event.reason}`);
  },
  answer(turn, event) {
    show(turn, event.answer);
  },
};

/** Show the verified answer in place of what was streamed. */
function show(turn, answer) {
  thread = answer.thread_id ?? thread;
  turn.done = true;
  turn.text.remove();
  turn.progress.open = false;
  turn.summary.textContent = `${counted(turn.steps.children.length, "step")}, ${counted(turn.searches ?? 0, "search", "searches")}`;
  turn.answer.replaceChildren(...answerParts(answer, (filter) => without(turn, answer, filter)));
  if (answer.clarification) turn.answer.querySelector(".status").after(clarificationOf(answer.clarification, turn.context));
  say(answer.status === "needs_clarification" ? answer.text : `${turn.answer.querySelector(".status").textContent}. ${answer.text}`);
}

/** Ask a turn's question again without a filter: one's own is taken out, one read from the question is switched off. */
function without(turn, answer, filter) {
  const own = answer.filters.filter((one) => one.origin !== "inferred" && one.status === "applied");
  // The answer of an earlier visit says itself which filters were one's own.
  const context = turn.context ?? { buckets: [], filters: own.map(writtenFilter) };
  const inferred = filter.origin === "inferred";
  const kept = (context.filters ?? []).filter((text) => inferred || fieldOf(text) !== filter.field);
  const fields = inferred ? [...(context.without ?? []), filter.field] : context.without ?? [];
  ask(turn.question, { ...context, filters: kept, without: [...new Set(fields)] });
}

const fieldOf = (text) => text.trim().match(/^[\w-]+/)?.[0];

function clarificationOf(asked, context) {
  const reply = (value, shown) => {
    form.querySelectorAll("button, input").forEach((control) => (control.disabled = true));
    // LangGraph gives a resumed run no settings of the first part: they are sent again.
    const turn = newTurn(shown);
    turn.context = context;
    run(`threads/${thread}/reply`, { reply: value, interrupt_id: asked.interrupt_id, context }, turn);
  };
  const options = asked.options.map((option) => make("li", {}, make("button", {
    type: "button", onclick: () => reply({ option: option.id }, option.label),
  }, option.label, option.count === null ? null : make("span", { class: "count" }, ` ${counted(option.count, "document")}`))));
  const text = make("input", { type: "text", "aria-label": "Reply in your own words", placeholder: "Or reply in your own words", required: true, maxlength: 4000 });
  const form = make("form", { class: "clarification", onsubmit: (event) => {
    event.preventDefault();
    reply(text.value, text.value);
  } }, make("h3", {}, asked.question), asked.tried.length ? make("p", { class: "faint" }, `Tried: ${asked.tried.join("; ")}`) : null,
  make("ul", {}, ...options), make("div", { class: "row" }, text, make("button", {}, "Reply")));
  return form;
}

/** Ask a question in the open thread, or in a new one. */
function ask(question, context) {
  const turn = newTurn(question);
  turn.context = context;
  return run("ask", { question, context, new: true, ...(thread ? { thread_id: thread } : {}) }, turn);
}

async function run(path, body, turn) {
  running?.abort();
  const mine = (running = new AbortController());
  by("send").hidden = true;
  by("stop").hidden = false;
  turn.element.setAttribute("aria-busy", "true");
  try {
    await stream(path, body, (event) => TOLD[event.event]?.(turn, event), mine.signal);
    if (!turn.done) throw new Error("The connection ended before the answer. Open the thread again to go on.");
  } catch (error) {
    turn.text.remove();
    const text = error.name === "AbortError" ? "Stopped." : error.message;
    turn.answer.append(make("p", { role: "alert", class: "problem" }, text));
  } finally {
    turn.element.removeAttribute("aria-busy");
    if (running === mine) {
      by("send").hidden = false;
      by("stop").hidden = true;
      running = null;
    }
    listThreads();
  }
}

function fresh() {
  running?.abort();
  thread = null;
  by("turns").replaceChildren();
  by("welcome").hidden = false;
  by("question").focus();
  listThreads();
}

async function listThreads() {
  const { threads } = await getJson("threads?limit=50");
  by("no-threads").hidden = threads.length > 0;
  by("threads").replaceChildren(...threads.map((item) => make("li", {}, make("button", {
    type: "button", "aria-current": item.thread_id === thread ? "true" : null, onclick: () => openThread(item.thread_id),
  }, item.title, make("time", { class: "faint", datetime: new Date(item.updated * 1000).toISOString() },
    new Date(item.updated * 1000).toLocaleString([], { dateStyle: "short", timeStyle: "short" }))))));
}

async function openThread(id) {
  const state = await getJson(`threads/${id}`);
  running?.abort();
  thread = id;
  by("turns").replaceChildren();
  toggleSide(false);
  const questions = state.messages.filter((message) => message.role === "human");
  const last = state.answer?.question ?? questions.at(-1)?.text ?? state.title;
  for (const message of state.messages.slice(0, state.answer ? -2 : undefined))
    by("turns").append(make("article", { class: "past" }, message.role === "human" ? make("h2", {}, message.text) : make("div", { class: "text" }, message.text)));
  const turn = newTurn(last);
  if (state.clarification) {
    turn.progress.remove();
    turn.text.remove();
    turn.answer.append(clarificationOf(state.clarification));
  } else if (state.answer) {
    show(turn, state.answer);
    turn.progress.remove();
  }
  if (state.unfinished) turn.answer.append(make("button", { type: "button", onclick: () => run(`threads/${id}/resume`, {}, newTurn(last)) }, "Go on"));
  listThreads();
}

async function listBuckets() {
  const buckets = await getJson("buckets");
  for (const list of ["bucket", "upload-bucket"])
    by(list).append(...buckets.map((bucket) => make("option", { value: bucket.name }, bucket.name)));
  by("buckets").replaceChildren(...buckets.map((bucket) => make("li", {}, make("strong", {}, bucket.name),
    make("span", { class: "count" }, ` ${counted(bucket.documents, "document")}`), make("p", { class: "faint" }, bucket.description))));
}

function toggleSide(open) {
  by("side").classList.toggle("open", open);
  by("menu").setAttribute("aria-expanded", String(open));
}

async function bringIn(event) {
  event.preventDefault();
  const [bar, status] = [by("upload-progress"), by("upload-status")];
  const form = new FormData();
  form.set("bucket", by("upload-bucket").value);
  form.set("file", by("upload-file").files[0]);
  bar.hidden = false;
  status.textContent = "Sending";
  try {
    await send("buckets"); // A key that is missing is asked for before the file goes.
    await upload("documents", form, ({ name, data }) => {
      if (name === "sent") bar.value = data * 50;
      if (name === "progress") {
        bar.value = 50 + (50 * data.progress.done) / (data.progress.total || 1);
        status.textContent = "Reading";
      }
      if (name === "problem") status.textContent = data.problem;
      if (name === "ingested") status.replaceChildren("Added: ", ...data.ingested.documents.map((id) => link({ doc_id: id }, {}, `${id} `)));
    });
    by("upload-file").value = "";
  } catch (error) {
    status.textContent = error.message;
  }
  bar.hidden = true;
}

function start() {
  startReader();
  by("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = by("question").value.trim();
    if (!question) return;
    by("question").value = "";
    const filters = by("filters").value.split("\n").map((line) => line.trim()).filter(Boolean);
    ask(question, { buckets: by("bucket").value ? [by("bucket").value] : [], filters });
  });
  by("question").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    by("ask").requestSubmit();
  });
  by("stop").addEventListener("click", () => running?.abort());
  by("fresh").addEventListener("click", fresh);
  by("menu").addEventListener("click", () => toggleSide(!by("side").classList.contains("open")));
  by("upload").addEventListener("submit", bringIn);
  Promise.all([listBuckets(), listThreads()]).catch((error) => by("welcome").append(make("p", { role: "alert" }, error.message)));
  openAddressed();
}

start();
