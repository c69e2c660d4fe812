// The library: buckets, their documents with fields, what to review, and bringing files in.
import { useEffect, useState } from "preact/hooks";
import { fresh, narrow } from "../ask/conversation";
import { address } from "../routing";
import { Icon } from "../ui/icon";
import { t } from "../words";
import { about, buckets, listBuckets } from "./buckets";
import { DocumentsView } from "./documents";
import { held } from "./dropped";
import { ReviewView } from "./review";
import { UploadView } from "./upload";

export function LibraryView() {
  const { bucket, tab } = address.value;
  useEffect(() => void listBuckets().catch(() => undefined), []);
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
