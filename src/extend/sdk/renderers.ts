// Renderers: the steps of a pipe that turns the text of an SLS file or template into data (`#!jinja|yaml`).
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

/** How a text is to be rendered; see `ctx.render`. */
export interface RenderRequest {
  /** Renderers to use unless the text begins with a line like `#!yaml`; the option `renderer` when not given. */
  readonly renderer?: string;
  /** Exactly these renderers, whatever the text begins with: `jinja` for the templates of managed files. */
  readonly pipe?: string;
  /** Environment that imported templates come from; `base` when not given, '' for the folder of `path`. */
  readonly saltenv?: string;
  /**
   * The SLS the text belongs to; with it come `tplfile`, `slspath` and the like. null: a text that belongs to none and
   * has these names only when `context` has `sls`, as files have.
   */
  readonly sls?: string | null;
  /** Where the text lies on this machine, for messages and for `tplpath`. */
  readonly path?: string;
  /** Names a template sees besides `salt`, `grains`, `pillar`, `opts`, `saltenv`; they win over those. */
  readonly context?: PlainDict;
}

/** What one step of a pipe sees. */
export interface RendererContext {
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly saltenv: string;
  readonly sls: string;
  /** The file the text came from; undefined for text from elsewhere. */
  readonly path: string | undefined;
  /** What stands behind the name in the pipe: `-s` in `#!jinja -s|yaml`. */
  readonly argline: string;
  /** Names given by the caller, for templates. */
  readonly variables: Readonly<PlainDict>;
  /** Stands for the run the file is rendered for: what one file leaves for those after it hangs on it. */
  readonly run: object | undefined;
  /** True for the first step of a pipe, whose text may begin with the `#!` line. */
  readonly first: boolean;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal | undefined;
  call(fun: string, ...args: Value[]): Promise<Value>;
  callWith(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Renders a Jinja template with the names of this pipe. */
  jinja(source: string): Promise<string>;
  /** Another renderer on a text, with more names for templates; undefined when there is none of that name. */
  renderWith(
    name: string,
    source: Value,
    more?: { readonly argline?: string; readonly variables?: PlainDict },
  ): Promise<Value | undefined>;
  /** A text that was encrypted in its source: it is masked in logs and error messages from now on. */
  keepSecret(text: string): void;
}

export interface RendererSpec {
  readonly name: string;
  readonly doc: string;
  /** What it takes: `text`, or `any` for renderers that also go through data (decryption). */
  readonly input: 'text' | 'any';
  /** What it gives: `text` for the next renderer, `data`, or `same` as it was given. */
  readonly output: 'text' | 'data' | 'same';
  /** true, or the reason why not. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  render(source: Value, ctx: RendererContext): Value | Promise<Value>;
}
export interface Renderer extends RendererSpec {
  readonly kind: 'renderers';
}
const rendererKeys: KnownKeys<RendererSpec> = {
  ...{ name: true, doc: true, input: true, output: true },
  ...{ available: true, render: true },
};

export const defineRenderer = (spec: RendererSpec): Renderer => ({
  kind: 'renderers',
  ...withKnownKeys('defineRenderer()', spec, rendererKeys),
});

/** Where and how rendering failed, as far as it is known. */
export interface RenderPlace {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The lines around, the guilty one marked. */
  readonly excerpt?: string | undefined;
  /** Templates on the way there, outermost first: `file(line)`. */
  readonly stack?: readonly string[] | undefined;
}

/**
 * A source that cannot be rendered. The message is the text Salt shows for it, word for word; the place is beside it,
 * since Salt's own text often lacks it.
 */
export class RenderError extends HaliteError {
  /** Python's class: `SaltRenderError` for what Salt words itself, else the one that would come through. */
  readonly pyType: string;
  readonly place: RenderPlace;

  constructor(
    message: string,
    place: RenderPlace = {},
    extras: { pyType?: string; hint?: string; cause?: unknown } = {},
  ) {
    const { pyType = 'SaltRenderError', ...rest } = extras;
    super('render.failed', message, { ...rest, details: { ...place } });
    this.name = 'RenderError';
    this.pyType = pyType;
    this.place = place;
  }

  /** The message with the place and the excerpt, for logs, unless the message has them already. */
  get located(): string {
    const { file, line, column, excerpt, stack } = this.place;
    const parts = [this.message];
    const where = [
      file,
      line === undefined ? undefined : `line ${line}`,
      column === undefined ? undefined : `column ${column}`,
    ];
    const known = where.filter((part) => part !== undefined);
    if (known.length > 0) parts.push(`in ${known.join(', ')}`);
    if (stack !== undefined && stack.length > 1) parts.push(`by way of ${stack.join(' > ')}`);
    if (excerpt && !this.message.includes(excerpt)) parts.push(excerpt);
    return parts.join('\n');
  }
}

/** What the function of a `#!js` or `#!ts` file is given. */
export interface SlsScope {
  /** Calls an execution function: `await salt('pkg.version', 'nginx')`; named arguments as last one: `{ kwargs: { … } }`. */
  readonly salt: (fun: string, ...args: Value[]) => Promise<Value>;
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly opts: Readonly<Record<string, Value>>;
  readonly saltenv: string;
  readonly sls: string;
  readonly log: ExtensionLog;
  readonly [name: string]: unknown;
}

/** A chunk of SLS data: what YAML could say, written as code. */
export type SlsData = { readonly [id: string]: unknown };

/** The default export of a `#!ts` file: `const build: SlsBuilder = ({ grains }) => ({ … }); export default build;` */
export type SlsBuilder = (scope: SlsScope) => SlsData | Promise<SlsData>;
