// What the compiler needs from outside: files of the state tree, and somebody who renders them.
import type { PlainDict, Value } from '../../base/codec/value.ts';

/** An SLS file as it lies on this machine. */
export interface StateFile {
  /** Its address: `salt://web/init.sls`. */
  readonly source: string;
  /** Where it was put. */
  readonly dest: string;
}

/** The files of the state tree, as the minion's file client sees them. */
export interface StateFiles {
  /** Environments the file server knows. */
  envs(): Promise<readonly string[]>;
  /** Paths of every file in an environment. */
  fileList(saltenv: string): Promise<readonly string[]>;
  /** Brings a file here; undefined when there is none. */
  cacheFile(url: string, saltenv: string): Promise<string | undefined>;
}

export interface SlsRequest {
  readonly path: string;
  readonly saltenv: string;
  readonly sls: string;
  readonly context?: PlainDict;
}

/** Renders SLS files. Throws RenderError for what the author of the file can mend. */
export interface SlsRenderer {
  /** Data of a file; an empty dict for a file that is empty. */
  render(request: SlsRequest): Promise<Value>;
  /** Data of a text that is no file (`state.template_str`). */
  renderText(text: string): Promise<Value>;
}

/** Finds an SLS by name: `web.nginx` is `web/nginx.sls` or `web/nginx/init.sls`. */
export async function findState(files: StateFiles, sls: string, saltenv: string): Promise<StateFile | undefined> {
  const path = sls.replaceAll('.', '/');
  for (const source of [`salt://${path}.sls`, `salt://${path}/init.sls`]) {
    const dest = await files.cacheFile(source, saltenv);
    if (dest) return { source, dest };
  }
  return undefined;
}

/** Names of the SLS files among paths, sorted. */
export function slsNamesOf(paths: readonly string[]): string[] {
  const names = new Set<string>();
  for (const path of paths) {
    if (!path.endsWith('.sls')) continue;
    const end = path.endsWith('/init.sls') ? -9 : -4;
    names.add(path.replaceAll('/', '.').slice(0, end));
  }
  return [...names].sort();
}
