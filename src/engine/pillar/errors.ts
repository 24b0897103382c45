// The errors of a compilation: what minions see, and what is logged.
import { messageOf } from '../../base/errors/index.ts';
import { secretMask } from '../../base/log/redact.ts';
import { type ExtensionLog, RenderError } from '../../extend/sdk/index.ts';

/** Shorter texts occur everywhere; masking them would make logs unreadable. */
const shortestSecret = 4;

export class PillarErrors {
  readonly list: string[] = [];
  readonly #log: ExtensionLog;
  readonly #secrets = new Set<string>();

  constructor(log: ExtensionLog) {
    this.#log = log;
  }

  /** Masks this text from now on. Each line is masked separately too, because excerpts show lines. */
  keepSecret(text: string): void {
    for (const part of [text, ...text.split('\n')]) {
      const trimmed = part.trim();
      if (trimmed.length >= shortestSecret) this.#secrets.add(trimmed);
    }
  }

  mask(text: string): string {
    let masked = text;
    for (const secret of this.#secrets) masked = masked.replaceAll(secret, secretMask);
    return masked;
  }

  add(text: string): void {
    this.list.push(this.mask(text));
  }

  /** Reports `shown` to the minion, and all details to the log. */
  thrown(shown: string, what: string, error: unknown): void {
    this.logOnly(what, error);
    this.add(shown);
  }

  logOnly(what: string, error: unknown): void {
    const full = error instanceof RenderError ? error.located : messageOf(error);
    this.#log.error(this.mask(`${what}:\n${full}`));
  }

  /** A log that masks as well, for everything that runs inside the compilation. */
  maskedLog(): ExtensionLog {
    const log = this.#log;
    return {
      debug: (text, fields) => log.debug(this.mask(text), this.#maskFields(fields)),
      info: (text, fields) => log.info(this.mask(text), this.#maskFields(fields)),
      warn: (text, fields) => log.warn(this.mask(text), this.#maskFields(fields)),
      error: (text, fields) => log.error(this.mask(text), this.#maskFields(fields)),
    };
  }

  #maskFields(fields: Readonly<Record<string, unknown>> | undefined): Readonly<Record<string, unknown>> {
    if (!fields || this.#secrets.size === 0) return fields ?? {};
    return Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? this.mask(value) : value]),
    );
  }
}
