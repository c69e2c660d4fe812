// The address after "#" says what is shown: a view, and beside it a place in a document. Links can be copied and opened anywhere.
import { computed, signal } from "@preact/signals";

export interface Place {
  doc_id: string;
  page: number | null;
  start: number | null;
  end: number | null;
}

export interface Address {
  view: "ask" | "library" | "settings";
  thread: string | null;
  bucket: string | null;
  tab: string | null;
  place: Place | null;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

export function readAddress(text: string): Address {
  const [path = "", query = ""] = text.replace(/^#/, "").startsWith("/") ? text.replace(/^#/, "").split("?") : ["/", text.replace(/^#/, "")];
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const asked = new URLSearchParams(query);
  const number = (name: string) => (asked.has(name) ? Number(asked.get(name)) : null);
  const place = asked.has("document")
    ? { doc_id: asked.get("document")!, page: number("page"), start: number("start"), end: number("end") }
    : null;
  const view = parts[0] === "library" || parts[0] === "settings" ? parts[0] : "ask";
  return {
    view,
    thread: parts[0] === "thread" && /^[0-9a-f]{32}$/.test(parts[1] ?? "") ? parts[1]! : null,
    bucket: view === "library" ? (parts[1] ?? null) : null,
    tab: view === "library" ? (parts[2] ?? null) : null,
    place,
  };
}

export const address = computed(() => readAddress(hash.value));

export function write(to: Address): string {
  let path = "/";
  if (to.view === "ask" && to.thread) path = `/thread/${to.thread}`;
  else if (to.view !== "ask") path = `/${[to.view, to.bucket, to.bucket && to.tab].filter(Boolean).map((part) => encodeURIComponent(part!)).join("/")}`;
  if (!to.place) return `#${path}`;
  const query = new URLSearchParams({ document: to.place.doc_id });
  for (const name of ["page", "start", "end"] as const) if (to.place[name] !== null) query.set(name, String(to.place[name]));
  return `#${path}?${query}`;
}

/** Return the address with some parts changed; a change of the view closes the document unless it names one. */
export function hrefTo(change: Partial<Address>): string {
  return write({ ...address.value, ...change });
}

/** Return an address as it is given to somebody else, or printed. */
export const urlTo = (change: Partial<Address>): string => new URL(hrefTo(change), location.href).href;

export function go(change: Partial<Address>, replace = false): void {
  const to = hrefTo(change);
  if (to === location.hash) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  hash.value = to;
}
