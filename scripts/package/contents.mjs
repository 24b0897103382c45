// What the packages contain, whatever their format. halite-runtime has everything that runs and stands beside Salt's
// packages; halite-common has the commands under Salt's names; halite-master and halite-minion have the services.
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../setup.mjs';
import { run } from './run.mjs';
import { commandNames, stageDocs, stageManuals, writeCommand } from './stage.mjs';

const packaging = join(root, 'packaging');
const units = 'usr/lib/systemd/system';
const manuals = 'usr/share/man/man1';
const completions = {
  bash: 'usr/share/bash-completion/completions/salt',
  zsh: 'usr/share/zsh/vendor-completions/_halite',
  fish: 'usr/share/fish/vendor_completions.d/salt.fish',
};
const services = {
  'halite-master': {
    ...{ conf: 'master', services: ['salt-master', 'salt-api', 'salt-syndic'] },
    ...{ replaces: ['salt-master', 'salt-api', 'salt-syndic'], about: 'configuration management: the master' },
    ...{ roles: 'master', logs: 'master api syndic key ssh' },
  },
  'halite-minion': {
    ...{ conf: 'minion', services: ['salt-minion'], templates: ['salt-proxy@'] },
    ...{ replaces: ['salt-minion', 'salt-proxy'], about: 'configuration management: the minion' },
    ...{ roles: 'minion proxy', logs: 'minion proxy' },
  },
};

function put(from, to, mode = 0o644) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

function write(to, text, mode = 0o644) {
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, text);
  chmodSync(to, mode);
}

/** The body of a maintainer's script; the format adds what says when it runs. */
const body = (name, words = {}) =>
  readFileSync(join(packaging, 'scripts', name), 'utf8').replace(/@(\w+)@/g, (_, key) => words[key]);

function runtime(tree, app) {
  mkdirSync(join(tree, 'usr/lib'), { recursive: true });
  run('cp', ['-a', app, join(tree, 'usr/lib/halite')]);
  mkdirSync(join(tree, 'usr/lib/halite/commands'));
  for (const name of commandNames) writeCommand(join(tree, 'usr/lib/halite/commands', name), name, '/usr/lib/halite');
  mkdirSync(join(tree, 'usr/bin'), { recursive: true });
  symlinkSync('../lib/halite/commands/halite', join(tree, 'usr/bin/halite'));
  stageManuals(join(tree, manuals), (name) => name === 'halite');
  stageDocs(join(tree, 'usr/share/doc/halite'));
  for (const name of ['master', 'minion'])
    put(join(packaging, 'config', name), join(tree, 'usr/share/halite/config', name));
  put(join(packaging, 'bootstrap.sh'), join(tree, 'usr/share/halite/bootstrap.sh'), 0o755);
  return {
    depends: { deb: ['libc6 (>= 2.28)', 'libstdc++6', 'ca-certificates'], rpm: runtimeNeeds },
    replaces: [],
    about: 'configuration management: programs and libraries',
    scripts: { installed: body('runtime.installed'), removing: body('runtime.removing') },
    conffiles: [],
  };
}

const runtimeNeeds = ['libc.so.6(GLIBC_2.28)(64bit)', 'libstdc++.so.6()(64bit)', 'ca-certificates', '/bin/sh'];

function common(tree) {
  mkdirSync(join(tree, 'usr/bin'), { recursive: true });
  for (const name of commandNames.filter((name) => name !== 'halite'))
    symlinkSync(`../lib/halite/commands/${name}`, join(tree, 'usr/bin', name));
  stageManuals(join(tree, manuals), (name) => name !== 'halite');
  for (const [shell, place] of Object.entries(completions))
    write(join(tree, place), run(process.execPath, [join(root, 'bin/halite'), 'completion', shell]));
  // bash looks for a file with the name of the command.
  for (const name of commandNames.filter((name) => name !== 'salt'))
    put(join(tree, completions.bash), join(tree, dirname(completions.bash), name));
  put(join(packaging, 'config/logrotate'), join(tree, 'etc/logrotate.d/halite'));
  return {
    depends: {
      deb: ['halite-runtime (= @version@)', 'passwd'],
      rpm: ['halite-runtime = @version@', '/usr/sbin/useradd'],
    },
    replaces: ['salt-common', 'salt-ssh', 'salt-cloud'],
    about: "configuration management: the commands under Salt's names",
    scripts: { installed: body('common.installed') },
    conffiles: ['/etc/logrotate.d/halite'],
  };
}

function daemon(tree, name) {
  const { conf, replaces, about, roles, logs, ...parts } = services[name];
  const templates = (parts.templates ?? []).filter((unit) => commandNames.includes(unit.replace('@', '')));
  for (const unit of [...parts.services, ...templates])
    put(join(packaging, 'systemd', `${unit}.service`), join(tree, units, `${unit}.service`));
  const script = readFileSync(join(packaging, 'init.d/daemon'), 'utf8');
  for (const unit of parts.services) {
    const words = { unit, UNIT: unit.replace('-', '_').toUpperCase(), about: descriptionOf(unit) };
    const text = script.replace(/@(\w+)@/g, (_, key) => words[key]);
    write(join(tree, 'usr/share/halite/init.d', unit), text, 0o755);
  }
  const instances = templates.map((unit) => `'${unit}*.service'`);
  const words = {
    ...{ conf, roles, logs, unit: parts.services[0], initscripts: parts.services.join(' ') },
    allunits: [...parts.services.map((unit) => `${unit}.service`), ...instances].join(' '),
  };
  return {
    ...{ replaces, about, conffiles: [] },
    depends: { deb: ['halite-common (= @version@)'], rpm: ['halite-common = @version@'] },
    scripts: {
      ...Object.fromEntries(
        ['installed', 'removing', 'removed', 'purged'].map((step) => [step, body(`daemon.${step}`, words)]),
      ),
      services: true,
    },
  };
}

const descriptionOf = (unit) =>
  /^Description=(.*)$/m.exec(readFileSync(join(packaging, 'systemd', `${unit}.service`), 'utf8'))?.[1];

const makers = { 'halite-runtime': runtime, 'halite-common': common, 'halite-master': daemon, 'halite-minion': daemon };

/** Calls back with the description and the folder of each package. */
export function eachPackage(app, use) {
  for (const [name, make] of Object.entries(makers)) {
    const scratch = mkdtempSync(join(tmpdir(), 'halite-tree-'));
    try {
      const tree = join(scratch, 'tree');
      mkdirSync(tree);
      const made = make(tree, make === daemon ? name : app);
      put(join(root, 'LICENSE'), join(tree, 'usr/share/doc', name, 'copyright'));
      run('chmod', ['-R', 'u+rwX,go+rX,go-w', tree]);
      use({ name, ...made }, tree, scratch);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
}

/** Everything below a folder, by path from there, in the order of the bytes. */
export function entriesOf(tree) {
  return readdirSync(tree, { recursive: true })
    .sort((one, other) => (one < other ? -1 : 1))
    .map((path) => ({ path, stat: lstatSync(join(tree, path)) }));
}

export const installedSize = (entries) =>
  entries.filter(({ stat }) => stat.isFile()).reduce((sum, { stat }) => sum + stat.size, 0);
