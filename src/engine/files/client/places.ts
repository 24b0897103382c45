// Paths of files in the minion's cache: Salt's own layout, so that each program finds what the other fetched.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { compareText } from '../../../base/codec/json/compare-text.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { isSaltUrl, parseSaltUrl } from '../../../base/util/salt-url.ts';
import { cleanRelative, isEnvironmentName, splitRequestPath } from '../paths.ts';
import { urlParts } from './url.ts';

const maxNameLength = 255;

export class CachePlaces {
  readonly #cachedir: string;

  constructor(cachedir: string) {
    this.#cachedir = cachedir;
  }

  /** `cachedir/files/<saltenv>/<path>`. A path that would leave the folder is refused. */
  file(path: string, saltenv: string): string {
    const rel = cleanRelative(splitRequestPath(path).path.replace(/^\/+/, ''));
    if (rel === undefined) throw refused(path);
    return join(this.files(saltenv), rel);
  }

  files(saltenv: string): string {
    if (!isEnvironmentName(saltenv)) throw refused(saltenv);
    return join(this.#cachedir, 'files', saltenv);
  }

  /** `cachedir/extrn_files/<saltenv>/<host>/<path>` for files from the web. */
  external(url: string, saltenv: string): string {
    const { netloc, path, query } = urlParts(url);
    let host = netloc.slice(netloc.lastIndexOf('@') + 1);
    if (/:\d+$/.test(host)) host = host.replaceAll(':', '');
    const name = query === '' ? path : `${path}-${query}`;
    const bare = name.replace(/^\/+/, '');
    const rel = bare === '' ? '' : cleanRelative(bare);
    if (rel === undefined || (host !== '' && cleanRelative(host) !== host) || !isEnvironmentName(saltenv)) {
      return 'Invalid path';
    }
    const short = name.length > maxNameLength ? createHash('sha256').update(name).digest('hex') : rel;
    return join(this.#cachedir, 'extrn_files', saltenv, host, short);
  }

  localFile(path: string): string {
    return join(this.#cachedir, 'localfiles', cleanRelative(path.replace(/^\/+/, '')) ?? '');
  }

  /** The path at which a fetch would store it. */
  expected(url: string, saltenv: string): string {
    const { scheme } = urlParts(url);
    if (scheme === '') return url;
    if (!isSaltUrl(url)) return this.external(url, saltenv);
    const { path, saltenv: own } = parseSaltUrl(url);
    return join(this.#cachedir, 'files', own ?? saltenv, path.replace(/^[|/]+/, ''));
  }

  /** Its current path; '' when it is not cached. An escaped path is returned escaped. */
  present(path: string, saltenv: string): string {
    const salt = parseSaltUrl(path);
    const name = salt.path.replace(/^[|/]+/, '');
    const prefix = salt.path.startsWith('|') ? '|' : '';
    const places = [
      join(this.#cachedir, 'files', salt.saltenv ?? saltenv, name),
      join(this.#cachedir, 'localfiles', name),
    ];
    for (const place of places) if (existsSync(place)) return prefix + place;
    const external = this.external(path, salt.saltenv ?? saltenv);
    return existsSync(external) ? external : '';
  }

  /** All files fetched from this environment or copied from this machine. */
  async all(saltenv: string): Promise<string[]> {
    const found = [...(await below(this.files(saltenv))), ...(await below(join(this.#cachedir, 'localfiles')))];
    return [...new Set(found)].sort(compareText);
  }
}

/** Salt lists the folder a file is in when there is no folder of that name. */
async function below(folder: string): Promise<string[]> {
  const found = await stat(folder).catch(() => undefined);
  const start = found?.isDirectory() ? folder : dirname(folder);
  const entries = await readdir(start, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}

function refused(path: string): HaliteError {
  return new HaliteError('path.refused', `The path ${JSON.stringify(path)} is not acceptable`);
}
