import type { Status, Verdict } from "../api/types";
import type { IconName } from "../ui/icon";

export const VERDICTS: Record<Verdict, { icon: IconName }> = {
  supported: { icon: "ok" },
  derived: { icon: "sum" },
  misattributed: { icon: "moved" },
  unsupported: { icon: "help" },
  contradicted: { icon: "wrong" },
};

export const STATUSES: Record<Status, { icon: IconName }> = {
  answered: { icon: "ok" },
  partial: { icon: "alert" },
  needs_clarification: { icon: "help" },
  unanswerable: { icon: "none" },
  failed: { icon: "wrong" },
};
