// The dependencies of the compiler: files of the state tree, and a renderer.
import type { PlainDict, Value } from '../../base/codec/value.ts';

/** An SLS file on this machine. */
export interface StateFile {
  /** Its URL: `salt://web/init.sls`. */
  readonly source: string;
  /** Its local path. */
  readonly dest: string;
}

/** The files of the state tree, as seen by the minion's file client. */
export interface StateFiles {
  /** Environments of the file server. */
  envs(): Promise<readonly string[]>;
  /** Paths of every file in an environment. */
  fileList(saltenv: string): Promise<readonly string[]>;
  /** Fetches a file; undefined when there is none. */
  cacheFile(url: string, saltenv: string): Promise<string | undefined>;
}

export interface SlsRequest {
  readonly path: string;
  readonly saltenv: string;
  readonly sls: string;
  readonly context?: PlainDict;
}

/** Renders SLS files. Throws RenderError for errors that the author of the file can fix. */
export interface SlsRenderer {
  /** Data of a file; an empty dict for a file that is empty. */
  render(request: SlsRequest): Promise<Value>;
  /** Data of a text that is not a file (`state.template_str`). */
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
