// Talks to the server: JSON, server-sent events over POST, files, uploads; asks for a key when the server does.
import { signal } from "@preact/signals";
import { t } from "../words";

const KEY = "citegraph-key";

/** What the server refused, in its own words; `status` 0 when it did not answer. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    detail: string,
    readonly retryAfter = 0,
  ) {
    super(detail);
  }
}

/** Why a key is asked for; null while none is. */
export const keyAsked = signal<string | null>(null);
/** Whether a key is kept, for what shows it. */
export const keyKept = signal(sessionStorage.getItem(KEY) !== null);
let entered: (() => void)[] = [];

export function keepKey(key: string): void {
  sessionStorage.setItem(KEY, key);
  keyKept.value = true;
  keyAsked.value = null;
  const waiting = entered;
  entered = [];
  for (const go of waiting) go();
}

export function forgetKey(): void {
  sessionStorage.removeItem(KEY);
  keyKept.value = false;
}

export function keyHeaders(): Record<string, string> {
  const key = sessionStorage.getItem(KEY);
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

/** Wait until a key was entered; asked for once, however many requests wait. */
function enterKey(problem: string, shown: string | null): Promise<void> {
  keyAsked.value = shown === null ? (keyAsked.value ?? "") : problem;
  forgetKey();
  return new Promise((resolve) => entered.push(resolve));
}

async function problemOf(response: Response): Promise<Problem> {
  const retry = Number(response.headers.get("Retry-After") ?? 0);
  try {
    const body = await response.json();
    return new Problem(response.status, body.detail || body.title, retry);
  } catch {
    return new Problem(response.status, t("error.status", { status: response.status }), retry);
  }
}

/** Send a request; a 401 asks for a key and sends it again. */
export async function send(path: string, options: RequestInit = {}): Promise<Response> {
  for (;;) {
    const shown = sessionStorage.getItem(KEY);
    let response: Response;
    try {
      response = await fetch(path, { ...options, headers: { ...(options.headers as Record<string, string>), ...keyHeaders() } });
    } catch (error) {
      if ((error as Error).name === "AbortError") throw error;
      throw new Problem(0, t("error.silent"));
    }
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (response.status !== 401) throw problem;
    // Another request may have brought a new key meanwhile.
    if (sessionStorage.getItem(KEY) === shown) await enterKey(problem.message, shown);
  }
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send(path, signal ? { signal } : {})).json();
}

export async function sendJson(method: string, path: string, body: unknown): Promise<Response> {
  return send(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

/** The address of a document's route: its id may hold slashes. */
export const documentPath = (id: string): string => `documents/${id.split("/").map(encodeURIComponent).join("/")}`;

export interface ServerEvent {
  name: string;
  data: unknown;
}

/** Split what has come in of an event stream: events in order, and the rest that is not whole yet. */
export function readEvents(text: string): { events: ServerEvent[]; rest: string } {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = blocks.pop() ?? "";
  const events: ServerEvent[] = [];
  for (const block of blocks) {
    const lines = block.split("\n");
    const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
    const name = lines.find((line) => line.startsWith("event:"));
    if (data.length) events.push({ name: name ? name.slice(6).trim() : "", data: JSON.parse(data.join("\n")) });
  }
  return { events, rest };
}

/** Post JSON and hand every event to `told` as it comes. */
export async function stream<T>(path: string, body: unknown, told: (event: T) => void, signal: AbortSignal): Promise<void> {
  const response = await send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(body),
    signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    let part: ReadableStreamReadResult<string>;
    try {
      part = await reader.read();
    } catch (error) {
      if ((error as Error).name === "AbortError") throw error;
      throw new Problem(0, t("error.broken"));
    }
    if (part.done) return;
    const { events, rest } = readEvents(waiting + part.value);
    waiting = rest;
    for (const event of events) told(event.data as T);
  }
}

/** Upload a form; `told` gets the share that was sent (0 to 1), then the server's events. */
export function upload(path: string, form: FormData, told: (event: ServerEvent) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let read = 0;
    const take = () => {
      const { events, rest } = readEvents(request.responseText.slice(read));
      read = request.responseText.length - rest.length;
      events.forEach(told);
    };
    request.open("POST", path);
    for (const [name, value] of Object.entries({ Accept: "text/event-stream", ...keyHeaders() })) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => told({ name: "sent", data: event.loaded / (event.total || 1) });
    request.onprogress = () => request.status < 300 && take();
    request.onerror = () => reject(new Problem(0, t("error.silent")));
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    request.onload = async () => {
      if (request.status < 300) {
        take();
        resolve();
        return;
      }
      const headers = { "Retry-After": request.getResponseHeader("Retry-After") ?? "0" };
      reject(await problemOf(new Response(request.responseText, { status: request.status, headers })));
    };
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

/** Hand a file to the browser to keep. */
export function keepFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
