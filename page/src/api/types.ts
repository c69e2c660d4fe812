// What the server sends (see /openapi.json); only the fields that the page reads.

export type Status = "answered" | "partial" | "needs_clarification" | "unanswerable" | "failed";
export type Verdict = "supported" | "derived" | "misattributed" | "unsupported" | "contradicted";

export interface Citation {
  marker: string;
  doc_id: string;
  bucket: string;
  label: string;
  source_file: string;
  title: string;
  page: number | null;
  start: number;
  end: number;
  quote: string;
  remark: string;
}

export interface Claim {
  text: string;
  start: number;
  end: number;
  verdict: Verdict;
  reason: string;
  formula: string;
  citations: number[];
}

export interface Filter {
  bucket: string;
  field: string;
  operator: string;
  value: unknown;
  origin: string;
  status: "applied" | "dropped" | "relaxed";
  matched: number | null;
  text: string;
}

export interface Option {
  id: string;
  label: string;
  count: number | null;
}

export interface Clarification {
  type: string;
  question: string;
  options: Option[];
  tried: string[];
  interrupt_id: string;
}

export interface Table {
  columns: string[];
  rows: unknown[][];
  doc_ids: string[];
  /** The documents that the number of a group's row is computed over; empty for lists. */
  behind?: string[][];
}

export interface Usage {
  llm_calls: number;
  tool_calls: number;
  seconds: number;
  fallbacks: number;
  cost: number | null;
}

export interface Answer {
  question: string;
  text: string;
  status: Status;
  intent: string;
  buckets: string[];
  citations: Citation[];
  claims: Claim[];
  documents: string[];
  matched: number | null;
  table: Table | null;
  filters: Filter[];
  notes: { step: string; kind: string; message: string }[];
  clarification: Clarification | null;
  usage: Usage;
  thread_id: string | null;
  /** How many of answers like it were right, 0 to 1; none where a model had a part in it. */
  confidence?: number | null;
}

export interface RunContext {
  buckets?: string[];
  /** Ids of the only documents that are asked. */
  documents?: string[];
  filters?: string[];
  without?: string[];
  models?: Record<string, Record<string, string>>;
  /** How a model writes answers. */
  style?: string;
}

export type RunEvent =
  | { event: "run"; run_id: string; thread_id: string; reply: boolean }
  | { event: "step"; step: string; seconds: number; detail: string }
  | { event: "tool"; tool: string; buckets: string[]; query: string; hits: number; ms: number; error: string }
  | { event: "token"; text: string }
  | { event: "correction"; reason: string }
  | { event: "clarification"; thread_id: string; clarification: Clarification }
  | { event: "answer"; answer: Answer };

export interface Exchange {
  question: string;
  options: Option[];
  reply: string | null;
}

export interface ThreadTurn {
  question: string;
  created: string;
  run_id: string;
  exchanges: Exchange[];
  answer: Answer | null;
  rating: number | null;
  note: string;
}

export interface Thread {
  thread_id: string;
  title: string;
  created: number;
  updated: number;
}

export interface ThreadState extends Thread {
  turns: ThreadTurn[];
  clarification: Clarification | null;
  unfinished: boolean;
}

export interface Field {
  name: string;
  type: "text" | "keyword" | "keywords" | "integer" | "decimal" | "money" | "date" | "boolean" | "quantity";
  description: string;
  unit: string | null;
  currency: string | null;
  examples: string[];
}

export interface Bucket {
  name: string;
  description: string;
  documents: number;
}

export interface BucketDetail extends Bucket {
  fields: Field[];
  values: Record<string, [string, number][]>;
}

export interface DocumentSummary {
  doc_id: string;
  bucket: string;
  title: string;
  source_file: string;
  metadata: Record<string, string>;
  added: string | null;
}

export interface DocumentDetail extends DocumentSummary {
  media_type: string;
  characters: number;
  labels: string[];
  pages: { number: number; label: string | null; start: number; end: number }[];
}

export interface PageText {
  doc_id: string;
  start: number;
  end: number;
  text: string;
  page?: number;
  marks?: [number, number, number, number][];
}

export interface DocumentValue {
  field: string;
  status: string;
  value: unknown;
  shown: string;
  raw: string | null;
  start: number | null;
  end: number | null;
  page: number | null;
  method: string;
  confidence: number;
  reason: string | null;
  quote: string | null;
  against: string | null;
  by: string | null;
  at: string | null;
  note: string | null;
  instead_of: string | null;
}

export interface ReviewItem {
  doc_id: string;
  file: string;
  field: string;
  certainty: number;
  found: DocumentValue[];
}

export interface Ingested {
  documents: string[];
  new: number;
  changed: number;
  unchanged: number;
  skipped: string[];
  bad_values: string[];
  /** The fields that matter, in how many of the file's documents each was found, and in how many a person should look. */
  values: { field: string; found: number; review: number }[];
}

export interface WatchedFolder {
  bucket: string;
  folder: string;
  at: string | null;
  documents: number;
  new: number;
  changed: number;
  left_out: string[];
  problem: string;
}

export interface About {
  version: string;
  name: string;
  may_write: boolean;
  labels: string[] | null;
  key_asked: boolean;
  max_upload_mb: number;
  traced: boolean;
  watched: WatchedFolder[];
  models: { configured: boolean; default: string | null; steps: string[]; chosen: Record<string, string>; names: string[]; endpoints: string[] };
}

export interface Example {
  question: string;
  bucket: string;
  kind: "sum" | "list" | "value" | "groups";
  /** The only documents to ask it of; none: all. */
  documents: string[];
}

export interface Passage {
  id: string;
  start: number;
  end: number;
  page: number | null;
  heading: string;
  text: string;
  left_out: boolean;
  by: string | null;
  at: string | null;
}
