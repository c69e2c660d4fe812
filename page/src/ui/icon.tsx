import {
  ArrowDown, ArrowUp, BarChart3, Check, ChevronDown, ChevronLeft, ChevronRight, Circle, CircleAlert, CircleCheck, CircleHelp, CircleSlash, CircleX,
  Copy, CornerDownRight, Download, Ellipsis, FileText, Files, FolderUp, Languages, Library, LineChart, Link, ListFilter, Menu, MessageSquareText, Minus, Moon, PanelLeft,
  Pencil, Plus, Printer, RotateCcw, Search, Settings, Sigma, Square, SquarePen, StickyNote, Sun, Table2, ThumbsDown, ThumbsUp, Trash2, Undo2, Upload, X, ZoomIn, ZoomOut,
  type IconNode,
} from "lucide";
import { h } from "preact";

const ICONS = {
  down: ArrowDown, up: ArrowUp, bars: BarChart3, line: LineChart, check: Check, chevronDown: ChevronDown, left: ChevronLeft, right: ChevronRight, circle: Circle,
  alert: CircleAlert, ok: CircleCheck, help: CircleHelp, none: CircleSlash, wrong: CircleX, copy: Copy, moved: CornerDownRight, download: Download, more: Ellipsis,
  file: FileText, files: Files, folder: FolderUp, languages: Languages, library: Library, link: Link, filter: ListFilter, menu: Menu, thread: MessageSquareText, minus: Minus, note: StickyNote,
  moon: Moon, sun: Sun, panel: PanelLeft, pencil: Pencil, plus: Plus, printer: Printer, again: RotateCcw, search: Search, settings: Settings, sum: Sigma, stop: Square,
  fresh: SquarePen, table: Table2, thumbDown: ThumbsDown, thumbUp: ThumbsUp, trash: Trash2, undo: Undo2, upload: Upload, close: X, zoomIn: ZoomIn, zoomOut: ZoomOut,
} satisfies Record<string, IconNode>;

export type IconName = keyof typeof ICONS;

/** A picture beside words; what it means is said by the words, or by the label of what holds it. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" aria-hidden="true" width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round">
      {ICONS[name].map(([tag, attributes]) => h(tag, attributes as Record<string, string>))}
    </svg>
  );
}
