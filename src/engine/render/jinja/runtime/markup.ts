// Markup: text marked safe, a subtype of str; the result of `yaml`, `json`, `escape` and similar filters.
import { reprText } from './text.ts';
import { type HashKey, PyObject, type PyValue } from './value.ts';

export class Markup extends PyObject {
  readonly text: string;
  constructor(text: string) {
    super();
    this.text = text;
  }
  typeName(): string {
    return 'Markup';
  }
  override moduleName(): string {
    return 'markupsafe';
  }
  override repr(): string {
    return `Markup(${reprText(this.text)})`;
  }
  override str(): string {
    return this.text;
  }
  override truth(): boolean {
    return this.text !== '';
  }
  override equals(other: PyValue): boolean {
    return textOf(other) === this.text;
  }
  override hashKey(): HashKey {
    return this.text.charCodeAt(0) === 0 ? `\0${this.text}` : this.text;
  }
  override subscriptable(): boolean {
    return true;
  }
}

/** The text of a str or Markup, undefined for other types. */
export function textOf(value: PyValue): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof Markup ? value.text : undefined;
}

export function isText(value: PyValue): value is string | Markup {
  return typeof value === 'string' || value instanceof Markup;
}

const special: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&#39;', '"': '&#34;' };

/** HTML escaping as markupsafe does it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>'"]/g, (char) => special[char]!);
}
