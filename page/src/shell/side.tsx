// What stands beside every view: where one can go, and the threads with their search.
import { useEffect, useState } from "preact/hooks";
import { fresh, thread } from "../ask/conversation";
import { removeThread, RenameDialog } from "../ask/view";
import { address, hrefTo, urlTo } from "../routing";
import { listThreads, search, threads, total } from "../threads/list";
import type { Thread } from "../api/types";
import { Icon } from "../ui/icon";
import { copyText, MenuButton } from "../ui/parts";
import { day, t } from "../words";

export function Side({ onGone }: { onGone: () => void }) {
  const view = address.value.view;
  const [naming, setNaming] = useState<Thread | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => void listThreads(), search.value ? 200 : 0);
    return () => clearTimeout(timer);
  }, [search.value]);
  return (
    <>
      <nav aria-label={t("nav")} class="side-nav">
        <a
          class="nav-item"
          href="#/"
          id="fresh"
          onClick={(event) => {
            event.preventDefault();
            fresh();
            onGone();
          }}
        >
          <Icon name="fresh" /> {t("fresh")}
        </a>
        <a class="nav-item" href="#/library" aria-current={view === "library" ? "page" : undefined} onClick={onGone}>
          <Icon name="library" /> {t("library")}
        </a>
      </nav>
      <section class="side-threads" aria-label={t("threads")}>
        <div class="side-search">
          <Icon name="search" size={15} />
          <label for="thread-search" class="unseen">
            {t("threads.search")}
          </label>
          <input id="thread-search" type="search" placeholder={t("threads.search")} value={search.value} onInput={(event) => (search.value = event.currentTarget.value)} />
        </div>
        <div class="thread-list">
          {!threads.value.length && <p class="faint side-empty">{search.value ? t("threads.none") : t("threads.empty")}</p>}
          {groups(threads.value).map(([label, listed]) => (
            <section aria-label={label}>
              <h2 class="overline">{label}</h2>
              <ul id={label === groups(threads.value)[0]![0] ? "threads" : undefined}>
                {listed.map((item) => (
                  <li class={`thread ${view === "ask" && item.thread_id === thread.value ? "current" : ""}`}>
                    <a
                      href={hrefTo({ view: "ask", thread: item.thread_id, place: null, bucket: null, tab: null })}
                      aria-current={view === "ask" && item.thread_id === thread.value ? "page" : undefined}
                      title={`${item.title} (${day(item.updated)})`}
                      onClick={onGone}
                    >
                      {item.title}
                    </a>
                    <MenuButton
                      class="reveal"
                      label={t("thread.menuOf", { title: item.title })}
                      items={[
                        { label: t("thread.rename"), icon: "pencil", act: () => setNaming(item) },
                        {
                          label: t("thread.link"),
                          icon: "link",
                          act: () => copyText(urlTo({ view: "ask", thread: item.thread_id, place: null, bucket: null, tab: null })),
                        },
                        { label: t("thread.delete"), icon: "trash", danger: true, act: () => void removeThread(item.thread_id, item.title) },
                      ]}
                    />
                  </li>
                ))}
              </ul>
            </section>
          ))}
          {total.value > threads.value.length && (
            <button type="button" class="plain small" onClick={() => listThreads(true)}>
              {t("threads.more", { n: total.value - threads.value.length })}
            </button>
          )}
        </div>
      </section>
      <nav aria-label={t("settings")} class="side-foot">
        <a class="nav-item" href="#/settings" aria-current={view === "settings" ? "page" : undefined} onClick={onGone}>
          <Icon name="settings" /> {t("settings")}
        </a>
      </nav>
      {naming && <RenameDialog id={naming.thread_id} title={naming.title} onClose={() => setNaming(null)} />}
    </>
  );
}

/** Threads by when they were last used. */
function groups(listed: Thread[]): [string, Thread[]][] {
  const today = new Date();
  today.setHours(0, 0, 0, 0);
  const start = today.getTime() / 1000;
  const names: [string, (thread: Thread) => boolean][] = [
    [t("threads.today"), (item) => item.updated >= start],
    [t("threads.week"), (item) => item.updated >= start - 7 * 86_400],
    [t("threads.before"), () => true],
  ];
  let left = listed;
  return names
    .map(([label, belongs]): [string, Thread[]] => {
      const mine = left.filter(belongs);
      left = left.filter((item) => !belongs(item));
      return [label, mine];
    })
    .filter(([, mine]) => mine.length > 0);
}
