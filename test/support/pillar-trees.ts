// Random pillar trees: top files with every matcher, environments, includes and merging strategies.
import { Dice } from './fuzz.ts';

export interface PillarTreeCase {
  /** Files below the root, and options in which `<ROOT>` stands for it. */
  readonly files: Record<string, string>;
  readonly opts: Record<string, unknown>;
  readonly saltenv: string | undefined;
  readonly pillarenv: string | undefined;
  readonly override: Record<string, unknown> | undefined;
}

export const pillarGrains = {
  id: 'web1.example.com',
  os: 'Debian',
  roles: ['app', 'x'],
  ipv4: ['127.0.0.1', '192.168.1.1'],
  cfg: { deep: 'v' },
};

const fileOf: Readonly<Record<string, string>> = {
  a: 'a.sls',
  b: 'b.sls',
  c: 'c/init.sls',
  sub: 'sub/init.sls',
  'sub.one': 'sub/one.sls',
  'sub.two': 'sub/two/init.sls',
  web: 'web.sls',
  'web.app': 'web/app.sls',
  'deep.er.x': 'deep/er/x.sls',
  'role.web': 'role/web.sls',
  'role.db': 'role/db.sls',
  empty: 'empty.sls',
  bad: 'bad.sls',
  lst: 'lst.sls',
};
const names = [...Object.keys(fileOf), 'nothere'];

/** Target and matcher; without one it is a compound expression. */
const targets: readonly (readonly [string, string | undefined])[] =
  '*;web*;db*;os:Debian|grain;os:Red*|grain;os:De.*n|grain_pcre;web[0-9]\\..*|pcre;web1.example.com,x|list;a,b|list;G@os:Debian and web*|compound;G@os:Debian and not web*;E@web\\d or G@os:X;webs|nodegroup;N@webs and G@roles:app;nosuch|nodegroup;roles:app|grain;ext:x|pillar;I@ext:x or L@web1.example.com;ext:x|pillar_exact;192.168.0.0/16|ipcidr;10.0.0.0/8|ipcidr;web1.example.com|exact;web?.example.com|glob;S@192.168.1.1;cfg:deep:v|grain;*.example.com and ( G@os:Debian or G@os:X )'
    .split(';')
    .map((text) => {
      const [target = '', matcher] = text.split('|');
      return [target, matcher];
    });
const includable = [...names, ...'.one;.two;.app;.;..a;sub.*;*;role.*;role.w*;x.*;.*;sub/one;sub.[ot]*'.split(';')];
const scalars =
  "1;x;yes;~;0.5;'';[];{};'{{ grains.os }}';{{ saltenv }};{{ sls }};2.0;0644;{{ who | default('nobody') }};{{ opts.get('pillarenv') }};{{ salt['pillar.get']('k1', 'none') | json }};{{ pillar | json }};{{ tpldir }};{{ slspath }}|{{ slsdotpath }}".split(
    ';',
  );
const odd: Readonly<Record<string, readonly string[]>> = {
  empty: ['', '# c\n', '{}\n'],
  bad: ['a: {{ nope }}\n', '{% if %}\n', 'a: b: c\n', 'a: 1\na: 2\n', '\ta: 1\n'],
  lst: ['- 1\n- 2\n', 'text\n', '5\n', '~\n'],
};

class TreeMaker {
  readonly #dice: Dice;
  constructor(seed: number) {
    this.#dice = new Dice(seed);
  }

  #value(depth: number): string {
    const d = this.#dice;
    if (depth <= 0 || d.chance(0.4)) return d.pick(scalars);
    if (d.chance(0.5)) return `[${d.times(3, () => this.#value(depth - 1)).join(', ')}]`;
    const keys = ['k1', 'k2', 'k3', 'm', '1'].filter(() => d.chance(0.4));
    return `{${keys.map((key) => `${key}: ${this.#value(depth - 1)}`).join(', ')}}`;
  }

