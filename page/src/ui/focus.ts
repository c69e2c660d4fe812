// Where the keyboard is: in the box that asks, on one row of a table, and never lost with what goes away.
import { useEffect, useRef } from "preact/hooks";

/** Give the box the focus, so that one can ask on at once; on a phone its keyboard would cover the answer. */
export function focusBox(): void {
  if (!matchMedia("(pointer: coarse)").matches) document.getElementById("question")?.focus({ preventScroll: true });
}

const STOPS = "a[href], button:not(:disabled, [tabindex='-1']), input:not(:disabled), select, textarea, summary";

/** Watch the page: when what has the focus of the keyboard is taken away, what stands in its place gets it. */
export function keepFocus(): () => void {
  let trail: { node: Element; parent: Element; at: number }[] = [];
  let byKey = false;
  const keyed = () => void (byKey = true);
  const pointed = () => void (byKey = false);
  const moved = (event: Event) => {
    trail = [];
    for (let node = event.target as Element; byKey && node.parentElement; node = node.parentElement)
      trail.push({ node, parent: node.parentElement, at: [...node.parentElement.children].indexOf(node) });
  };
  const watcher = new MutationObserver(() => {
    if (document.activeElement !== document.body || !trail.length || trail[0]!.node.isConnected) return;
    const left = trail.filter(({ parent }) => parent.isConnected && parent !== document.body);
    trail = [];
    for (const { parent, at } of left) {
      const stops = [...parent.querySelectorAll<HTMLElement>(STOPS)].filter((one) => one.checkVisibility());
      const next = stops.find((one) => [...parent.children].slice(at).some((child) => child.contains(one))) ?? stops.at(-1);
      if (!next) continue;
      next.focus();
      return;
    }
  });
  addEventListener("keydown", keyed, true);
  addEventListener("pointerdown", pointed, true);
  addEventListener("focusin", moved);
  watcher.observe(document.body, { childList: true, subtree: true });
  return () => {
    removeEventListener("keydown", keyed, true);
    removeEventListener("pointerdown", pointed, true);
    removeEventListener("focusin", moved);
    watcher.disconnect();
  };
}

const IN_ROWS = "tbody a, tbody input, tbody button:not([role=menuitem])";

/** Make what can be clicked in the rows of a table one stop of the Tab key; arrows, Home and End move within it. */
export function useOneStop() {
  const frame = useRef<HTMLDivElement>(null);
  const current = useRef<HTMLElement | null>(null);
  const mark = (wanted: Element | null) => {
    const all = [...(frame.current?.querySelectorAll<HTMLElement>(IN_ROWS) ?? [])];
    current.current = all.find((one) => one === wanted) ?? all[0] ?? null;
    for (const one of all) one.tabIndex = one === current.current ? 0 : -1;
  };
  useEffect(() => mark(current.current));
  return {
    ref: frame,
    onFocusIn: (event: FocusEvent) => {
      if ((event.target as Element).matches(IN_ROWS)) mark(event.target as Element);
    },
    onKeyDown: (event: KeyboardEvent) => {
      const from = current.current;
      if (event.defaultPrevented || document.activeElement !== from || !from) return;
      const rows = [...frame.current!.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll<HTMLElement>(IN_ROWS)]).filter((row) => row.length);
      const row = rows.findIndex((stops) => stops.includes(from));
      const place = rows[row]!.indexOf(from);
      const moves: Record<string, () => HTMLElement[] | undefined> = {
        ArrowDown: () => rows[row + 1],
        ArrowUp: () => rows[row - 1],
        Home: () => rows[0],
        End: () => rows.at(-1),
        ArrowRight: () => rows[row]!.slice(place + 1, place + 2),
        ArrowLeft: () => rows[row]!.slice(Math.max(0, place - 1), place),
      };
      const to = moves[event.key]?.();
      if (!to) return;
      event.preventDefault();
      (to[place] ?? to.at(-1))?.focus();
    },
  };
}
