// Which surveyed repositories are completely supported, and what the others lack.

const kinds = ['states', 'modules'];

/** State modules, and execution modules of the same names, for Windows, macOS or BSD. */
const otherSystems = new Set([
  ...['certutil', 'chocolatey', 'dism', 'lgpo', 'macdefaults', 'macpackage', 'pkgng', 'ports', 'poudriere', 'reg'],
  ...['shortcut', 'sysrc', 'wua', 'wusa', 'xcode'],
]);
/** Names that other modules of Linux have too: `system` as a state is for Windows, `service.running` for proxies. */
const otherFunctions = new Set([
  ...['states:system.computer_desc', 'states:system.computer_name', 'states:system.hostname', 'states:system.reboot'],
  ...['states:system.join_domain', 'states:system.shutdown', 'modules:service.running'],
]);

/** Functions that no minion on Linux has, with Salt or with Halite. */
export function notOnLinux({ kind, name }) {
  const module = name.slice(0, name.indexOf('.'));
  return (
    otherSystems.has(module) ||
    otherFunctions.has(`${kind}:${name}`) ||
    /^(win|mac|freebsd|openbsd|netbsd|solaris|aix)_/.test(module)
  );
}

/** What each repository lacks, as `kind:name` in order. */
export function missingOf(repository, have) {
  return kinds.flatMap((kind) =>
    Object.keys(repository[kind])
      .filter((name) => !have[kind].has(name))
      .map((name) => ({ kind, name })),
  );
}

function share(repositories, kind, have) {
  let all = 0;
  let there = 0;
  for (const repository of repositories) {
    for (const [name, uses] of Object.entries(repository[kind])) {
      all += uses;
      if (have[kind].has(name)) there += uses;
    }
  }
  return { all, there };
}

/** Counts for one group of repositories. */
export function measureWhole(repositories, have) {
  const lacking = repositories.map((repository) => ({ repository, missing: missingOf(repository, have) }));
  const without = (test) => lacking.filter(({ missing }) => !missing.some(test)).length;
  const linux = lacking.filter(({ missing }) => missing.every(notOnLinux));
  return {
    lacking,
    repositories: repositories.length,
    states: without(({ kind }) => kind === 'states'),
    modules: without(({ kind }) => kind === 'modules'),
    both: without(() => true),
    linux: linux.length,
    plain: linux.filter(({ repository }) => !repository.python).length,
    plainAll: repositories.filter(({ python }) => !python).length,
    ownAll: repositories.filter(({ python }) => python).length,
    stateUses: share(repositories, 'states', have),
    moduleUses: share(repositories, 'modules', have),
  };
}

/** Missing functions, first those that alone complete most repositories. */
export function rankMissing(lacking) {
  const found = new Map();
  for (const { repository, missing } of lacking) {
    for (const { kind, name } of missing) {
      const row = found.get(`${kind}:${name}`) ?? { kind, name, repos: 0, uses: 0, completes: 0 };
      row.repos += 1;
      row.uses += repository[kind][name];
      if (missing.length === 1) row.completes += 1;
      found.set(`${kind}:${name}`, row);
    }
  }
  return [...found.values()].sort(
    (a, b) => b.completes - a.completes || b.repos - a.repos || b.uses - a.uses || (a.name < b.name ? -1 : 1),
  );
}

const percent = (part, whole) => (whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`);
const code = ({ kind, name }) => `\`${name}\`${kind === 'modules' ? ' (execution)' : ''}`;

function totals(groups) {
  return [
    '| | repositories | whole: state functions | whole: execution functions | whole: both | share | whole on Linux | share | of these without Python of their own | with it | share of state uses | of execution uses |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...groups.map(
      ([name, m]) =>
        `| ${name} | ${m.repositories} | ${m.states} | ${m.modules} | **${m.both}** | ${percent(m.both, m.repositories)} | ${m.linux} | ${percent(m.linux, m.repositories)} | ${m.plain} of ${m.plainAll} | ${m.linux - m.plain} of ${m.ownAll} | ${percent(m.stateUses.there, m.stateUses.all)} | ${percent(m.moduleUses.there, m.moduleUses.all)} |`,
    ),
  ];
}

/** How much was read, in one sentence. */
function extent(repositories) {
  const sum = (key) => repositories.reduce((total, one) => total + (one[key] ?? 0), 0);
  const kind = (name) => {
    const uses = repositories.flatMap((one) => Object.entries(one[name]));
    return {
      uses: uses.reduce((total, [, count]) => total + count, 0),
      distinct: new Set(uses.map(([fun]) => fun)).size,
    };
  };
  const [states, modules] = [kind('states'), kind('modules')];
  const chosen = repositories.filter(({ unresolved }) => unresolved > 0).length;
  return `Read: ${sum('sls')} SLS files with ${states.uses} declarations of ${states.distinct} state functions, and ${modules.uses} calls of ${modules.distinct} execution functions. ${sum('unresolved')} declarations in ${chosen} repositories have a name that Jinja chooses, and are not counted.`;
}

/** The chapter of the coverage page, from a survey and the functions that exist. */
export function wholeSection({ repositories, about }, have) {
  const used = repositories.filter(({ states }) => Object.keys(states).length > 0);
  const group = (kind) =>
    measureWhole(
      used.filter((one) => one.kind === kind),
      have,
    );
  const all = measureWhole(used, have);
  const ranked = rankMissing(all.lacking);
  const rows = (list) => list.map((row) => `| ${code(row)} | ${row.completes} | ${row.repos} | ${row.uses} |`);
  const head = [
    '| function | repositories it alone completes | repositories that use it | uses |',
    '|---|---:|---:|---:|',
  ];
  return [
    '## Whole repositories',
    '',
    ...about,
    '',
    extent(used),
    '',
    ...totals([
      ['all', all],
      ['formulas', group('formula')],
      ['trees', group('tree')],
    ]),
    '',
    '### Missing functions',
    '',
    ...head,
    ...rows(ranked.filter((row) => !notOnLinux(row))),
    '',
    'Only on Windows, macOS, BSD or for proxies; Salt on Linux does not have them either:',
    '',
    ...head,
    ...rows(ranked.filter(notOnLinux)),
    '',
    '### Repositories',
    '',
    '| repository | commit | kind | state functions | execution functions | Python | missing |',
    '|---|---|---|---:|---:|---|---|',
    ...all.lacking.map(
      ({ repository: r, missing }) =>
        `| ${r.name} | ${r.commit ? `\`${r.commit.slice(0, 12)}\`` : ''} | ${r.kind} | ${Object.keys(r.states).length} | ${Object.keys(r.modules).length} | ${r.python ? 'yes' : ''} | ${missing.map(code).join(', ') || 'nothing'} |`,
    ),
    '',
  ];
}