  #include(): string {
    const d = this.#dice;
    const name = `'${d.pick(includable)}'`;
    if (d.chance(0.5)) return `  - ${name}\n`;
    const key = d.chance(0.5) ? `      key: ${d.pick(['nest', 'nest:deep', 'k1', 'm:k1'])}\n` : '';
    const defaults =
      d.chance(0.6) || key === '' ? `      defaults:\n        who: ${d.pick(['me', '5', '{a: 1}'])}\n` : '';
    return `  - ${name}:\n${defaults}${key}`;
  }

  #sls(): string {
    const d = this.#dice;
    if (d.chance(0.04)) return `#!jinja|json\n{"j": ${d.below(5)}, "k1": {"j": [1]}}\n`;
    const includes = d.chance(0.35) ? `include:\n${this.#include()}${d.times(1, () => this.#include()).join('')}` : '';
    const keys = ['k1', 'k2', 'k3', 'm', 'nest', '7'].filter(() => d.chance(0.45));
    const list = d.chance(0.4) ? `list: [${d.times(3, () => this.#value(1)).join(', ')}]\n` : '';
    return `${includes}${keys.map((key) => `${key}: ${this.#value(2)}\n`).join('')}${list}`;
  }

  #entry(target: string, matcher: string | undefined): string {
    const d = this.#dice;
    const lines = [
      ...(matcher === undefined ? [] : [`match: ${matcher}`]),
      ...(d.chance(0.12) ? ['ignore_missing: True'] : []),
      ...(d.chance(0.15) ? [`order: ${d.pick(['1', '5', '-1', "'2'", '1.5'])}`] : []),
      `'${d.pick(names)}'`,
      ...d.times(2, () => `'${d.pick([...names, 'sub.*', 'role.*', '*.one', 'x*'])}'`),
    ];
    return `  '${target}':\n${lines.map((line) => `    - ${line}\n`).join('')}`;
  }

  #top(environments: readonly string[]): string {
    const d = this.#dice;
    const include = d.chance(0.08) ? `include:\n  - ${d.pick(['incltop', 'nothere'])}\n` : '';
    const bodies = environments.map((environment) => {
      if (!d.chance(0.75)) return '';
      const chosen = new Map<string, string | undefined>([d.pick(targets), ...d.times(3, () => d.pick(targets))]);
      return `${environment}:\n${[...chosen].map(([target, matcher]) => this.#entry(target, matcher)).join('')}`;
    });
    return include + bodies.join('');
  }

  #opts(roots: Record<string, string[]>): Record<string, unknown> {
    const d = this.#dice;
    const strategies = [undefined, 'smart', 'recurse', 'overwrite', 'aggregate', 'list', 'none', 'bogus'];
    const strategy = d.pick(strategies);
    const external = [{ cmd_yaml: "printf 'ext: x\\nk1: {e: [1]}\\nlist: [9]\\n'" }];
    return {
      pillar_roots: roots,
      nodegroups: { webs: 'web*', dbs: 'L@db1' },
      ext_pillar: d.chance(0.3) ? external : [],
      ...(strategy === undefined ? {} : { pillar_source_merging_strategy: strategy }),
      ...(d.chance(0.3) ? { pillar_merge_lists: true } : {}),
      ...(d.chance(0.25) ? { pillar_includes_override_sls: true } : {}),
      ...(d.chance(0.3) ? { ext_pillar_first: true } : {}),
      ...(d.chance(0.1) ? { pillarenv_from_saltenv: true } : {}),
    };
  }

  make(): PillarTreeCase {
    const d = this.#dice;
    const environments = ['base', ...(d.chance(0.5) ? ['dev'] : []), ...(d.chance(0.3) ? ['prod'] : [])];
    const files: Record<string, string> = {};
    const roots: Record<string, string[]> = {};
    for (const environment of environments) {
      roots[environment] = [environment, ...(d.chance(0.25) ? [`${environment}2`] : [])].map((dir) => `<ROOT>/${dir}`);
      for (const dir of [environment, `${environment}2`]) {
        if (d.chance(dir === environment ? 0.85 : 0.2)) files[`${dir}/top.sls`] = this.#top(environments);
        for (const [name, file] of Object.entries(fileOf)) {
          if (!d.chance(dir === environment ? 0.6 : 0.25)) continue;
          files[`${dir}/${file}`] = odd[name] === undefined ? this.#sls() : d.pick(odd[name]);
        }
      }
    }
    files['base/incltop.sls'] = this.#top(environments);
    files['any/qa/top.sls'] = "qa:\n  '*':\n    - a\n";
    files['any/qa/a.sls'] = 'any: {{ saltenv }}\n';
    if (d.chance(0.15)) roots['__env__'] = ['<ROOT>/any/__env__'];
    return {
      files,
      opts: this.#opts(roots),
      saltenv: d.pick([undefined, 'base', 'base', 'dev', 'qa']),
      pillarenv: d.pick([undefined, undefined, undefined, 'base', 'dev', 'qa']),
      override: d.chance(0.2) ? { k1: { o: 1 }, list: [5], k2: 'over' } : undefined,
    };
  }
}

export const pillarTree = (seed: number): PillarTreeCase => new TreeMaker(seed).make();
