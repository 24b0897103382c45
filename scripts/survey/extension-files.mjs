// Finds users' extension files in checked-out repositories: which kind each is of, and which lie together.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

/** Folder in a state tree → folder below `extension_modules`. */
const kinds = Object.fromEntries(
  'modules states grains runners wheel returners renderers utils beacons engines pillar output sdb proxy tops roster auth executors serializers wrapper'
    .split(' ')
    .map((name) => [`_${name}`, name]),
);
const skipped = /^(?:tests?|docs?|node_modules|\..*)$/;
const deepest = 12;

/**
 * The scenes of one repository: a folder with its `_modules`, `_states` and so on, as it would be synced. Collections that
 * hold `modules` and `states` without the underscore count when their files are written for Salt.
 */
export function scenesOf(repository) {
  const scenes = [];
  const visit = (folder, depth) => {
    const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const found = below
      .map(({ name }) => ({
        name,
        kind: kinds[name] ?? (kinds[`_${name}`] && isCollection(join(folder, name)) ? name : ''),
      }))
      .filter(({ kind }) => kind !== '')
      .map(({ name, kind }) => ({ kind, folder: join(folder, name), files: filesIn(join(folder, name)) }))
      .filter(({ files }) => files.length > 0);
    if (found.length > 0) scenes.push({ root: relative(repository, folder) || '.', kinds: found });
    for (const { name } of below) {
      if (!skipped.test(name) && !Object.hasOwn(kinds, name) && depth < deepest) visit(join(folder, name), depth + 1);
    }
  };
  visit(repository, 0);
  return scenes.map((scene) => ({ repository: basename(repository).replace('+', '/'), ...scene }));
}

/** Names of the files and packages that a loader would take. */
function filesIn(folder) {
  return readdirSync(folder)
    .sort()
    .filter((name) => !name.startsWith('_') && !name.startsWith('.'))
    .flatMap((name) => {
      const path = join(folder, name);
      if (!existsSync(path)) return [];
      if (name.endsWith('.py') && statSync(path).isFile()) return [{ stem: name.slice(0, -3), path }];
      return existsSync(join(path, '__init__.py')) ? [{ stem: name, path }] : [];
    });
}

const ofSalt = /^def __virtual__\(|\b__salt__\b|\b__opts__\b|\b__grains__\b/m;
const isCollection = (folder) =>
  filesIn(folder).some(({ path }) => path.endsWith('.py') && ofSalt.test(readFileSync(path, 'utf8')));
