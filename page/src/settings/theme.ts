import { effect, signal } from "@preact/signals";
import { printing } from "../ask/printing";

export type Theme = "system" | "light" | "dark";
const KEPT = "citegraph-theme";
const wanted = localStorage.getItem(KEPT);
export const theme = signal<Theme>(wanted === "light" || wanted === "dark" ? wanted : "system");

export function wear(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(KEPT, chosen);
}

effect(() => {
  const worn = printing.value ? "light" : theme.value;
  if (worn === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = worn;
});
