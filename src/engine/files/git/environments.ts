// The branch or tag of a remote for an environment, and the environments of its branches and tags.
import { matchesGlob } from '../../../base/util/fnmatch.ts';
import { matchesWhole } from '../../../base/util/pyregex.ts';
import type { RefType, RemoteConfig } from './config.ts';

/** The references of a repository after a fetch: names to commits. */
export interface Refs {
  readonly branches: ReadonlyMap<string, string>;
  readonly tags: ReadonlyMap<string, string>;
}

export const noRefs: Refs = { branches: new Map(), tags: new Map() };

export function isHex(text: string): boolean {
  return /^[0-9a-f]+$/i.test(text);
}

/** `gitfs_saltenv_whitelist` and `_blacklist`: globs or regular expressions. */
export function isExposed(remote: RemoteConfig, saltenv: string): boolean {
  const listed = (expressions: readonly string[]): boolean =>
    expressions.some((expression) => matchesGlob(saltenv, expression) || matchesWhole(saltenv, expression));
  if (remote.blacklist.length > 0 && listed(remote.blacklist)) return false;
  return remote.whitelist.length === 0 || listed(remote.whitelist);
}

/** The reference from which an environment is read; undefined when the remote does not serve it. */
export function refOf(remote: RemoteConfig, saltenv: string): string | undefined {
  if (remote.allEnvironments !== undefined) return remote.allEnvironments;
  if (saltenv === 'base') return remote.base;
  const mapped = remote.environments.get(saltenv)?.ref ?? remote.globalEnvironments.get(saltenv)?.ref;
  if (mapped !== undefined) return mapped;
  return remote.disableMapping ? undefined : saltenv;
}

export function rootOf(remote: RemoteConfig, saltenv: string): string {
  return remote.environments.get(saltenv)?.root ?? remote.globalEnvironments.get(saltenv)?.root ?? remote.root;
}

export function mountpointOf(remote: RemoteConfig, saltenv: string): string {
  const own = remote.environments.get(saltenv)?.mountpoint;
  return own ?? remote.globalEnvironments.get(saltenv)?.mountpoint ?? remote.mountpoint;
}

/** Every environment a remote offers. */
export function environmentsOf(remote: RemoteConfig, refs: Refs): Set<string> {
  const reverse = reverseMap(remote);
  const found = new Set<string>([...reverse.values()].flat());
  if (isHex(remote.base)) found.add('base');
  const add = (name: string): void => {
    const mapped = reverse.get(name);
    if (mapped) for (const saltenv of mapped) found.add(saltenv);
    else if (name === remote.base) found.add('base');
    else if (!remote.disableMapping) found.add(name);
  };
  if (remote.refTypes.includes('branch')) for (const name of refs.branches.keys()) add(name);
  if (remote.refTypes.includes('tag')) for (const name of refs.tags.keys()) add(name);
  return new Set([...found].filter((saltenv) => isExposed(remote, saltenv)));
}

/** Reference → environments that are mapped to it; a remote's own map overrides the global one. */
function reverseMap(remote: RemoteConfig): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const own = new Set([...remote.environments].filter(([, { ref }]) => ref !== undefined).map(([saltenv]) => saltenv));
  const add = (saltenv: string, ref: string | undefined): void => {
    if (ref !== undefined) found.set(ref, [...(found.get(ref) ?? []), saltenv]);
  };
  for (const [saltenv, { ref }] of remote.environments) add(saltenv, ref);
  for (const [saltenv, { ref }] of remote.globalEnvironments) if (!own.has(saltenv)) add(saltenv, ref);
  return found;
}

/** The commit of a branch or tag; a commit id has to be looked up in the repository. */
export function commitOf(refs: Refs, type: RefType, name: string): string | undefined {
  if (type === 'branch') return refs.branches.get(name);
  return type === 'tag' ? refs.tags.get(name) : undefined;
}
