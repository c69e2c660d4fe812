// Whether the page is being printed: a report shows all rows and sources, and is drawn in light colours.
import { signal } from "@preact/signals";

export const printing = signal(false);
addEventListener("beforeprint", () => (printing.value = true));
addEventListener("afterprint", () => (printing.value = false));
