import type { Example } from "../api/types";
import type { IconName } from "../ui/icon";

export const KINDS: Record<Example["kind"], IconName> = { sum: "sum", list: "table", value: "search", groups: "bars" };
