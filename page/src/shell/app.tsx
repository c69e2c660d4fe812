// The frame: what stands at the side, the view in the middle, and a document beside it.
import { effect } from "@preact/signals";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { keyAsked, keepKey } from "../api/client";
import { openThread, stop, thread, title, turns } from "../ask/conversation";
import { AskView } from "../ask/view";
import { about, learnAbout, listBuckets } from "../library/buckets";
import { held, over, watchDrops } from "../library/dropped";
import { closePlace } from "../reader/place";
import { address, go } from "../routing";
import { SettingsView } from "../settings/view";
import { listThreads } from "../threads/list";
import { focusBox, keepFocus } from "../ui/focus";
import { Icon } from "../ui/icon";
import { Dialog, dropBad, IconButton, Tidings, trying } from "../ui/parts";
import { t } from "../words";
import { Side } from "./side";

const LibraryView = lazy(() => import("../library/view").then((found) => found.LibraryView));
const UploadView = lazy(() => import("../library/upload").then((found) => found.UploadView));
const Reader = lazy(() => import("../reader/reader").then((found) => found.Reader));

function Brand() {
  return (
    <a class="brand" href="#/">
      <svg aria-hidden="true" viewBox="0 0 32 32" width="26" height="26">
        <rect width="32" height="32" rx="8" class="brand-ground" />
        <rect x="7" y="14" width="18" height="7" rx="1.5" class="brand-mark" />
        <path d="M11 8H8v16h3M21 8h3v16h-3" class="brand-line" />
      </svg>
      <span>Citegraph</span>
    </a>
  );
}

export function App() {
  const [menu, setMenu] = useState(false);
  const [adding, setAdding] = useState(false);
  const { view, place, thread: named_thread, bucket } = address.value;
  useEffect(dropBad, [view, named_thread, bucket]);
  useEffect(() => {
    void trying(async () => {
      await Promise.all([listBuckets(), learnAbout(), listThreads()]);
    });
    return effect(() => {
      const id = address.value.thread;
      if (address.value.view !== "ask") return;
      if (id && id !== thread.peek()) void trying(() => openThread(id));
      if (!id && thread.peek()) {
        stop();
        thread.value = null;
        title.value = "";
        turns.value = [];
      }
    });
  }, []);
  useEffect(
    () =>
      watchDrops(
        () => about.value?.may_write ?? false,
        () => {
          // Where there is a conversation it stays in view.
          const { view: seen, bucket, tab } = address.value;
          if (seen !== "library") setAdding(true);
          else if (bucket && tab !== "upload") go({ tab: "upload", place: null });
        },
      ),
    [],
  );
  useEffect(keepFocus, []);
  useEffect(() => setMenu(false), [address.value]);
  // A document or a view that was opened from the list of uploads is to be seen.
  useEffect(() => setAdding(false), [view, place?.doc_id]);
  const closeAdding = () => {
    setAdding(false);
    held.value = [];
  };
  const named = view === "ask" ? title.value : view === "library" ? (address.value.bucket ?? t("library")) : t("settings");
  useEffect(() => {
    document.title = named ? `${named} · Citegraph` : "Citegraph";
  }, [named]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
      if (menu) setMenu(false);
      else if (address.value.place) closePlace();
      else if (document.activeElement?.closest("article")) focusBox();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [menu]);
  return (
    <div class={`app ${place ? "reading" : ""} ${menu ? "menu-open" : ""}`}>
      <a class="skip" href="#question" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        {t("skip")}
      </a>
      <header class="bar">
        <IconButton id="menu" icon="menu" label={t("menu")} expanded={menu} controls="side" onClick={() => setMenu(!menu)} />
        <Brand />
      </header>
      {menu && <div class="veil" onClick={() => setMenu(false)} />}
      <div class="side" id="side">
        <div class="side-top">
          <Brand />
        </div>
        <Side onGone={() => setMenu(false)} />
      </div>
      <main id="main" tabIndex={-1}>
        {view === "ask" && <AskView />}
        {view === "library" && (
          <Suspense fallback={<p class="faint wait">{t("opening")}</p>}>
            <LibraryView />
          </Suspense>
        )}
        {view === "settings" && <SettingsView />}
      </main>
      {place && (
        <Suspense fallback={<aside class="reader" />}>
          <Reader place={place} />
        </Suspense>
      )}
      <Tidings />
      {over.value && (
        <div class="drop-veil" aria-hidden="true">
          <p>
            <Icon name="upload" size={26} /> {view === "library" && address.value.bucket ? t("drop.into", { bucket: address.value.bucket }) : t("drop.here")}
          </p>
        </div>
      )}
      {adding && (
        <Dialog id="upload-dialog" title={t("upload")} onClose={closeAdding}>
          <Suspense fallback={<p class="faint wait">{t("opening")}</p>}>
            <UploadView bucket={null} />
          </Suspense>
          {!held.value.length && (
            <div class="row end">
              <button type="button" class="plain" onClick={closeAdding}>
                {t("close")}
              </button>
            </div>
          )}
        </Dialog>
      )}
      {keyAsked.value !== null && <KeyDialog problem={keyAsked.value} />}
    </div>
  );
}

function KeyDialog({ problem }: { problem: string }) {
  const [key, setKey] = useState("");
  return (
    <Dialog id="key-dialog" title={t("key.title")} keep onClose={() => undefined}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!key.trim()) return;
          keepKey(key.trim());
          setKey("");
        }}
      >
        <p id="key-problem" role="alert" class="bad-text">
          {problem}
        </p>
        <label for="key">{t("key.label")}</label>
        <input id="key" type="password" autocomplete="off" required value={key} onInput={(event) => setKey(event.currentTarget.value)} />
        <p class="faint">{t("key.kept")}</p>
        <div class="row end">
          <button type="submit" class="strong">
            {t("key.use")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
