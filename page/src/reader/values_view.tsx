// The fields of a document: the value that stands, where it was found, how sure it is; corrected, accepted, taken back.
import { useEffect, useRef, useState } from "preact/hooks";
import { documentPath, getJson, sendJson } from "../api/client";
import type { BucketDetail, DocumentValue } from "../api/types";
import { printedAmount } from "../ask/cells";
import { about, bucketDetail, documentsChanged } from "../library/buckets";
import type { Place } from "../routing";
import { Icon } from "../ui/icon";
import { IconButton, tell, trying } from "../ui/parts";
import { day, isWord, spoken, t } from "../words";

export const placeOfValue = (id: string, value: DocumentValue): Place | null =>
  value.start === null || value.end === null ? null : { doc_id: id, page: value.page, start: value.start, end: value.end };

export async function correct(id: string, field: string, action: "set" | "accept" | "absent" | "undo", value = "", note = ""): Promise<DocumentValue[]> {
  const sent = await sendJson("POST", `${documentPath(id)}/corrections`, { field, action, value, note });
  void documentsChanged();
  return sent.json();
}

export function ValuesView({ id, bucket, onPlace }: { id: string; bucket: string; onPlace: (place: Place) => void }) {
  const [values, setValues] = useState<DocumentValue[] | null>(null);
  const [detail, setDetail] = useState<BucketDetail | null>(null);
  const [editing, setEditing] = useState("");
  useEffect(() => {
    setValues(null);
    void trying(async () => {
      const [found, declared] = await Promise.all([getJson<DocumentValue[]>(`${documentPath(id)}/values`), bucketDetail(bucket)]);
      setValues(found);
      setDetail(declared);
    });
  }, [id]);
  if (!values || !detail) return <p class="faint wait">{t("opening")}</p>;
  const may = about.value?.may_write ?? false;
  const change = (field: string, action: "set" | "accept" | "absent" | "undo", value = "", note = "") =>
    trying(async () => {
      setValues(await correct(id, field, action, value, note));
      setEditing("");
      tell(action === "undo" ? t("values.undone") : t("values.kept"), action === "undo" ? {} : { undo: { label: t("undo"), act: () => void change(field, "undo") } });
    });
  return (
    <div class="values" tabIndex={0} role="region" aria-label={t("document.fields")}>
      <dl>
        {detail.fields.map((field) => {
          const own = values.filter((value) => value.field === field.name);
          const stands = own.find((value) => ["stored", "absent", "waiting"].includes(value.status) && value.method === "corrected") ?? own.find((value) => value.status === "stored");
          const others = own.filter((value) => value !== stands && value.shown);
          if (!own.length && !may) return null;
          return (
            <div class="value" key={field.name}>
              <dt title={field.description}>{spoken(field.name)}</dt>
              <dd>
                {editing === field.name ? (
                  <EditValue before={stands?.shown ?? ""} example={field.examples[0] ?? ""} onCancel={() => setEditing("")} onSave={(value, note) => change(field.name, "set", value, note)} />
                ) : (
                  <>
                    <span class="value-line">
                      {stands?.shown ? <span class="value-text">{printedAmount(stands.shown)}</span> : <span class="faint">{t("values.none")}</span>}
                      {stands && stands.confidence < 0.7 && <Doubt value={stands} />}
                      {stands && placeOfValue(id, stands) && (
                        <button type="button" class="link" onClick={() => onPlace(placeOfValue(id, stands)!)}>
                          {stands.page ? t("page.short", { page: stands.page }) : t("values.where")}
                        </button>
                      )}
                      {may && <IconButton icon="pencil" class="tiny reveal" label={t("values.correct", { field: spoken(field.name) })} onClick={() => setEditing(field.name)} />}
                      {may && stands?.method === "corrected" && <IconButton icon="undo" class="tiny" label={t("values.undo", { field: spoken(field.name) })} onClick={() => change(field.name, "undo")} />}
                    </span>
                    {stands?.method === "corrected" && stands.at && (
                      <span class="faint value-note">
                        {t("values.by", { by: stands.by ?? "", day: day(Date.parse(stands.at) / 1000), instead: stands.instead_of || "–" })}
                        {stands.note && ` · ${stands.note}`}
                      </span>
                    )}
                    {stands?.against && <span class="warn value-note">{t("values.against", { text: stands.against })}</span>}
                    {others.map((value) => (
                      <span class="value-other">
                        <span class="status-word">{statusWord(value.status)}</span> {printedAmount(value.shown)}
                        {placeOfValue(id, value) && (
                          <button type="button" class="link" onClick={() => onPlace(placeOfValue(id, value)!)}>
                            {value.page ? t("page.short", { page: value.page }) : t("values.where")}
                          </button>
                        )}
                      </span>
                    ))}
                  </>
                )}
              </dd>
            </div>
          );
        })}
      </dl>
    </div>
  );
}

export const statusWord = (status: string): string => {
  const word = `values.status.${status}`;
  return isWord(word) ? t(word) : status;
};

function Doubt({ value }: { value: DocumentValue }) {
  return (
    <span class="doubt" title={t("values.sure", { percent: Math.round(value.confidence * 100) })}>
      <Icon name="help" size={14} />
      <span class="unseen">{t("values.sure", { percent: Math.round(value.confidence * 100) })}</span>
    </span>
  );
}

interface EditValueProps {
  before: string;
  example: string;
  onSave: (value: string, note: string) => void;
  onCancel: () => void;
}

export function EditValue({ before, example, onSave, onCancel }: EditValueProps) {
  const [value, setValue] = useState(before);
  const [note, setNote] = useState("");
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <form
      class="edit-value"
      onSubmit={(event) => {
        event.preventDefault();
        if (value.trim()) onSave(value.trim(), note.trim());
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onCancel();
      }}
    >
      <input aria-label={t("values.new")} value={value} placeholder={example} required ref={first} onInput={(event) => setValue(event.currentTarget.value)} />
      <input aria-label={t("values.note")} value={note} placeholder={t("values.note")} maxLength={1000} onInput={(event) => setNote(event.currentTarget.value)} />
      <div class="row end">
        <button type="button" class="plain small" onClick={onCancel}>
          {t("cancel")}
        </button>
        <button type="submit" class="strong small">
          {t("save")}
        </button>
      </div>
    </form>
  );
}
