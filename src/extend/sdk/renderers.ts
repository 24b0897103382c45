// Renderers: the steps of a pipe that converts the text of an SLS file or template to data (`#!jinja|yaml`).
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

/** How a text is to be rendered; see `ctx.render`. */
export interface RenderRequest {
  /** Renderers to use unless the text begins with a line like `#!yaml`; the option `renderer` when not given. */
  readonly renderer?: string;
  /** Exactly these renderers, independent of the first line of the text: `jinja` for the templates of managed files. */
  readonly pipe?: string;
  /** Environment from which templates are imported; `base` when not given, '' for the folder of `path`. */
  readonly saltenv?: string;
  /**
   * The SLS that contains the text; it defines `tplfile`, `slspath` and so on. null: a text that belongs to no SLS and
   * has these names only when `context` has `sls`, as for files.
   */
  readonly sls?: string | null;
  /** The path of the text on this machine, for messages and for `tplpath`. */
  readonly path?: string;
  /** Variables of a template in addition to `salt`, `grains`, `pillar`, `opts`, `saltenv`; they take precedence. */
  readonly context?: PlainDict;
}

/** The context of one step of a pipe. */
export interface RendererContext {
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly saltenv: string;
  readonly sls: string;
  /** The file of the text; undefined for text from elsewhere. */
  readonly path: string | undefined;
  /** The arguments after the name in the pipe: `-s` in `#!jinja -s|yaml`. */
  readonly argline: string;
  /** Variables given by the caller, for templates. */
  readonly variables: Readonly<PlainDict>;
  /** Identifies the run for which the file is rendered: data that one file passes to later ones is attached to it. */
  readonly run: object | undefined;
  /** True for the first step of a pipe, whose text may begin with the `#!` line. */
  readonly first: boolean;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal | undefined;
  call(fun: string, ...args: Value[]): Promise<Value>;
  callWith(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Renders a Jinja template with the variables of this pipe. */
  jinja(source: string): Promise<string>;
  /** Another renderer on a text, with more variables for templates; undefined when there is none of that name. */
  renderWith(
    name: string,
    source: Value,
    more?: { readonly argline?: string; readonly variables?: PlainDict },
  ): Promise<Value | undefined>;
  /** Runs a text through a renderer of Python (`py`, `mako`, …); undefined where no Python can be run. */
  python?(renderer: string, source: string): Promise<Value>;
  /** A text that was encrypted in its source: it is masked in logs and error messages from now on. */
  keepSecret(text: string): void;
}

export interface RendererSpec {
  readonly name: string;
  readonly doc: string;
  /** Its input: `text`, or `any` for renderers that also process data (decryption). */
  readonly input: 'text' | 'any';
  /** Its output: `text` for the next renderer, `data`, or `same` as the input. */
  readonly output: 'text' | 'data' | 'same';
  /** true, or the reason why it is not usable. */
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

/** Where and how rendering failed, as far as known. */
export interface RenderPlace {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The surrounding lines, with the faulty one marked. */
  readonly excerpt?: string | undefined;
  /** Templates that lead there, outermost first: `file(line)`. */
  readonly stack?: readonly string[] | undefined;
}

/**
 * A source that cannot be rendered. The message is exactly Salt's text; the position is separate,
 * because Salt's own text often lacks it.
 */
export class RenderError extends HaliteError {
  /** Python's class: `SaltRenderError` for Salt's own errors, else the original exception. */
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

  /** The message with the position and the excerpt, for logs, unless the message already contains them. */
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

/** The argument of the function of a `#!js` or `#!ts` file. */
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

/** A chunk of SLS data: the same as in YAML, written as code. */
export type SlsData = { readonly [id: string]: unknown };

/** The default export of a `#!ts` file: `const build: SlsBuilder = ({ grains }) => ({ … }); export default build;` */
export type SlsBuilder = (scope: SlsScope) => SlsData | Promise<SlsData>;
