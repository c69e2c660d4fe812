// Filters as chips: each can be changed or taken away, and one of the bucket's fields added; the question is then asked again.
import { useEffect, useId, useState } from "preact/hooks";
import type { Answer, BucketDetail, Field, Filter } from "../api/types";
import { bucketDetail } from "../library/buckets";
import { Icon } from "../ui/icon";
import { Dialog, IconButton, trying } from "../ui/parts";
import { spoken, t } from "../words";
import { refilter, writtenFilter, written, type Turn } from "./conversation";

const ORDERED = ["=", "!=", "<", "<=", ">", ">=", "between"];
const WORDS = ["=", "!=", "contains", "starts with", "in"];
const PRESENCE = ["exists", "missing"];

export function operatorsOf(field: Field): string[] {
  if (field.type === "boolean") return ["=", ...PRESENCE];
  if (["integer", "decimal", "money", "date", "quantity"].includes(field.type)) return [...ORDERED, ...PRESENCE];
  return [...WORDS, ...PRESENCE];
}

export function FilterChips({ turn, answer }: { turn: Turn; answer: Answer }) {
  const [editing, setEditing] = useState<Filter | "new" | null>(null);
  const bucket = answer.buckets[0];
  if (!answer.filters.length && (!bucket || answer.intent === "qa")) return null;
  return (
    <div class="filters">
      <h3 class="unseen">{t("filters")}</h3>
      <ul class="chips" aria-label={t("filters")}>
        {answer.filters.map((filter) => {
          const ends = filter.operator === "between" && Array.isArray(filter.value) ? filter.value.map(written) : null;
          const text = ends ? `${spoken(filter.field)} ${ends.join(" – ")}` : filter.text || writtenFilter(filter);
          const applied = filter.status === "applied";
          const own = filter.origin === "user";
          return (
            <li class={`chip ${filter.status} ${own ? "own" : ""}`}>
              {applied ? (
                <button type="button" class="chip-text" onClick={() => setEditing(filter)} title={t("filters.edit")}>
                  {text}
                </button>
              ) : (
                <span class="chip-text">
                  <s>{text}</s> {t(filter.status === "dropped" ? "filters.dropped" : "filters.relaxed")}
                </span>
              )}
              {own && <span class="chip-own">{t("filters.own")}</span>}
              {filter.matched !== null && (
                <span class="chip-count">{t("count.documents", { n: filter.matched })}</span>
              )}
              {applied && <IconButton icon="close" class="tiny" label={t("filters.without", { text })} onClick={() => refilter(turn, filter, null)} />}
            </li>
          );
        })}
        {bucket && (
          <li>
            <button type="button" class="chip add" onClick={() => setEditing("new")}>
              <Icon name="plus" size={14} /> {t("filters.add")}
            </button>
          </li>
        )}
      </ul>
      {editing && bucket && (
        <FilterDialog
          bucket={editing === "new" ? bucket : editing.bucket || bucket}
          filter={editing === "new" ? null : editing}
          onClose={() => setEditing(null)}
          onDone={(text) => {
            setEditing(null);
            void refilter(turn, editing === "new" ? null : editing, text);
          }}
          action={t("filters.ask")}
        />
      )}
    </div>
  );
}

interface FilterDialogProps {
  bucket: string;
  filter: Pick<Filter, "field" | "operator" | "value"> | null;
  onClose: () => void;
  onDone: (text: string) => void;
  action: string;
}

