// `halite doctor` on real daemons: reports nothing when all is well, and the repair for each problem.
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandResult, Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

interface Finding {
  readonly level: 'problem' | 'warning' | 'fine';
  readonly about: string;
  readonly what: string;
  readonly repair?: string;
}

let fleet: Deployment;
const command = (...args: string[]): Promise<CommandResult> => runProgram(join(halite.bin, 'halite'), args);

async function examined(configDir: string): Promise<{ findings: Finding[]; code: number | null }> {
  const { stdout, stderr, code } = await command('doctor', '-c', configDir, '--out=json');
  try {
    return { findings: JSON.parse(stdout) as Finding[], code };
  } catch {
    throw new Error(`no JSON: ${stdout}${stderr}`);
  }
}
const problems = ({ findings }: { findings: Finding[] }): string[] =>
  findings.filter(({ level }) => level !== 'fine').map(({ what, repair }) => `${what} → ${repair}`);

function change(file: string, edit: (text: string) => string): void {
  writeFileSync(file, edit(readFileSync(file, 'utf8')));
}

beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  fleet.startMinion('m1', halite, `publish_port: ${fleet.ports.publish}`);
  await fleet.answering('m1');
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('the doctor', () => {
  it('finds nothing wrong with a master and a minion that work', async () => {
    for (const configDir of [fleet.masterConfigDir, fleet.path('m1/etc')]) {
      const result = await examined(configDir);
      expect(problems(result)).toEqual([]);
      expect(result.code).toBe(0);
      expect(result.findings.length).toBeGreaterThan(3);
    }
    const { stdout } = await command('doctor', '-c', fleet.masterConfigDir);
    expect(stdout).toMatch(/^fine {5}master: Every option of .*\n/);
    expect(stdout).toMatch(/\n0 problems, 0 warnings, \d+ fine\n$/);
  });

  it('says where rules mean something else than under Salt', async () => {
    const file = fleet.path('etc/master.d/rights.conf');
    writeFileSync(file, "external_auth: {pam: {'steve|ann': [cmd.run], fred: ['@runner']}}\n");
    const found = problems(await examined(fleet.masterConfigDir));
    rmSync(file);
    expect(found).toHaveLength(3);
    expect(found[0]).toMatch(/pam: steve\|ann: the name is a pattern/);
    expect(found[1]).toMatch(/cmd\.run means whole names, and in Salt also cmd\.run_/);
    expect(found[2]).toMatch(/pam: fred: @runner permits functions that act as the master/);
  });

  it('finds unknown options, keys others can read, and missing folders', async () => {
    const file = fleet.path('etc/master');
    const before = readFileSync(file, 'utf8');
    change(file, (text) =>
      `${text}\nkeep_job: 5\nfile_roots: {base: [${fleet.path('gone')}]}\n`.replace(/^file_roots: .*salt\]\}\n/m, ''),
    );
    chmodSync(fleet.path('etc/pki/master/master.pem'), 0o644);
    const result = await examined(fleet.masterConfigDir);
    writeFileSync(file, before);
    chmodSync(fleet.path('etc/pki/master/master.pem'), 0o400);
    expect(result.code).toBe(1);
    expect(problems(result)).toEqual([
      expect.stringMatching(/keep_job\b.* → write keep_jobs instead of keep_job in .*etc\/master/),
      `file_roots names ${fleet.path('gone')} for base, which does not exist → mkdir -p ${fleet.path('gone')}`,
      `Others can read the private key ${fleet.path('etc/pki/master/master.pem')} → chmod 400 ${fleet.path('etc/pki/master/master.pem')}`,
    ]);
  });

  it('finds a master that is listed twice with two names, and one that has no address', async () => {
    const configDir = fleet.path('twice/etc');
    mkdirSync(configDir, { recursive: true });
    cpSync(fleet.path('m1/etc/minion'), join(configDir, 'minion'));
    change(join(configDir, 'minion'), (text) =>
      text.replace('master: 127.0.0.1', 'master: [127.0.0.1, 127.0.0.1.nip.invalid, localhost]'),
    );
    const found = problems(await examined(configDir));
    expect(found).toContainEqual(expect.stringMatching(/^The masters 127\.0\.0\.1 and localhost are the same one/));
    expect(found).toContainEqual(expect.stringMatching(/^The master 127\.0\.0\.1\.nip\.invalid has no address/));
    expect(found).toContainEqual(expect.stringMatching(/^salt-minion does not run with the configuration in/));
  });

  it('finds two machines that use one id, and identifies them', async () => {
    cpSync(fleet.path('m1/pki'), fleet.path('copy/pki'), { recursive: true });
    fleet.configureMinion('copy');
    mkdirSync(fleet.path('copy/etc/minion.d'));
    writeFileSync(fleet.path('copy/etc/minion.d/id.conf'), 'id: m1\n');
    fleet.startMinion('copy');
    await eventually('the second connection', async () =>
      problems(await examined(fleet.masterConfigDir)).some((text) =>
        /1 minion \(m1\): several minions use this id/.test(text),
      ),
    );
    const [found] = problems(await examined(fleet.masterConfigDir));
    expect(found).toContain('salt-run manage.explain m1');
    await fleet.minion('copy').stop();
    await eventually('one again', async () => problems(await examined(fleet.masterConfigDir)).length === 0);
  });

  it('finds pending keys and disconnected minions', async () => {
    await fleet.minion('m1').stop();
    mkdirSync(fleet.path('etc/pki/master/minions_pre'), { recursive: true });
    cpSync(fleet.path('m1/pki/minion.pub'), fleet.path('etc/pki/master/minions_pre/new1'));
    await eventually('both', async () => {
      const found = problems(await examined(fleet.masterConfigDir)).join('\n');
      return (
        /new1\): the key waits for acceptance/.test(found) &&
        /\(m1\): its connection to the master was lost/.test(found)
      );
    });
    const { stdout, code } = await fleet.run('salt-run', ['doctor.fleet']);
    expect(stdout).toContain('systemctl restart salt-minion');
    expect(code).toBe(1);
  });

  it('works when the daemons are not running', async () => {
    await fleet.master.stop();
    const master = await examined(fleet.masterConfigDir);
    expect(problems(master)).toEqual([
      expect.stringMatching(/^salt-master does not run with the configuration in .* → salt-master -c/),
    ]);
    const minion = await examined(fleet.path('m1/etc'));
    expect(minion.code).toBe(1);
    expect(problems(minion)).toContainEqual(
      expect.stringContaining(
        `The master 127.0.0.1 cannot be reached at ${fleet.ports.requests} (master_port, where results go): nothing listens there`,
      ),
    );
  });

  it('reports what it needs when there is no configuration', async () => {
    const nothing = await command('doctor', '-c', fleet.path('nowhere'));
    expect([nothing.code, nothing.stderr]).toEqual([
      1,
      expect.stringContaining('There is neither a master nor a minion configuration in'),
    ]);
    const typo = await command('docter');
    expect([typo.code, typo.stderr]).toEqual([64, expect.stringContaining("Did you mean 'doctor'?")]);
  });
});
