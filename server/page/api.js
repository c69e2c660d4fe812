// Talks to the server: JSON, server-sent events over POST, pictures, uploads; asks for a key when the server does.
import { by } from "./dom.js";

const KEY = "citegraph-key";

/** What the server refused, in its own words. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export const hasKey = () => sessionStorage.getItem(KEY) !== null;

function headers(more = {}) {
  const key = sessionStorage.getItem(KEY);
  return key === null ? more : { ...more, Authorization: `Bearer ${key}` };
}

async function problemOf(response) {
  try {
    const body = await response.json();
    return new Problem(response.status, body.detail || body.title);
  } catch {
    return new Problem(response.status, `The server answered ${response.status}.`);
  }
}

let entering = null;

/** Wait until a key was entered; asked for once, however many requests wait. */
function enterKey(problem) {
  // Requests that come late, without the refused key, do not take its problem away.
  if (!entering || hasKey()) by("key-problem").textContent = hasKey() ? problem : "";
  sessionStorage.removeItem(KEY);
  entering ??= new Promise((resolve) => {
    const dialog = by("key-dialog");
    dialog.oncancel = (event) => event.preventDefault();
    // Browsers close a dialog at Escape all the same when nobody has touched it yet: without a key nothing goes on.
    dialog.onclose = () => entering && dialog.showModal();
    by("key-form").onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem(KEY, by("key").value.trim());
      by("key").value = "";
      entering = null;
      dialog.close();
      resolve();
    };
    dialog.showModal();
  });
  return entering;
}

/** Send a request; a 401 asks for a key and sends it again. */
export async function send(path, options = {}) {
  for (;;) {
    const shown = sessionStorage.getItem(KEY);
    let response;
    try {
      response = await fetch(path, { ...options, headers: headers(options.headers) });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, "The server does not answer. Check that it runs, then ask again.");
    }
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (response.status !== 401) throw problem;
    // Another request may have brought a new key meanwhile.
    if (sessionStorage.getItem(KEY) === shown) await enterKey(problem.message);
  }
}

export const getJson = async (path) => (await send(path)).json();

/** Return a picture as a URL of this page's own; release it when it is shown no more. */
export const pictureOf = async (path) => URL.createObjectURL(await (await send(path)).blob());

/** Split what has come in of an event stream: events in order, and the rest that is not whole yet. */
export function readEvents(text) {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = blocks.pop();
  const events = [];
  for (const block of blocks) {
    const lines = block.split("\n");
    const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
    const name = lines.find((line) => line.startsWith("event:"));
    if (data.length) events.push({ name: name ? name.slice(6).trim() : "", data: JSON.parse(data.join("\n")) });
  }
  return { events, rest };
}

/** Post JSON and hand every event to `told` as it comes. */
export async function stream(path, body, told, signal) {
  const response = await send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(body),
    signal,
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const { events, rest } = readEvents(waiting + value);
    waiting = rest;
    for (const event of events) told(event.data);
  }
}

/** Upload a form; `told` gets the share that was sent (0 to 1), then the server's events. */
export function upload(path, form, told) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let read = 0;
    const take = () => {
      const { events, rest } = readEvents(request.responseText.slice(read));
      read = request.responseText.length - rest.length;
      events.forEach((event) => told(event));
    };
    request.open("POST", path);
    for (const [name, value] of Object.entries(headers({ Accept: "text/event-stream" })))
      request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => told({ name: "sent", data: event.loaded / (event.total || 1) });
    request.onprogress = () => request.status < 300 && take();
    request.onerror = () => reject(new Problem(0, "The server does not answer."));
    request.onload = async () => {
      if (request.status < 300) {
        take();
        resolve();
        return;
      }
      reject(await problemOf(new Response(request.responseText, { status: request.status })));
    };
    request.send(form);
  });
}
