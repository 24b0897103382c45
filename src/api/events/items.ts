// What a stream of events from the master consists of.
import { dictField, numberField, textField } from '../../base/codec/fields.ts';
import { asPlainDict, type Dict, newDict, type Value } from '../../base/codec/value.ts';
import { type Problem, problem } from '../../protocol/wire/messages/fields.ts';

/** One event for all streams that deliver it. */
export class StreamEvent {
  readonly type = 'event';
  readonly id: string;
  readonly tag: string;
  readonly data: Dict;
  #forms: Map<string, Buffer> | undefined;

  constructor(id: string, tag: string, data: Dict) {
    this.id = id;
    this.tag = tag;
    this.data = data;
  }

  /** Its bytes in a form, which are made once, however many streams send them. */
  form(name: string, make: (event: StreamEvent) => string | Uint8Array): Buffer {
    this.#forms ??= new Map();
    const known = this.#forms.get(name);
    if (known) return known;
    const made = Buffer.from(make(this) as string);
    this.#forms.set(name, made);
    return made;
  }
}

export type StreamItem =
  /** The stream has begun; `id` is the latest event that it does not deliver. */
  | { readonly type: 'start'; readonly id: string }
  | StreamEvent
  /** Events were lost: how many, if that is known. */
  | { readonly type: 'gap'; readonly id: string; readonly missed: number | undefined };

export type StreamGap = Extract<StreamItem, { type: 'gap' }>;

export function readItem(value: Value): StreamItem | Problem {
  const item = asPlainDict(value) ?? newDict();
  const id = textField(item, 'id') ?? '';
  switch (item['type']) {
    case 'start':
      return { type: 'start', id };
    case 'gap':
      return { type: 'gap', id, missed: numberField(item, 'missed') };
    case 'event': {
      const data = dictField(item, 'data');
      return data ? new StreamEvent(id, textField(item, 'tag') ?? '', data) : problem('an event without data');
    }
    default:
      return problem('an item of a stream with an unknown kind');
  }
}

/** Whether the id is that of the event `than`, or of a later one of the same run of the master. */
export function isAtLeast(id: string, than: string): boolean {
  const [own, other] = [id.split('-'), than.split('-')];
  return own.length === 2 && own[0] === other[0] && Number(own[1]) >= Number(other[1]);
}
