// The library: buckets, their documents with fields, what to review, and bringing files in.
import { useEffect, useRef, useState } from "preact/hooks";
import { fresh, narrow } from "../ask/conversation";
import { address } from "../routing";
import { Icon } from "../ui/icon";
import { moment, t } from "../words";
import type { WatchedFolder } from "../api/types";
import { about, buckets, documentsChanged, learnAbout, listBuckets } from "./buckets";
import { DocumentsView } from "./documents";
import { held } from "./dropped";
import { ReviewView } from "./review";
import { UploadView } from "./upload";

export function LibraryView() {
  const { bucket, tab } = address.value;
  useEffect(() => void Promise.all([listBuckets(), learnAbout()]).catch(() => undefined), [bucket]);
  const known = buckets.value?.find((one) => one.name === bucket);
  return bucket && (known || !buckets.value) ? <BucketView name={bucket} tab={tab} /> : <AllBuckets />;
}

function AllBuckets() {
  const [adding, setAdding] = useState(false);
  const total = (buckets.value ?? []).reduce((sum, bucket) => sum + bucket.documents, 0);
  return (
    <div class="page-view">
      <header class="page-head">
        <div>
          <h1>{t("library")}</h1>
          <p class="faint">{t("library.lead", { n: total })}</p>
        </div>
        {about.value?.may_write && (
          <button type="button" class="strong" aria-expanded={adding} onClick={() => setAdding(!adding)}>
            <Icon name="upload" size={16} /> {t("upload")}
          </button>
        )}
      </header>
      {(adding || held.value.length > 0 || (total === 0 && about.value?.may_write)) && <UploadView bucket={null} />}
      <ul class="bucket-cards">
        {(buckets.value ?? []).map((bucket) => (
          <li>
            <a href={`#/library/${encodeURIComponent(bucket.name)}`}>
              <span class="bucket-name">{bucket.name}</span>
              <span class="bucket-count">{t("count.documents", { n: bucket.documents })}</span>
              <span class="bucket-about">{bucket.description}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A folder that the server brings in again when its files change, and what came of it. */
function Watched({ folder }: { folder: WatchedFolder }) {
  const before = useRef(folder.at);
  useEffect(() => {
    const timer = setInterval(() => void learnAbout().catch(() => undefined), folder.at ? 15_000 : 3_000);
    return () => clearInterval(timer);
  }, [folder.at]);
  useEffect(() => {
    if (before.current !== folder.at) void documentsChanged().catch(() => undefined);
    before.current = folder.at;
  }, [folder.at]);
  const came = folder.at ? t("watched.came", { moment: moment(folder.at), documents: t("count.documents", { n: folder.documents }), fresh: folder.new, changed: folder.changed }) : t("watched.soon");
  return (
    <div class="watched">
      <p>
        <Icon name="folder" size={15} /> {t("watched.folder", { folder: folder.folder })} {folder.problem ? <span class="warn">{folder.problem}</span> : came}
      </p>
      {folder.left_out.length > 0 && (
        <details class="fold">
          <summary>{t("watched.leftOut", { n: folder.left_out.length })}</summary>
          <ul>
            {folder.left_out.map((one) => (
              <li>{one}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

const TABS = ["documents", "review", "upload"] as const;

function BucketView({ name, tab }: { name: string; tab: string | null }) {
  const known = buckets.value?.find((one) => one.name === name);
  const may = about.value?.may_write ?? false;
  const tabs = may ? TABS : TABS.slice(0, 2);
  const shown = tabs.find((one) => one === tab) ?? "documents";
  return (
    <div class="page-view wide">
      <nav class="crumbs" aria-label={t("library.crumbs")}>
        <a href="#/library">{t("library")}</a> <Icon name="right" size={14} />
      </nav>
      <header class="page-head">
        <div>
          <h1>{name}</h1>
          <p class="faint">{known?.description}</p>
        </div>
        <button
          type="button"
          class="plain"
          onClick={() => {
            fresh();
            narrow({ buckets: [name] });
          }}
        >
          <Icon name="thread" size={16} /> {t("library.ask")}
        </button>
      </header>
      {about.value?.watched.filter((one) => one.bucket === name).map((one) => <Watched folder={one} />)}
      <nav class="tabs links" aria-label={name}>
        {tabs.map((one) => (
          <a href={`#/library/${encodeURIComponent(name)}${one === "documents" ? "" : `/${one}`}`} aria-current={shown === one ? "page" : undefined}>
            {t(`library.${one}`)}
          </a>
        ))}
      </nav>
      {shown === "documents" && <DocumentsView key={name} bucket={name} />}
      {shown === "review" && <ReviewView key={name} bucket={name} />}
      {shown === "upload" && <UploadView key={name} bucket={name} />}
    </div>
  );
}
