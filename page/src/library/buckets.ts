// What the buckets are and what their fields hold, asked for once and again when documents changed.
import { signal } from "@preact/signals";
import { getJson } from "../api/client";
import type { About, Bucket, BucketDetail } from "../api/types";

export const buckets = signal<Bucket[] | null>(null);
export const about = signal<About | null>(null);
const details = new Map<string, Promise<BucketDetail>>();

export async function listBuckets(): Promise<void> {
  buckets.value = await getJson<Bucket[]>("buckets");
}

export async function learnAbout(): Promise<void> {
  about.value = await getJson<About>("about");
}

export function bucketDetail(name: string): Promise<BucketDetail> {
  let found = details.get(name);
  if (!found) {
    found = getJson<BucketDetail>(`buckets/${encodeURIComponent(name)}`);
    found.catch(() => details.delete(name));
    details.set(name, found);
  }
  return found;
}

/** Counts what was changed in documents, for what lists them. */
export const changes = signal(0);

export async function documentsChanged(): Promise<void> {
  details.clear();
  changes.value += 1;
  await listBuckets();
}
