// An answer: what it says first, then the table, the filters it rests on and how its statements held up; sources stand beside it.
import { useMemo, useState } from "preact/hooks";
import type { Answer, Claim } from "../api/types";
import { samePlace, openPlace } from "../reader/place";
import { address, hrefTo, urlTo } from "../routing";
import { Icon } from "../ui/icon";
import { spoken, t } from "../words";
import { blocksOf, holds, numbersOf, repeatedBy, type Block, type Inline } from "./blocks";
import { CiteLink, placeOf, pointed } from "./cite";
import { printing } from "./printing";
import { type Turn } from "./conversation";
import { FilterChips } from "./filter_chips";
import { AnswerTable } from "./table";
import { STATUSES, VERDICTS } from "./verdicts";

export function AnswerView({ turn, answer }: { turn: Turn; answer: Answer }) {
  const blocks = useMemo(() => blocksOf(answer), [answer]);
  const numbers = useMemo(() => numbersOf(answer.citations, blocks), [answer]);
  const repeated = useMemo(() => repeatedBy(answer, blocks), [answer]);
  const claimsOfRows = useMemo(() => {
    const found = new Map<string, Claim>();
    for (const block of repeated) for (const claim of block.claims) for (const at of claim.citations) found.set(answer.citations[at]!.doc_id, claim);
    return found;
  }, [answer]);
  const hasTable = !!answer.table?.rows.length;
  const cited = answer.citations.length > 0;
  // A table of many columns has the whole width; its rows lead to their sources.
  const beside = cited && !(answer.table && answer.table.rows.length > 0 && answer.table.columns.length > 3);
  return (
    <div class={`answer ${beside ? "with-sources" : ""}`}>
      <div class="answer-main">
        <Standing answer={answer} />
        <div class="prose">
          <Blocks blocks={hasTable ? blocks.filter((block) => !repeated.has(block)) : blocks} answer={answer} numbers={numbers} />
        </div>
        {hasTable && <AnswerTable answer={answer} numbers={numbers} claims={claimsOfRows} />}
        <FilterChips turn={turn} answer={answer} />
        <Checked claims={answer.claims} />
        <Notes answer={answer} />
      </div>
      {cited && <Sources answer={answer} numbers={numbers} />}
    </div>
  );
}

function Standing({ answer }: { answer: Answer }) {
  const held = answer.claims.filter(holds).length;
  // Green is for what was answered and held whole.
  const doubted = answer.status === "answered" && held < answer.claims.length;
  const look = doubted ? "partial" : answer.status;
  return (
    <p class={`standing ${look}`}>
      <Icon name={STATUSES[look].icon} size={16} />
      <strong>{t(doubted ? "status.doubted" : `status.${answer.status}`)}</strong>
      {answer.claims.length > 0 && (
        <span class={held < answer.claims.length ? "warn" : "faint"}>{t("claims.held", { n: answer.claims.length, held })}</span>
      )}
      {!answer.claims.length && !!answer.table?.rows.length && answer.matched !== null && (
        <span class="faint">{t("computed.from", { documents: t("count.documents", { n: answer.matched }) })}</span>
      )}
      {answer.confidence != null && <span class="faint">{t("confidence", { share: Math.round(100 * answer.confidence) })}</span>}
    </p>
  );
}

