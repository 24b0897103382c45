// The doctor's checks of this machine: a master, a minion, or both, according to configuration and processes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadMasterConfig, loadMinionConfig, type MasterOpts, type MinionOpts } from '../../../base/config/index.ts';
import { fingerprint } from '../../../base/crypto/index.ts';
import { messageOf } from '../../../base/errors/index.ts';
import { placesOf } from '../../../engine/python/find.ts';
import { examineCluster } from './cluster.ts';
import { examineConfiguration, examineRoots } from './configuration.ts';
import { type Finding, Findings } from './finding.ts';
import { examineDisk, examinePrivateKey } from './folders.ts';
import { examineMasters, probePort } from './masters.ts';
import { examineLock, examineSpool } from './minion-state.ts';
import { examineProcesses } from './processes.ts';
import { examineRights } from './rights.ts';
import { examineTrees } from './trees.ts';

const has = (configDir: string, role: string): boolean =>
  existsSync(join(configDir, role)) || existsSync(join(configDir, `${role}.d`));

export interface MachineReport {
  readonly findings: Finding[];
  /** Whether a master is configured here and running. */
  readonly masterRuns: boolean;
  readonly roles: readonly string[];
}

export async function examineMachine(configDir: string): Promise<MachineReport> {
  const findings: Finding[] = [];
  let masterRuns = false;
  const roles = ['master', 'minion'].filter((role) => has(configDir, role));
  for (const role of roles) {
    const own = new Findings(role);
    try {
      if (role === 'master') masterRuns = await examineMaster(own, configDir);
      else await examineMinion(own, configDir);
    } catch (error) {
      own.problem(`The configuration cannot be used: ${messageOf(error)}`, `correct ${join(configDir, role)}`);
    }
    findings.push(...own.list);
  }
  return { findings, masterRuns, roles };
}

async function examineMaster(findings: Findings, configDir: string): Promise<boolean> {
  const loaded = loadMasterConfig({ configDir });
  const { opts } = loaded;
  examineConfiguration(findings, loaded);
  for (const name of ['file_roots', 'pillar_roots']) examineRoots(findings, name, loaded.given[name] ?? null);
  examineTrees(findings, [opts.raw['file_roots'] ?? null, opts.raw['pillar_roots'] ?? null], placesOf(opts.raw));
  await examineRights(findings, opts);
  examineDisk(findings, opts.cachedir);
  examinePrivateKey(findings, join(opts.pki_dir, 'master.pem'), 'salt-master');
  await examineCluster(findings, loaded, configDir);
  const runs = examineProcesses(findings, 'salt-master', configDir);
  if (!runs) await examineFreePorts(findings, opts);
  return runs;
}

/** A master that is not running may be unable to start. */
async function examineFreePorts(findings: Findings, opts: MasterOpts): Promise<void> {
  const host = opts.interface === '0.0.0.0' || opts.interface === '::' ? '127.0.0.1' : opts.interface;
  for (const [name, port] of [
    ['publish_port', opts.publish_port],
    ['ret_port', opts.ret_port],
  ] as const) {
    if ((await probePort(host, port)) === undefined)
      findings.problem(
        `Another program has port ${port} (${name})`,
        `see which: ss -ltnp 'sport = :${port}'; end it, or change ${name}`,
      );
  }
}

async function examineMinion(findings: Findings, configDir: string): Promise<void> {
  const loaded = loadMinionConfig({ configDir });
  const { opts } = loaded;
  examineConfiguration(findings, loaded);
  examineDisk(findings, opts.cachedir);
  examinePrivateKey(findings, join(opts.pki_dir, 'minion.pem'), 'salt-minion');
  const runs = examineProcesses(findings, 'salt-minion', configDir);
  examineLock(findings, opts, runs);
  await examineMasters(findings, opts, join(configDir, 'minion'));
  examineTrust(findings, opts);
  await examineSpool(findings, opts);
}

/** A master key that is not the expected one is the most frequent problem after moving a master. */
function examineTrust(findings: Findings, opts: MinionOpts): void {
  const path = join(opts.pki_dir, 'minion_master.pub');
  if (!existsSync(path)) return;
  const print = fingerprint(readFileSync(path, 'utf8'));
  const wanted = opts.master_finger;
  if (wanted && wanted !== print)
    findings.problem(
      `The trusted key of the master (${print}) is not the one of master_finger (${wanted})`,
      `compare with the master's own: salt-key -F master; then rm ${path} or correct master_finger, and systemctl restart salt-minion`,
    );
  else findings.fine(`The trusted key of the master is ${print}`);
}
