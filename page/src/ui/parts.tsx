// The small parts that every view is made of: menus, dialogs, tidings, buttons with a picture.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../words";
import { Icon, type IconName } from "./icon";

/** A button with a picture; its title is its name, said once. */
interface IconButtonProps {
  icon: IconName;
  label: string;
  onClick?: (event: MouseEvent) => void;
  pressed?: boolean;
  expanded?: boolean;
  controls?: string;
  disabled?: boolean;
  class?: string;
  id?: string;
}

export function IconButton({ icon, label, onClick, pressed, expanded, controls, disabled, class: more = "", id }: IconButtonProps) {
  return (
    <button
      type="button"
      id={id}
      class={`icon-button ${more}`}
      title={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-controls={controls}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

export interface MenuItem {
  label: string;
  icon: IconName;
  act: () => void;
  danger?: boolean;
}

/** A button that opens a menu; arrows move in it, Escape closes it. */
export function MenuButton({ label, icon = "more", items, class: more = "" }: { label: string; icon?: IconName; items: MenuItem[]; class?: string }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    root.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const outside = (event: Event) => !root.current?.contains(event.target as Node) && setOpen(false);
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    root.current?.querySelector<HTMLElement>("button")?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const all = [...root.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (event.key === "ArrowDown") all[(at + 1) % all.length]?.focus();
    else if (event.key === "ArrowUp") all[(at - 1 + all.length) % all.length]?.focus();
    else if (event.key === "Home") all[0]?.focus();
    else if (event.key === "End") all.at(-1)?.focus();
    else if (event.key === "Tab") setOpen(false);
    else return;
    if (event.key !== "Tab") event.preventDefault();
  };
  return (
    <div class={`menu ${more}`} ref={root} onKeyDown={onKeyDown}>
      <button type="button" class="icon-button" title={label} aria-haspopup="menu" aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)}>
        <Icon name={icon} />
      </button>
      {open && (
        <div class="menu-list" role="menu" id={id} aria-label={label}>
          {items.map((item) => (
            <button
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={item.danger ? "danger" : ""}
              onClick={() => {
                close();
                item.act();
              }}
            >
              <Icon name={item.icon} size={16} />
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** A dialog of the browser's own: focus stays in it, Escape closes it. */
export function Dialog({ title, onClose, children, keep = false, id }: { title: string; onClose: () => void; children: ComponentChildren; keep?: boolean; id?: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const shown = dialog.current!;
    if (!shown.open) shown.showModal();
    // While it still stands: the browser then gives the focus back to what opened it.
    return () => shown.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      id={id}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        if (!keep) onClose();
      }}
      onClose={() => {
        // Browsers close a dialog at a second Escape whatever its cancel event was told.
        if (keep && dialog.current?.isConnected) dialog.current.showModal();
      }}
      onPointerDown={(event) => !keep && event.target === dialog.current && onClose()}
    >
      <div class="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface Asked {
  title: string;
  text: string;
  yes: string;
  answer: (sure: boolean) => void;
}

const asked = signal<Asked | null>(null);

/** Ask before something is lost. */
export function sure(title: string, text: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    asked.value = {
      title,
      text,
      yes,
      answer: (said) => {
        asked.value = null;
        resolve(said);
      },
    };
  });
}

interface Told {
  id: number;
  text: string;
  bad: boolean;
  undo?: { label: string; act: () => void };
}

const told = signal<Told[]>([]);
/** What a screen reader is told, and nobody sees. */
export const said = signal("");
let number = 0;

/** Tell something in a corner for a while; what went wrong stays until it is closed. */
export function tell(text: string, more: { bad?: boolean; undo?: Told["undo"] } = {}): void {
  const one: Told = { id: ++number, text, bad: more.bad ?? false, undo: more.undo };
  told.value = [...told.value.slice(-2), one];
  if (!one.bad) setTimeout(() => drop(one.id), one.undo ? 10_000 : 4_000);
}

const drop = (id: number) => (told.value = told.value.filter((one) => one.id !== id));

/** What went wrong in a view is over when one leaves it. */
export const dropBad = (): void => void (told.value = told.value.filter((one) => !one.bad));

/** Run something that may fail, and tell when it does. */
export async function trying<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if ((error as Error).name !== "AbortError") tell((error as Error).message, { bad: true });
    return undefined;
  }
}

/** What floats above every view. */
export function Tidings() {
  return (
    <>
      <div class="tidings" role="status" aria-live="polite">
        {told.value.map((one) => (
          <div class={`tiding ${one.bad ? "bad" : ""}`} key={one.id}>
            <span>{one.text}</span>
            {one.undo && (
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  drop(one.id);
                  one.undo!.act();
                }}
              >
                {one.undo.label}
              </button>
            )}
            <IconButton icon="close" label={t("close")} onClick={() => drop(one.id)} />
          </div>
        ))}
      </div>
      <p class="unseen" role="status" aria-live="polite">
        {said.value}
      </p>
      {asked.value && (
        <Dialog title={asked.value.title} onClose={() => asked.value!.answer(false)}>
          <p>{asked.value.text}</p>
          <div class="row end">
            <button type="button" class="plain" onClick={() => asked.value!.answer(false)}>
              {t("cancel")}
            </button>
            <button type="button" class="danger-strong" onClick={() => asked.value!.answer(true)}>
              {asked.value.yes}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Over plain HTTP a page may not use the clipboard: a selection may be copied all the same.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  tell(t("copied"));
}
