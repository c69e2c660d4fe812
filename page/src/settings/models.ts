// Which model answers a step and how answers are written, where the server has models; kept in this browser.
import { signal } from "@preact/signals";
import type { RunContext } from "../api/types";

const KEPT = "citegraph-models";

function kept(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

export const models = signal<Record<string, string>>(kept());

export function chooseModel(step: string, model: string): void {
  const { [step]: _, ...others } = models.value;
  models.value = model.trim() ? { ...others, [step]: model.trim() } : others;
  localStorage.setItem(KEPT, JSON.stringify(models.value));
}

const STYLE = "citegraph-style";
export const style = signal(localStorage.getItem(STYLE) ?? "");

export function chooseStyle(words: string): void {
  style.value = words;
  localStorage.setItem(STYLE, words);
}

/** Return what is chosen as a question's context takes it. */
export function chosen(): Pick<RunContext, "models" | "style"> {
  const steps = Object.entries(models.value).map(([step, model]) => [step, { model }]);
  return { ...(steps.length ? { models: Object.fromEntries(steps) } : {}), ...(style.value.trim() ? { style: style.value.trim() } : {}) };
}
