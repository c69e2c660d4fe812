import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../ui/icon";
import { IconButton } from "../ui/parts";
import { t } from "../words";

interface SearchBarProps {
  text: string;
  onText: (text: string) => void;
  current: number;
  /** How many places were found; null before anything is looked for. */
  total: number | null;
  onNext: () => void;
  onBefore: () => void;
  /** Whether the bar was opened to type in it at once. */
  eager?: boolean;
}

export function SearchBar({ text, onText, current, total, onNext, onBefore, eager = false }: SearchBarProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (eager) input.current?.focus();
  }, []);
  return (
    <div class="reader-search">
      <Icon name="search" size={15} />
      <label class="unseen" for="document-search">
        {t("document.search")}
      </label>
      <input
        id="document-search"
        type="search"
        ref={input}
        placeholder={t("document.search")}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          if (event.shiftKey) onBefore();
          else onNext();
        }}
      />
      <span class="faint" role="status">
        {total !== null && (total ? `${current} / ${total}` : t("document.notFound"))}
      </span>
      <IconButton icon="up" label={t("document.before")} disabled={!total} onClick={onBefore} />
      <IconButton icon="down" label={t("document.next")} disabled={!total} onClick={onNext} />
    </div>
  );
}