function Blocks({ blocks, answer, numbers }: { blocks: Block[]; answer: Answer; numbers: number[] }) {
  const shown = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at]!;
    const run: Block[] = [block];
    while (block.kind !== "paragraph" && block.kind !== "heading" && blocks[at + 1]?.kind === block.kind && (block.number === null) === (blocks[at + 1]!.number === null)) run.push(blocks[(at += 1)]!);
    const inline = (parts: Inline[]) => <Inlines parts={parts} answer={answer} numbers={numbers} />;
    if (block.kind === "row")
      shown.push(
        <div class="table-frame" tabIndex={0} role="region" aria-label={t("table.title")}>
          <table>
            <thead>
              <tr>
                {run[0]!.cells.map((cell) => (
                  <th scope="col">{inline(cell)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {run.slice(1).map((row) => (
                <tr>
                  {row.cells.map((cell) => (
                    <td>{inline(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>,
      );
    else if (block.kind === "item" && block.number !== null)
      shown.push(
        <ol>
          {run.map((item) => (
            <li value={item.number!}>{inline(item.parts)}</li>
          ))}
        </ol>,
      );
    else if (block.kind === "item")
      shown.push(
        <ul>
          {run.map((item) => (
            <li>{inline(item.parts)}</li>
          ))}
        </ul>,
      );
    else if (block.kind === "heading") shown.push(<h4>{inline(block.parts)}</h4>);
    else shown.push(<p class={/^[“"«„]/.test(firstText(block)) ? "quoted" : ""}>{inline(block.parts)}</p>);
  }
  return <>{shown}</>;
}

const firstText = (block: Block): string => {
  const first = block.parts[0];
  return first?.kind === "text" ? first.text : "";
};
const MANY = 6;

function Inlines({ parts, answer, numbers }: { parts: Inline[]; answer: Answer; numbers: number[] }) {
  const [all, setAll] = useState(false);
  const cites = parts.filter((part) => part.kind === "cite").length;
  let passed = 0;
  return (
    <>
      {parts.map((part) => {
        if (part.kind === "text") {
          const text = part.strong ? <strong>{part.text}</strong> : part.text;
          if (!part.claim || holds(part.claim)) return text;
          return (
            <span class={`claim ${part.claim.verdict}`} title={part.claim.reason || undefined}>
              {text}
            </span>
          );
        }
        if (part.kind === "cite") {
          passed += 1;
          if (!all && !printing.value && cites > MANY && passed > MANY) {
            if (passed > MANY + 1) return null;
            return (
              <button type="button" class="cite more" onClick={() => setAll(true)} aria-label={t("cite.more", { n: cites - MANY })}>
                +{cites - MANY}
              </button>
            );
          }
          return <CiteLink citation={answer.citations[part.index]!} number={numbers[part.index]!} />;
        }
        if (holds(part.claim)) return null;
        return (
          <span class={`verdict ${part.claim.verdict}`} title={part.claim.reason || undefined}>
            <Icon name={VERDICTS[part.claim.verdict].icon} size={15} />
            <span class="verdict-word">{t(`verdict.${part.claim.verdict}`)}</span>
          </span>
        );
      })}
    </>
  );
}

const FEW = 4;

function Sources({ answer, numbers }: { answer: Answer; numbers: number[] }) {
  const [all, setAll] = useState(false);
  const ordered = answer.citations.map((citation, index) => ({ citation, number: numbers[index]! })).sort((one, other) => one.number - other.number);
  const seen = all || printing.value ? ordered : ordered.slice(0, FEW);
  const place = address.value.place;
  return (
    <aside class="sources" aria-label={t("sources")}>
      <h3>{t("count.sources", { n: ordered.length })}</h3>
      <ol>
        {seen.map(({ citation, number }) => (
          <li class={pointed.value === citation ? "pointed" : ""}>
            <a
              class={`source ${samePlace(place, citation) ? "open" : ""}`}
              href={hrefTo({ place: placeOf(citation) })}
              aria-current={samePlace(place, citation) ? "true" : undefined}
              onMouseEnter={() => (pointed.value = citation)}
              onMouseLeave={() => (pointed.value = null)}
              onClick={(event) => openPlace(event, placeOf(citation), citation)}
            >
              <span class="source-head">
                <span class="cite" aria-hidden="true">
                  {number}
                </span>
                <span class="source-name">{citation.source_file}</span>
                {citation.page !== null && <span class="source-page">{t("page.short", { page: citation.page })}</span>}
              </span>
              {citation.title && citation.title !== citation.source_file && <span class="source-title">{citation.title}</span>}
              <q>{citation.quote.replace(/\s+/g, " ").trim().slice(0, printing.value ? undefined : 220)}</q>
              {printing.value && <span class="source-link">{urlTo({ place: placeOf(citation) })}</span>}
            </a>
            {citation.remark && (
              <p class="remark">
                <Icon name="alert" size={14} /> {citation.remark}
              </p>
            )}
          </li>
        ))}
      </ol>
      {ordered.length > FEW && (
        <button type="button" class="plain small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t("sources.less") : t("sources.more", { n: ordered.length - FEW })}
        </button>
      )}
    </aside>
  );
}

function Checked({ claims }: { claims: Claim[] }) {
  if (!claims.length) return null;
  return (
    <details class="fold">
      <summary>{t("claims.title", { n: claims.length })}</summary>
      <ul class="checks">
        {claims.map((claim) => (
          <li>
            <span class={`verdict ${claim.verdict}`}>
              <Icon name={VERDICTS[claim.verdict].icon} size={16} />
            </span>
            <span>
              {claim.text}
              <span class="faint">
                {" "}
                {t(`verdict.${claim.verdict}`)}
                {claim.formula || claim.reason ? ` · ${claim.formula || claim.reason}` : ""}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Kinds of notes that bear on what an answer counts: they are never folded away. */
const TELLING = new Set(["scope", "unknown", "not applied", "copies", "versions"]);

function Notes({ answer }: { answer: Answer }) {
  if (!answer.notes.length) return null;
  return (
    <details class="fold notes" open={printing.value || answer.status !== "answered" || answer.notes.some((note) => TELLING.has(note.kind))}>
      <summary>{t("count.notes", { n: answer.notes.length })}</summary>
      <ul>
        {answer.notes.map((note) => (
          <li>
            {note.message} <span class="faint">{spoken(note.kind)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
