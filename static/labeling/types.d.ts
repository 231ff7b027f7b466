/** What pages, their parts and the server hand to each other. Declarations only: never sent. */

import type { Autosave } from "./autosave.js";
import type { LabelForm } from "./form.js";
import type { LabelList } from "./labels.js";
import type { MessageList } from "./messages.js";
import type { Problems } from "./problems.js";
import type { Saving } from "./saving.js";
import type { Status } from "./status.js";
import type { Store } from "./store.js";

/** The parts of a workspace, and what they call; each names those that it gets. */
export interface Parts {
  annotation: Annotation;
  view: View;
  store: Store;
  status: Status;
  messages: MessageList;
  labels: LabelList;
  problems: Problems;
  saving: Saving;
  autosave: Autosave;
  /** Names the key of an action. */
  keyOf(action: string): string;
  /** Says what is wrong with "nothing here", next to it. */
  sayAtEmpty(text: string): void;
  /** Shows what the server says of the wording. */
  showHints(hints: Hint[]): void;
  /** Marks what the server refused. */
  showProblems(problems: Problem[]): string[];
  /** Shows the next conversation. */
  goOn(): unknown;
  /** Is aborted when another conversation takes the place of this one. */
  signal: AbortSignal;
}

/** One offer of a field; a number, or a type of event of a project, has no title. */
export interface Choice {
  value: string | number;
  title?: string;
  help?: string;
}

/** One field of a label, as `form_fields` in labeling/schema/forms.py describes it. */
export interface Field {
  name: string;
  label: string;
  help: string;
  widget:
    | "text"
    | "textarea"
    | "choice"
    | "lines"
    | "messages"
    | "confidence"
    | "references"
    | "span"
    | "phases"
    | "arguments";
  choices: Choice[];
  required: boolean;
  at_least: number;
  of: string[];
  many: boolean;
  within: "message" | "field" | "";
  fields: Field[];
  roles: Record<string, string[]>;
}

/** One layer of labels, as `form_layers` describes it. */
export interface Layer {
  name: string;
  title: string;
  key: string;
  prefix: string;
  stores_id: boolean;
  heading: string;
  badges: string[];
  needs: string[];
  fields: Field[];
}

/** Words of a text. Offsets count code points, `end` is exclusive; `message` is the place of the message. */
export interface Span {
  message?: number;
  start: number;
  end: number;
  text: string;
}

/** One label: its fields by name, and who it is. */
export interface Label {
  uid: string;
  id?: string;
  origin?: "accepted" | "edited";
  suggestion?: SuggestionSource;
  [field: string]: any;
}

export interface SuggestionSource {
  id: number;
  uid: string;
}

/** The labels of an answer, by the key of their layer. */
export type Payload = Record<string, Label[]>;

export interface Said {
  /** Nothing is here at all. */
  empty?: boolean;
  /** Layers that are not answered; null in answers from before layers were asked one by one. */
  unanswered?: string[] | null;
}

export interface Work extends Said {
  payload: Payload;
  empty: boolean;
  nothing?: string[];
  active_seconds?: number;
}

/** The answer that a workspace starts from, and where it sends what becomes of it. */
export interface Annotation extends Work {
  assignment: number;
  conversation: string;
  user: number;
  status: string;
  version: number;
  saved_at: string;
  skip_reason: string;
  locked: string;
  active_seconds: number;
  read_only: boolean;
  /** Whether saves are answered with notes on the wording. */
  hints: boolean;
  suggestions: { state: "off" | "waiting" | "shown" };
  urls: {
    save: string;
    submit: string;
    skip: string;
    restore: string;
    revisions: string;
    suggestions: string;
    first_pass: string;
    reopen: string;
    workspace: string;
    queue: string;
  };
}

/** A note on the wording of a field, as HintOut in labeling/work/api/annotations.py describes it. */
export interface Hint {
  uid: string;
  field: string;
  kind: string;
  text: string;
}

/** One thing that the server found wrong: "requirements.2.title". */
export interface Problem {
  path: string;
  message: string;
}

/** What a part may know of the page and ask of it; the workspace and the desk each are one. */
export interface Hand {
  readonly layer: Layer;
  readonly openUid: string | null;
  readonly form: LabelForm | null;
  readonly readOnly: boolean;
}

/** The same of the workspace, where labels are opened and layers changed. */
export interface View extends Hand {
  readonly layers: Layer[];
  readonly currentUid: string | null;
  readonly inLayer: Label[];
  open(uid: string, options?: { focus?: boolean; reveal?: boolean }): void;
  showLayer(layer: Layer): void;
  render(): void;
  /** A change after which a label is opened, which draws the page. */
  drawnOnce<T>(change: () => T): T;
}

/** Says something: for a moment, or until it is dismissed. */
export interface Speaker {
  say(text: string): void;
}

/** What a label's form asks of the page. */
export interface FormHandlers {
  edit(field: string, value: any): void;
  endEdit(): void;
  unlink(index: number): void;
  quote(index: number): string;
  labelsOf(layers: string[]): Offer[];
  labelOf(uid: string): Label | undefined;
  askWords(within: "message" | "field", put: (span: Span) => void): void;
  /** Whether there is room for notes on the wording. */
  hasHints?: boolean;
  /** Another phase is the one that messages are linked to. */
  target(): void;
}

/** What one control asks of its form. */
export interface WidgetHandlers extends Omit<FormHandlers, "edit" | "endEdit" | "unlink" | "target" | "hasHints"> {
  onEdit(value: any): void;
  onEnd(): void;
  onUnlink(index: number): void;
  onTarget(): void;
  /** The field of the label that says which other label it is about. */
  referenceField?: string;
}

/** A label that another one may point to. */
export interface Offer {
  uid: string;
  name: string;
  heading: string;
}

export interface MessageHandlers {
  link(index: number): void;
  point(index: number | null): void;
  openLabel(uid: string): void;
}

export interface LabelHandlers {
  open(uid: string): void;
  close(): void;
  remove(uid: string): void;
  point(uid: string | null): void;
  current(uid: string): void;
  form: FormHandlers;
}

/** What names the labels that others point to. */
export interface Namer {
  name(uid: string): string;
  heading(uid: string): string;
}

/** What fills a side panel. */
export interface PanelContent {
  /** Runs each time the panel is shown. */
  open(): void;
}

/** One row of the table of keys. */
export interface KeyRow {
  action: string;
  key: string;
  label: string;
  group: string;
  typing?: boolean;
}

/** What a key does; false means that it is not meant for this. */
export type Actions = Record<string, (key: string) => unknown>;

/** One version of a label, in a column of its own. */
export interface Side {
  letter?: string;
  annotator?: string;
  title?: string;
  label: Label | null;
  perhaps?: Label | null;
}

/** What annotators meant alike. `chosen` is a label, null (left out) or undefined (not decided). */
export interface Cluster {
  how: "unanimous" | "majority" | "single" | "disputed" | "answer" | "added";
  label: Label;
  sides: Side[];
  others?: Side[];
  differs: string[];
  apart?: string[];
  fields?: Record<string, string[]>;
  tied?: string[];
  settled?: Record<string, any>;
  layer: Layer;
  chosen?: Label | null;
}

export interface ClusterHandlers {
  readOnly: boolean;
  rejectKey: string;
  store(): Namer;
  show(): void;
  choose(label: Label | null): void;
  edit(): void;
  settle(field: string, value: any): void;
  form: FormHandlers;
}
