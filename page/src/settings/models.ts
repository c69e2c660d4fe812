// Which model answers a step, where the server has models; kept in this browser.
import { signal } from "@preact/signals";

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

/** Return the models as a question's context takes them; null when none is chosen. */
export function chosenModels(): Record<string, Record<string, string>> | null {
  const chosen = Object.entries(models.value).map(([step, model]) => [step, { model }]);
  return chosen.length ? Object.fromEntries(chosen) : null;
}
