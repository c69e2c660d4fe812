// Which document stands beside the conversation, at which place; the address says so, and links open it.
import { signal } from "@preact/signals";
import type { Citation } from "../api/types";
import { address, go, type Place } from "../routing";

/** The citation by which the place was opened: its label and quote are shown above the page. */
export const openedBy = signal<Citation | null>(null);
let opener: HTMLElement | null = null;

export function openPlace(event: MouseEvent, place: Place, citation: Citation | null = null): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  opener = event.currentTarget as HTMLElement;
  openedBy.value = citation;
  go({ place });
}

export function closePlace(): void {
  openedBy.value = null;
  go({ place: null });
  if (opener?.isConnected) opener.focus();
  opener = null;
}

export const samePlace = (place: Place | null, citation: Citation | null): boolean =>
  !!place && !!citation && place.doc_id === citation.doc_id && place.start === citation.start && place.end === citation.end;

export const place = () => address.value.place;
