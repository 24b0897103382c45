// Applies SLS of a formula in disposable systems, one for each implementation: under test, for real, and again.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DisposableSystem } from '../../support/disposable.ts';
import { sshInside } from '../../support/ssh-inside.ts';

const tools = fileURLToPath(new URL('../../test/tools/formulas', import.meta.url));

export interface StateResult {
  readonly result: boolean | null;
  readonly comment: string;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly [other: string]: unknown;
}
export type Results = Readonly<Record<string, StateResult>> | readonly string[];

export interface ApplyRequest {
  readonly saltCall: string;
  /** Folder with `minion` and the pillar it names. */
  readonly conf: string;
  /** Everything the run reads: file roots, pillar, the implementation itself. */
  readonly visible: readonly string[];
  readonly sls: readonly string[];
  /** Downloaded packages, for `apt-get` without a network. */
  readonly packages: string;
  /** By our salt-ssh, with the system as its target, instead of `saltCall`. */
  readonly overSsh?: boolean;
}

/** Downloads what `apt-get install` of these packages would; names nobody offers are left out. */
export function downloadPackages(names: readonly string[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  const have = new Set(readdirSync(folder));
  for (const name of names) {
    const listed = spawnSync('apt-get', ['install', '--print-uris', '-y', '-qq', name], { encoding: 'utf8' });
    for (const [, url = '', file = ''] of listed.stdout.matchAll(/^'([^']+)' (\S+)/gm)) {
      if (have.has(file)) continue;
      const got = spawnSync('curl', ['-fsS', '--max-time', '120', '-o', join(folder, file), url]);
      if (got.status === 0) have.add(file);
    }
  }
}

export async function applyThrice(request: ApplyRequest): Promise<readonly Results[]> {
  const system = await DisposableSystem.create(request.visible.filter((path) => existsSync(path)));
  try {
    const config = readFileSync(join(request.conf, 'minion'), 'utf8').replace(
      /^root_dir: .*$/m,
      'root_dir: /var/lib/applied\nsystemd.scope: False',
    );
    system.write({ '/etc/salt/minion': config });
    const script = readFileSync(join(tools, 'prepare-system.sh'), 'utf8');
    const ready = await system.run(['sh', '-s', join(tools, 'systemctl.sh'), request.packages], { input: script });
    if (ready.status !== 0) throw new Error(`the system could not be prepared: ${ready.stderr}`);
    const alone = [request.saltCall, '--local', '-c', '/etc/salt', '--out=json', '--log-level=quiet'];
    const id = /^id: "?([^"\n]+)/m.exec(config)?.[1] ?? 'local';
    const saltSsh = join(dirname(request.saltCall), 'salt-ssh');
    const how = { saltSsh, id, minionOpts: '{systemd.scope: False}' };
    const command = request.overSsh ? await sshInside(system, how) : alone;
    const runs: Results[] = [];
    for (const extra of [['test=True'], [], []]) {
      const words = [...command, 'state.apply', request.sls.join(','), ...extra];
      const done = await system.run(words, { timeoutMs: 400_000 });
      runs.push(parsed(done.stdout, done.stderr));
    }
    return runs;
  } finally {
    await system.destroy();
  }
}

function parsed(stdout: string, stderr: string): Results {
  const start = stdout.indexOf('{');
  if (start < 0) return [`${stderr}${stdout}`.trim()];
  // By the id of the minion, or `local`: there is one.
  const [answer = []] = Object.values(JSON.parse(stdout.slice(start)) as Record<string, Results>);
  return answer;
}
