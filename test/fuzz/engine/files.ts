// Corpora and regressions: one file for each target, bytes as latin1 text so that they can be read.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

export interface Regression {
  /** What was wrong. */
  readonly was: string;
  readonly input: string;
}

export const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
export const toBytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

function readJson<T>(path: string): T[] {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T[]) : [];
}

/** `folder` is `test/fuzz`. */
export const readCorpus = (folder: string, target: string): Uint8Array[] =>
  readJson<string>(`${folder}/corpus/${target}.json`).map(toBytes);

export const readRegressions = (folder: string, target: string): Regression[] =>
  readJson<Regression>(`${folder}/regressions/${target}.json`);

/** Everything but plain ASCII is escaped: no editor and no terminal changes it. */
export function writeCorpus(folder: string, target: string, inputs: readonly Uint8Array[]): void {
  const lines = inputs.map((input) => `  ${asciiJson(toText(input))}`);
  writeFileSync(`${folder}/corpus/${target}.json`, lines.length > 0 ? `[\n${lines.join(',\n')}\n]\n` : '[]\n');
}

export const asciiJson = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\u00ff]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
