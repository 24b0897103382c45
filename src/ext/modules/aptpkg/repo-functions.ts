// Functions of `pkg` for package sources.
import {
  cleanKwargs,
  commandError,
  dictGet,
  fn,
  isTrue,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  textList,
  type Value,
} from 'halite/sdk';
import {
  allSources,
  parseSource,
  type Source,
  sameSource,
  sourceDict,
  sourceLine,
  writeSource,
} from '../../shared/apt/repos.ts';
import { refreshDb } from './apt.ts';

/** `ppa:owner/name` is short for an address. */
function expandPpa(repo: string, ctx: ModuleContext): string {
  const match = /^ppa:([^/]+)\/(.+)$/.exec(repo);
  const os = dictGet(ctx.grains, 'os');
  if (!match || !['Ubuntu', 'Mint', 'neon'].includes(pyStr(os ?? ''))) return repo;
  const dist = pyStr(dictGet(ctx.grains, 'oscodename') ?? '');
  return `deb http://ppa.launchpad.net/${match[1]}/${match[2]}/ubuntu ${dist} main`;
}

function parse(repo: string, ctx: ModuleContext): Source {
  const source = parseSource(expandPpa(repo, ctx), '');
  if (!source)
    throw commandError(`Name ${repo} is not valid. This must be the complete repo entry as seen in the sources file`);
  return source;
}

const listOption = (value: Value | undefined): string[] | undefined =>
  value === undefined || value === null ? undefined : textList(value);

/** The desired source: the existing one, changed by the options. */
function wantedSource(source: Source, options: PlainDict): Source {
  return {
    ...source,
    type: options['type'] ? pyStr(options['type']) : source.type,
    uri: options['uri'] ? pyStr(options['uri']) : source.uri,
    dist: options['dist'] ? pyStr(options['dist']) : source.dist,
    comps: listOption(options['comps'] ?? options['components']) ?? source.comps,
    architectures: listOption(options['architectures']) ?? source.architectures,
    signedby: options['signedby'] ? pyStr(options['signedby']) : source.signedby,
    disabled:
      'disabled' in options
        ? isTrue(options['disabled'])
        : 'enabled' in options
          ? !isTrue(options['enabled'])
          : source.disabled,
  };
}

/** Comments follow the source on the same line. */
const commentOf = (value: Value): string => (Array.isArray(value) ? value : [value]).map(pyStr).join(' ').trim();

async function modRepo(repo: string, options: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const given = parse(repo, ctx);
  const asked = options['file'] ? pyStr(options['file']) : undefined;
  const changed = wantedSource(given, options);
  const present =
    sameSource(given, allSources(asked)) ??
    (changed.dist === given.dist ? undefined : sameSource(changed, allSources(asked)));
  const wanted = wantedSource(
    {
      ...(present ?? given),
      comps: given.comps,
      comment: 'comments' in options ? commentOf(options['comments'] as Value) : (present ?? given).comment,
      architectures: given.architectures.length > 0 ? given.architectures : (present?.architectures ?? []),
      signedby: given.signedby || (present?.signedby ?? ''),
      options: new Map([...(present?.options ?? []), ...given.options]),
    },
    options,
  );
  const file = present?.file ?? asked ?? '/etc/apt/sources.list';
  const line = sourceLine(wanted);
  if (present?.line !== line) writeSource(file, present?.line, line);
  if (isTrue(options['refresh'] ?? options['refresh_db'] ?? true)) await refreshDb(ctx);
  return newDict([[repo, sourceDict({ ...wanted, file, line })]]);
}

async function delRepo(repo: string, options: PlainDict, ctx: ModuleContext): Promise<string> {
  const given = parse(repo, ctx);
  const removed: string[] = [];
  for (;;) {
    const present = sameSource(given, allSources());
    if (!present || removed.includes(present.file)) break;
    const rest = given.comps.length > 0 ? present.comps.filter((component) => !given.comps.includes(component)) : [];
    writeSource(present.file, present.line, rest.length > 0 ? sourceLine({ ...present, comps: rest }) : undefined);
    removed.push(present.file);
  }
  if (removed.length === 0) throw commandError(`Repo ${repo} doesn't exist in the sources.list(s)`);
  if (isTrue(options['refresh'] ?? true)) await refreshDb(ctx);
  return removed.map((file) => `Repo '${repo}' has been removed from ${file}.\n`).join('');
}

const repo = p.string({ doc: 'the line that describes the source' });
const kwargs = p.kwargs();

export const repoFunctions = {
  list_repos: fn({
    doc: 'Package sources in one-line form, by address.',
    examples: ["salt '*' pkg.list_repos"],
    params: { kwargs },
    run() {
      const found = newDict();
      for (const source of allSources()) {
        const list = found[source.uri];
        if (Array.isArray(list)) list.push(sourceDict(source));
        else found[source.uri] = [sourceDict(source)];
      }
      return found;
    },
  }),
  get_repo: fn({
    doc: 'A package source, or an empty dictionary.',
    examples: [`salt '*' pkg.get_repo "deb http://mirror.example.org/debian bookworm main"`],
    params: { repo, kwargs },
    run(args, ctx) {
      const wanted = parseSource(expandPpa(args.repo, ctx), '');
      const found = wanted && sameSource(wanted, allSources());
      return found ? sourceDict(found) : newDict();
    },
  }),
  mod_repo: fn({
    doc: 'Adds or changes a package source.',
    examples: [`salt '*' pkg.mod_repo 'deb http://mirror.example.org/debian bookworm main' comps=main,contrib`],
    params: {
      repo,
      saltenv: p.string({ default: 'base' }),
      aptkey: p.bool({ default: true, doc: 'accepted; keys are not imported' }),
      kwargs: p.kwargs({ doc: 'architectures, comps, disabled, enabled, file, signedby, refresh' }),
    },
    run: (args, ctx) => modRepo(args.repo, cleanKwargs(args.kwargs), ctx),
  }),
  del_repo: fn({
    doc: 'Removes a package source.',
    examples: [`salt '*' pkg.del_repo "deb http://mirror.example.org/debian bookworm main"`],
    params: { repo, kwargs },
    run: (args, ctx) => delRepo(args.repo, cleanKwargs(args.kwargs), ctx),
  }),
};
