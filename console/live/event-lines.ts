// Server-sent events from a stream of text: the records that are complete, in order.
export interface ServerEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** A record longer than this is not one of ours. */
const largest = 4 * 1024 * 1024;

export class EventLines {
  #rest = '';

  push(text: string): readonly ServerEvent[] {
    this.#rest += text.replaceAll('\r', '');
    if (this.#rest.length > largest) throw new Error('a record of the live stream is too large');
    const found: ServerEvent[] = [];
    for (let end = this.#rest.indexOf('\n\n'); end >= 0; end = this.#rest.indexOf('\n\n')) {
      const event = readRecord(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end + 2);
      if (event) found.push(event);
    }
    return found;
  }
}

function readRecord(record: string): ServerEvent | undefined {
  let name = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of record.split('\n')) {
    const at = line.indexOf(':');
    if (at === 0) continue;
    const field = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'event') name = value;
    else if (field === 'id') id = value;
  }
  return data.length > 0 ? { name, id, data: data.join('\n') } : undefined;
}