/** Choose field, operator and value of a filter from what the bucket declares and holds. */
export function FilterDialog({ bucket, filter, onClose, onDone, action }: FilterDialogProps) {
  const [detail, setDetail] = useState<BucketDetail | null>(null);
  const [name, setName] = useState(filter?.field ?? "");
  const [operator, setOperator] = useState(filter?.operator ?? "=");
  const parts = Array.isArray(filter?.value) ? filter.value.map(written) : [written(filter?.value)];
  const [value, setValue] = useState(filter?.operator === "between" ? (parts[0] ?? "") : parts.join("; "));
  const [upper, setUpper] = useState(filter?.operator === "between" ? (parts[1] ?? "") : "");
  const id = useId();
  useEffect(() => {
    void trying(async () => {
      const found = await bucketDetail(bucket);
      setDetail(found);
      if (!filter) setName(found.fields[0]?.name ?? "");
    });
  }, [bucket]);
  const field = detail?.fields.find((one) => one.name === name);
  const operators = field ? operatorsOf(field) : [operator];
  const known = detail?.values[name] ?? [];
  const present = PRESENCE.includes(operator);
  const submit = (event: Event) => {
    event.preventDefault();
    if (present) onDone(`${name} ${operator}`);
    else onDone(`${name} ${operator} ${operator === "between" ? `${value}; ${upper}` : value}`.trim());
  };
  const hint = field ? [field.description, field.unit ? t("filters.unit", { unit: field.unit }) : ""].filter(Boolean).join(" ") : "";
  return (
    <Dialog title={filter ? t("filters.change") : t("filters.new")} onClose={onClose}>
      <form class="form" onSubmit={submit}>
        <label for={`${id}field`}>{t("filters.field")}</label>
        <select
          id={`${id}field`}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
            setOperator("=");
            setValue("");
          }}
        >
          {(detail?.fields ?? (name ? [{ name } as Field] : [])).map((one) => (
            <option value={one.name}>{spoken(one.name)}</option>
          ))}
        </select>
        <p class="faint hint">{hint}</p>
        <label for={`${id}operator`}>{t("filters.operator")}</label>
        <select id={`${id}operator`} value={operator} onChange={(event) => setOperator(event.currentTarget.value)}>
          {[...new Set([...operators, operator])].map((one) => (
            <option value={one}>{operatorWord(one, field)}</option>
          ))}
        </select>
        {!present && (
          <>
            <label for={`${id}value`}>{operator === "between" ? t("filters.from") : t("filters.value")}</label>
            <input
              id={`${id}value`}
              type={field?.type === "date" && operator !== "=" ? "date" : "text"}
              list={known.length ? `${id}known` : undefined}
              value={value}
              required
              maxLength={500}
              placeholder={field?.examples[0] ?? ""}
              onInput={(event) => setValue(event.currentTarget.value)}
            />
            {operator === "between" && (
              <>
                <label for={`${id}upper`}>{t("filters.to")}</label>
                {field?.type === "date" ? (
                  <input id={`${id}upper`} type="date" value={upper} required onInput={(event) => setUpper(event.currentTarget.value)} />
                ) : (
                  <input id={`${id}upper`} value={upper} required onInput={(event) => setUpper(event.currentTarget.value)} />
                )}
              </>
            )}
            {known.length > 0 && (
              <>
                <datalist id={`${id}known`}>
                  {known.map(([label]) => (
                    <option value={label} />
                  ))}
                </datalist>
                <div class="suggestions" role="group" aria-label={t("filters.frequent")}>
                  {known.slice(0, 8).map(([label, count]) => (
                    <button type="button" class="chip" onClick={() => setValue(operator === "in" && value.trim() ? `${value}; ${label}` : label)}>
                      {label} <span class="chip-count">{count}</span>
                    </button>
                  ))}
                </div>
              </>
            )}
          </>
        )}
        <div class="row end">
          <button type="button" class="plain" onClick={onClose}>
            {t("cancel")}
          </button>
          <button type="submit" class="strong">
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function operatorWord(operator: string, field: Field | undefined): string {
  const signs: Record<string, string> = { "=": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥" };
  if (operator in signs) return field?.type === "date" && operator === "=" ? t("operator.in") : signs[operator]!;
  if (operator === "between") return t("operator.between");
  if (operator === "contains") return t("operator.contains");
  if (operator === "starts with") return t("operator.starts");
  if (operator === "in") return t("operator.oneOf");
  if (operator === "exists") return t("operator.exists");
  if (operator === "missing") return t("operator.missing");
  return operator;
}
