// The threads that are listed beside the conversation.
import { signal } from "@preact/signals";
import { getJson, sendJson, send } from "../api/client";
import type { Thread } from "../api/types";

const PAGE = 50;
export const threads = signal<Thread[]>([]);
export const total = signal(0);
export const search = signal("");
let shown = PAGE;
let asked = 0;

export async function listThreads(more = false): Promise<void> {
  shown = more ? shown + PAGE : shown;
  const mine = ++asked;
  const query = new URLSearchParams({ limit: String(Math.min(shown, 500)) });
  if (search.value.trim()) query.set("q", search.value.trim());
  try {
    const found = await getJson<{ threads: Thread[]; total: number }>(`threads?${query}`);
    if (mine !== asked) return;
    threads.value = found.threads;
    total.value = found.total;
  } catch {
    // The list is refreshed after every question; the question itself tells when the server is gone.
  }
}

export async function renameThread(id: string, title: string): Promise<void> {
  await sendJson("PATCH", `threads/${id}`, { title });
  await listThreads();
}

export async function deleteThread(id: string): Promise<void> {
  await send(`threads/${id}`, { method: "DELETE" });
  await listThreads();
}
