// The words of the page in three languages; what the server says comes in its own words.
import { signal } from "@preact/signals";
import { de } from "./de";
import { en } from "./en";
import { fr } from "./fr";

export type Word = keyof typeof en;
export type Language = "en" | "de" | "fr";
export const LANGUAGES: Record<Language, string> = { en: "English", de: "Deutsch", fr: "Français" };
const ALL: Record<Language, Record<Word, string>> = { en, de, fr };
const KEPT = "citegraph-language";

function first(): Language {
  const wanted = [localStorage.getItem(KEPT), ...navigator.languages.map((name) => name.slice(0, 2))];
  return wanted.find((name): name is Language => name !== null && name in ALL) ?? "en";
}

export const language = signal<Language>(first());
document.documentElement.lang = language.value;

export function speak(chosen: Language): void {
  language.value = chosen;
  localStorage.setItem(KEPT, chosen);
  document.documentElement.lang = chosen;
}

/** Return words with what they name filled in; "one|many" is chosen by `n`. */
export function t(word: Word, given: Record<string, string | number> = {}): string {
  const forms = ALL[language.value][word].split("|");
  const form = forms.length > 1 && given.n !== 1 ? forms[1]! : forms[0]!;
  return form.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name];
    return typeof value === "number" ? value.toLocaleString(language.value) : (value ?? "");
  });
}

export const isWord = (word: string): word is Word => word in en;

export function day(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString(language.value, { dateStyle: "medium" });
}

export function moment(iso: string): string {
  return new Date(iso).toLocaleString(language.value, { dateStyle: "medium", timeStyle: "short" });
}

/** A field's name as people write it. */
export const spoken = (name: string): string => name.replace(/[_.]/g, " ");
