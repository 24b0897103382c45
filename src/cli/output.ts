// Prints results: which outputter, colours or not, terminal or file, and fallbacks when an outputter fails.
import { appendFileSync, existsSync, truncateSync } from 'node:fs';
import { isatty } from 'node:tty';
import { JsonText } from '../base/codec/json/json-text.ts';
import { asText, type Value } from '../base/codec/value.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import { rstrip } from '../base/util/pytext.ts';
import type { OutputOptions, Outputter } from '../extend/sdk/outputters.ts';
import { type Escapes, safeFor, type Terminal, terminal } from './io.ts';
import { loadOutputter } from './outputters.ts';

/** The options of the command and its configuration in one dict: `output`, `static`, `fun`, `state_output`, … */
export type OutputSettings = Readonly<Record<string, Value>>;

/**
 * The outputter that Salt would use: `--out` first, then the one that the function names. `--out=highstate` leaves the
 * choice to the function, because most results are not state results.
 */
export function chooseOutputter(asked: string | undefined, opts: OutputSettings): string {
  const output = asText(opts['output']) || undefined;
  let out = output !== undefined && output !== 'highstate' ? output : asked;
  if (!out && opts['static'] === true) {
    const fun = opts['fun'];
    if (output) out = output;
    else if (typeof fun === 'string' && fun.split('.')[0] === 'state') out = 'highstate';
  }
  return out === 'text' ? 'txt' : out || 'nested';
}

/** Colours: never for files and pipes unless forced; NO_COLOR is respected too. */
export function wantsColor(opts: OutputSettings, isTerminal: () => boolean = () => isatty(1)): boolean {
  if (opts['force_color'] === true) return true;
  if (opts['no_color'] === true || process.env['NO_COLOR'] || opts['output_file']) return false;
  return typeof opts['color'] === 'boolean' ? opts['color'] : isTerminal();
}

/** Our own colours, those of data when `strip_colors` is off, all control sequences when the operator requests it. */
function allowedEscapes(opts: OutputSettings, color: boolean): Escapes {
  if (opts['output_raw_escapes'] === true) return 'all';
  return color || opts['strip_colors'] === false ? 'colors' : 'none';
}

export class Display {
  readonly #opts: OutputSettings;
  readonly #io: Terminal;
  readonly #color: boolean;
  readonly #escapes: Escapes;
  readonly #loaded = new Map<string, Promise<Outputter>>();
  readonly #file: string | undefined;
  #theme: Promise<Value> | undefined;

  constructor(opts: OutputSettings, io: Terminal = terminal) {
    this.#opts = opts;
    this.#io = io;
    this.#color = wantsColor(opts);
    this.#escapes = allowedEscapes(opts, this.#color);
    const file = opts['output_file'];
    this.#file = asText(file) || undefined;
    if (this.#file !== undefined && opts['output_file_append'] !== true) this.#empty(this.#file);
  }

  /** The text of a value, without trailing white space; fallbacks are `nested`, then `raw`. */
  async format(data: Value, asked?: string, retcode = 0): Promise<string> {
    const options = await this.#options(retcode);
    for (const name of [chooseOutputter(asked, this.#opts), 'nested']) {
      const outputter = await this.#outputter(name);
      try {
        return rstrip(await outputter.render(data, options));
      } catch (error) {
        if (this.#opts['log_level'] === 'debug') {
          this.#io.err(`[DEBUG   ] outputter ${name} failed: ${messageOf(error)}\n`);
        }
      }
    }
    return rstrip(await (await this.#outputter('raw')).render(data, options));
  }

  async #options(retcode: number): Promise<OutputOptions> {
    const opts = this.#color && this.#opts['color_theme'] ? await this.#withTheme() : this.#opts;
    const indent = opts['output_indent'];
    return { color: this.#color, opts, retcode, ...(typeof indent === 'number' ? { indent } : {}) };
  }

  /** JSON text, when the outputter can print it without parsing. */
  async #formatText(text: JsonText, asked: string | undefined, retcode: number): Promise<Uint8Array | undefined> {
    const outputter = await this.#outputter(chooseOutputter(asked, this.#opts));
    return outputter.renderText?.(text, await this.#options(retcode));
  }

  /** Prints a value, or adds it to the file of --out-file. Nothing is printed for an empty text. */
  async show(data: Value | JsonText, asked?: string, retcode = 0): Promise<void> {
    const written = data instanceof JsonText ? await this.#formatText(data, asked, retcode) : undefined;
    this.print(written ?? (await this.format(data instanceof JsonText ? data.data() : data, asked, retcode)));
  }

  /** Text that belongs to the results, such as a heading. */
  print(text: string | Uint8Array): void {
    if (text.length === 0) return;
    for (const part of typeof text === 'string' ? [`${text}\n`] : [text, '\n']) {
      if (this.#file === undefined) this.#io.out(part, this.#escapes);
      else append(this.#file, safeFor(this.#escapes, part));
    }
  }

  async #outputter(name: string): Promise<Outputter> {
    let loading = this.#loaded.get(name);
    if (!loading) {
      loading = this.#load(name);
      this.#loaded.set(name, loading);
    }
    return loading;
  }

  async #load(name: string): Promise<Outputter> {
    const found = await loadOutputter(name, this.#opts, this.#io);
    if (found) return found;
    // Old minions still name the outputter `grains`, which is another name for nested.
    if (name !== 'grains') this.#io.err(`[ERROR   ] Invalid outputter ${name} specified, fall back to nested\n`);
    const nested = await loadOutputter('nested', {}, this.#io);
    if (!nested) throw new HaliteError('extension.unavailable', 'the outputter nested is missing');
    return nested;
  }

  /** The file keeps its owner and mode: it is emptied, not replaced. */
  #empty(file: string): void {
    try {
      if (existsSync(file)) truncateSync(file);
    } catch (error) {
      throw new HaliteError('cli.usage', `${file}: Access denied: ${messageOf(error)}`);
    }
  }

  async #withTheme(): Promise<OutputSettings> {
    this.#theme ??= readTheme(String(this.#opts['color_theme']), this.#io);
    return { ...this.#opts, __color_theme: await this.#theme };
  }
}

function append(file: string, part: string | Uint8Array): void {
  try {
    appendFileSync(file, part);
  } catch (error) {
    throw new HaliteError('call.failed', `The output could not be written to ${file}: ${messageOf(error)}`);
  }
}

/** A theme file maps colour names to terminal codes. */
async function readTheme(path: string, io: Terminal): Promise<Value> {
  const [{ readFile }, { loadYaml }] = await Promise.all([
    import('node:fs/promises'),
    import('../base/codec/yaml/load.ts'),
  ]);
  try {
    return loadYaml(await readFile(path, 'utf8'));
  } catch {
    io.err(`[WARNING ] Failed to read the color theme ${path}\n`);
    return null;
  }
}
