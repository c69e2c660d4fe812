// Files dragged over the page, anywhere on it: whether some are, and those that were dropped and wait for a bucket.
import { signal } from "@preact/signals";

export interface Dropped {
  file: File;
  /** With the folders that it was dropped in. */
  path: string;
}

export const over = signal(false);
export const held = signal<Dropped[]>([]);

/** Return all files that were dropped, those in folders too. */
async function filesOf(transfer: DataTransfer): Promise<Dropped[]> {
  const found: Dropped[] = [];
  const entries: FileSystemEntry[] = [];
  // All at once: what was dropped is forgotten when the event is over.
  for (const item of transfer.items) {
    const entry = item.webkitGetAsEntry();
    const file = entry ? null : item.getAsFile();
    if (entry) entries.push(entry);
    else if (file) found.push({ file, path: file.name });
  }
  const walk = async (entry: FileSystemEntry): Promise<void> => {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      found.push({ file, path: entry.fullPath.replace(/^\//, "") });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return;
      for (const child of some) await walk(child);
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}

/** Watch the window: a file that is dropped beside a target would else be opened in place of the page. */
export function watchDrops(may: () => boolean, onDropped: () => void): () => void {
  const drags = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const moved = (event: DragEvent) => {
    if (!drags(event)) return;
    event.preventDefault();
    event.dataTransfer!.dropEffect = may() ? "copy" : "none";
    over.value = may();
  };
  const left = (event: DragEvent) => {
    if (event.relatedTarget === null) over.value = false;
  };
  const dropped = (event: DragEvent) => {
    if (!drags(event)) return;
    event.preventDefault();
    over.value = false;
    if (!may()) return;
    void filesOf(event.dataTransfer!).then((found) => {
      held.value = [...held.value, ...found];
      if (found.length) onDropped();
    });
  };
  const heard = { dragenter: moved, dragover: moved, dragleave: left, drop: dropped };
  for (const [name, act] of Object.entries(heard)) addEventListener(name, act as EventListener);
  return () => {
    for (const [name, act] of Object.entries(heard)) removeEventListener(name, act as EventListener);
  };
}
