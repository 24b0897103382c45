// Repositories of yum, dnf and zypper: files `*.repo` with one section for each.

import {
  cleanKwargs,
  commandError,
  fn,
  invocationError,
  newDict,
  type PlainDict,
  p,
  pyStr,
  textList,
  type Value,
} from 'halite/sdk';
import { existsSync, joinPath, readdirSync, readFileSync, rmSync, writeFileSync } from 'halite/sdk/fs';

interface RepoFile {
  readonly path: string;
  /** Lines before the first section. */
  readonly header: string;
  readonly repos: Map<string, PlainDict>;
}

function parseRepoFile(path: string, text: string): RepoFile {
  const repos = new Map<string, PlainDict>();
  let header = '';
  let current: PlainDict | undefined;
  let last = '';
  for (const line of text.split('\n')) {
    const section = /^\[([^\]]+)\]/.exec(line.trim())?.[1];
    if (section !== undefined) {
      current = newDict();
      repos.set(section, current);
    } else if (!current) header += line === '' ? '' : `${line}\n`;
    else if (/^\s*[#;]/.test(line)) {
      const comments = (current['comments'] as Value[] | undefined) ?? [];
      current['comments'] = [...comments, line.trim().replace(/^[#;]\s*/, '')];
    } else if (/^\s+\S/.test(line) && last !== '') current[last] = `${pyStr(current[last] ?? '')}\n${line.trim()}`;
    else {
      const [, key, value = ''] = /^([^=]+?)\s*=\s*(.*)$/.exec(line) ?? [];
      if (key === undefined) continue;
      last = key;
      current[key] = value.trim();
    }
  }
  return { path, header, repos };
}

function fileText({ header, repos }: RepoFile): string {
  const flag = (value: Value): string => (typeof value === 'boolean' ? (value ? '1' : '0') : pyStr(value));
  const sections = [...repos].map(([name, options]) => {
    const { comments, ...rest } = options;
    const notes = (Array.isArray(comments) ? comments : []).map((comment) => `# ${pyStr(comment)}\n`).join('');
    const settings = Object.entries(rest).map(([key, value]) => `${key}=${flag(value).replaceAll('\n', '\n ')}\n`);
    return `[${name}]\n${settings.join('')}${notes}`;
  });
  return header + sections.join('\n');
}

const folders = (given: Value, usual: readonly string[]): string[] =>
  given === null || given === '' ? usual.filter((folder) => existsSync(folder)) : textList(given);

function repoFiles(where: readonly string[]): RepoFile[] {
  return where.flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith('.repo'))
          .sort()
          .map((name) => parseRepoFile(joinPath(folder, name), readFileSync(joinPath(folder, name), 'utf8')))
      : [],
  );
}

const all = (where: readonly string[]): PlainDict =>
  newDict(
    repoFiles(where).flatMap(({ path, repos }) =>
      [...repos].map(([name, options]): [string, Value] => [
        name,
        newDict([...Object.entries(options), ['file', path]]),
      ]),
    ),
  );

function modify(repo: string, where: readonly string[], given: PlainDict): PlainDict {
  const options = cleanKwargs(given);
  for (const key of [
    'saltenv',
    'refresh',
    'refresh_db',
    'gpgautoimport',
    'cache',
    'file',
    'strict_config',
    'humanname',
    'key_url',
  ])
    delete options[key];
  if (options['baseurl'] && options['mirrorlist'])
    throw invocationError("Only one of 'mirrorlist' and 'baseurl' can be specified");
  const gone = Object.keys(options).filter((key) => options[key] !== 0 && options[key] !== false && !options[key]);
  for (const key of gone) delete options[key];
  if (options['mirrorlist']) gone.push('baseurl');
  if (options['baseurl']) gone.push('mirrorlist');
  if (gone.includes('name')) throw invocationError('The repo name cannot be deleted');
  let file = repoFiles(where).find(({ repos }) => repos.has(repo));
  if (!file) {
    const [folder] = where;
    if (folder === undefined)
      throw invocationError(
        'The repo does not exist and needs to be created, but none of the following basedir directories exist',
      );
    if (!options['name'])
      throw invocationError('The repo does not exist and needs to be created, but a name was not given');
    if (!options['baseurl'] && !options['mirrorlist'] && !options['metalink'])
      throw invocationError(
        'The repo does not exist and needs to be created, but either a baseurl or a mirrorlist needs to be given',
      );
    file = { path: joinPath(folder, `${repo}.repo`), header: '', repos: new Map([[repo, newDict()]]) };
  }
  const section = file.repos.get(repo) ?? newDict();
  for (const key of gone) delete section[key];
  for (const [key, value] of Object.entries(options))
    section[key] = typeof value === 'boolean' ? (value ? '1' : '0') : pyStr(value);
  file.repos.set(repo, section);
  writeFileSync(file.path, fileText(file));
  return newDict([[file.path, newDict([...file.repos])]]);
}

function remove(repo: string, where: readonly string[]): string {
  const file = repoFiles(where).find(({ repos }) => repos.has(repo));
  if (!file) throw commandError(`Error: the ${repo} repo does not exist in ${pyStr([...where])}`);
  file.repos.delete(repo);
  if (file.repos.size > 0) {
    writeFileSync(file.path, fileText(file));
    return `Repo ${repo} has been removed from ${file.path}`;
  }
  rmSync(file.path);
  return `File ${file.path} containing repo ${repo} has been removed`;
}

const basedir = p.strings({ default: null, split: ',', falsy: null, doc: 'folders with the files' });
const repoName = p.string({ doc: 'the repository' });
const kwargs = p.kwargs({ doc: 'settings of the repository' });

/** Functions of `pkg` for repositories in these folders. */
export const repoFunctions = (usual: readonly string[]) => ({
  list_repos: fn({
    doc: 'The repositories and their settings.',
    examples: ["salt '*' pkg.list_repos"],
    params: { basedir, kwargs },
    run: (args) => all(folders(args.basedir, usual)),
  }),
  get_repo: fn({
    doc: 'The settings of one repository; empty when there is none of that name.',
    examples: ["salt '*' pkg.get_repo myrepo"],
    params: { repo: repoName, basedir, kwargs },
    run: (args) => all(folders(args.basedir, usual))[args.repo] ?? newDict(),
  }),
  mod_repo: fn({
    doc: 'Makes or changes a repository; a setting that is empty is removed.',
    examples: ["salt '*' pkg.mod_repo myrepo name='My repository' baseurl=http://myurl.com gpgcheck=1"],
    params: { repo: repoName, basedir, kwargs },
    run: (args) => modify(args.repo, folders(args.basedir, usual), args.kwargs),
  }),
  del_repo: fn({
    doc: 'Removes a repository.',
    examples: ["salt '*' pkg.del_repo myrepo"],
    params: { repo: repoName, basedir, kwargs },
    run: (args) => remove(args.repo, folders(args.basedir, usual)),
  }),
});
