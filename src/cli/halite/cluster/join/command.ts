// `halite cluster join`: this machine becomes a member of a cluster, by an invitation that a member made. It can be run again
// after whatever interrupted it: the identity of this machine stays, and members give the same answer again.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dictGet, isDict } from '../../../../base/codec/value.ts';
import { loadMasterConfig, type MasterOpts } from '../../../../base/config/index.ts';
import { giveTo, placeNew } from '../../../../base/crypto/key-files.ts';
import { HaliteError, messageOf } from '../../../../base/errors/index.ts';
import { identityFile, newIdentityPem, readIdentity } from '../../../../engine/cluster/identity.ts';
import { type Invitation, readInvitation } from '../../../../engine/cluster/joining/invitation.ts';
import { type ClusterOptions, readClusterOptions } from '../../../../engine/cluster/options.ts';
import { askHidden } from '../../../ask-hidden.ts';
import type { Terminal } from '../../../io.ts';
import { refuseRunningMaster } from '../../../moving/here.ts';
import { missing, place } from '../../../moving/place.ts';
import { placedText } from '../../../moving/report.ts';
import { askMembers } from './ask.ts';
import { keysFromElsewhere } from './keys.ts';
import { changesOf, joinPlan, planText } from './plan.ts';

export interface JoinWork {
  readonly configDir: string;
  readonly words: readonly string[];
  readonly dryRun: boolean;
  readonly io: Terminal;
  /** `ssh://…`, a folder, `nats`, or '' to find out. */
  readonly keysFrom: string;
  /** A configuration file for ssh, or ''. */
  readonly sshConfig: string;
}

const longestInput = 64 * 1024;

export async function joinCluster(work: JoinWork): Promise<void> {
  const { configDir, dryRun, io, words } = work;
  if (words.length > 1) throw new HaliteError('cli.usage', 'cluster join takes one invitation: put it into quotes');
  const invitation = readInvitation(await lineFrom(words[0], io));
  const { opts } = loadMasterConfig({ configDir });
  const options = optionsFor(invitation, opts, join(opts.pki_dir, 'cluster_ca.pem'));
  const member = String(opts.id).replace(/_master$/, '');
  const facts = { invitation, opts, configDir, member, hasOwn: options.own };
  if (dryRun) {
    io.out(`${planText(facts)}Nothing was changed, and nobody was asked: this is a dry run.\n`);
    return;
  }
  await refuseRunningMaster(opts, configDir, 'run halite cluster join');
  mkdirSync(opts.pki_dir, { recursive: true, mode: 0o700 });
  const scratch = join(opts.cachedir, 'moving', 'join');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  try {
    const own = join(opts.pki_dir, identityFile);
    if (await placeNew(own, newIdentityPem(), 0o400)) await giveTo(opts.user, [own]);
    const identity = readIdentity(own);
    const keys = await keysFromElsewhere({
      invitation,
      scratch,
      from: work.keysFrom,
      ssh: work.sshConfig,
      say: (text) => io.err(`${text}\n`),
    });
    const asked = {
      invitation,
      options: withCa(options.read, invitation, scratch),
      identity,
      member,
      wantsKeys: keys === undefined,
    };
    const handover = await askMembers(asked, (text) => io.err(`${text}\n`));
    const plan = joinPlan(facts, handover, keys?.files ?? handover.files);
    io.err(planText(facts, { handover, plan, keysFrom: keys?.name }));
    const changes = changesOf(plan, scratch, opts.user);
    const placed = await place(opts.cachedir, `join of cluster ${invitation.cluster}`, changes);
    const wrong = await missing(changes);
    if (wrong.length > 0)
      throw new HaliteError('call.failed', `${wrong[0]?.path} is not what it should be; run the command again`);
    io.out(placedText(placed));
    io.out(
      `This machine is ${member}, in slot ${handover.slot} of the cluster ${invitation.cluster} (${handover.members.join(', ')}).\n`,
    );
    io.out(
      `Next: copy files and pillar here, as you deploy them; start the master (systemctl start salt-master); then: salt-run cluster.status\n`,
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Never only on the command line: others see that, and shells remember it. */
async function lineFrom(word: string | undefined, io: Terminal): Promise<string> {
  if (word === undefined || word === '-') {
    if (process.stdin.isTTY) return askHidden('Invitation (salt-run cluster.invite on a member prints it): ', io);
    return firstLine(readFileSync(0, 'utf8').slice(0, longestInput));
  }
  if (word.startsWith('halite-join-')) return word;
  const stat = statSync(word, { throwIfNoEntry: false });
  if (!stat?.isFile()) return word;
  if ((stat.mode & 0o077) !== 0) {
    throw new HaliteError('config.value', `Others can read the invitation in ${word}`, { hint: `chmod 600 ${word}` });
  }
  return firstLine(readFileSync(word, 'utf8').slice(0, longestInput));
}

const firstLine = (text: string): string => text.trim().split(/\r?\n/, 1)[0] ?? '';

interface FoundOptions {
  readonly read: ClusterOptions;
  /** This machine has a block `cluster:` already, which stays. */
  readonly own: boolean;
}

/** How the nats-servers are reached: as this machine's own configuration says, or as the invitation does. */
function optionsFor(invitation: Invitation, opts: MasterOpts, caFile: string): FoundOptions {
  const own = readClusterOptions(opts.cluster);
  if (own && own.name !== invitation.cluster) {
    throw new HaliteError(
      'cluster.refused',
      `This machine belongs to the cluster ${own.name} already; the invitation is from ${invitation.cluster}`,
      {
        hint: 'To leave that one: remove `cluster:` from the master configuration, and run salt-run cluster.forget there.',
      },
    );
  }
  const { name, servers, insecure, ca } = { name: invitation.cluster, ...invitation };
  const block = new Map<string, unknown>([
    ['name', name],
    ['servers', servers],
    ['insecure', insecure],
  ]);
  if (ca !== undefined) block.set('ca', caFile);
  if (own) {
    const given = opts.cluster;
    for (const key of ['creds', 'nkey', 'cert', 'key', 'ca']) {
      const value = isDict(given) ? dictGet(given, key) : undefined;
      if (typeof value === 'string') block.set(key, value);
    }
  }
  try {
    const read = readClusterOptions(block);
    if (!read) throw new Error('it is empty');
    return { read: invitation.login ? { ...read, login: invitation.login } : read, own: own !== undefined };
  } catch (error) {
    throw new HaliteError('crypto.verify', `The invitation cannot be used: ${messageOf(error)}`);
  }
}

/** The certificate of the invitation, before it has its place. */
function withCa(options: ClusterOptions, { ca }: Invitation, scratch: string): ClusterOptions {
  if (ca === undefined || (options.tls.ca !== undefined && existsSync(options.tls.ca))) return options;
  const file = join(scratch, 'ca.pem');
  writeFileSync(file, ca, { mode: 0o600 });
  return { ...options, tls: { ...options.tls, ca: file } };
}
